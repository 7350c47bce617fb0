"""Stream an episode while it grows, and put it together where it is needed.

An environment server has an episode that grows; an orchestrator elsewhere wants to see it grow, and to have it when it
is complete, without sending all of it at the end:

>>> encoder = DeltaEncoder(episode)         # in the server
>>> line = encoder.encode()                 # what is new, as one JSON line; again and again
>>> assembly = EpisodeAssembly(run=run)     # in the orchestrator
>>> assembly.feed(line)
>>> assembly.to_json()                      # the bytes of `episode.to_json()`, with the run in it

The first delta of a trace is its header: version, id, producer, task and run, which a server leaves to the orchestrator
(`run` is null). Later ones have the nodes, calls and errors that came since, fields that changed, and a preview of
messages that no node holds yet. How a line is laid out says `encoder.delta.lines`.
"""

from encoder.delta.assembling import EpisodeAssembly
from encoder.delta.dividing import DeltaLines
from encoder.delta.encoding import DeltaEncoder
from encoder.delta.lines import DeltaInfo
from encoder.delta.reading import peek
from encoder.delta.views import AssembledTrace
from encoder.errors import (
    DamagedRecordError,
    DeltaError,
    DeltaStateError,
    DeltaVersionError,
    ForeignDeltaError,
    LostDeltaError,
    MalformedDeltaError,
)

__all__ = [
    "AssembledTrace",
    "DamagedRecordError",
    "DeltaEncoder",
    "DeltaError",
    "DeltaInfo",
    "DeltaLines",
    "DeltaStateError",
    "DeltaVersionError",
    "EpisodeAssembly",
    "ForeignDeltaError",
    "LostDeltaError",
    "MalformedDeltaError",
    "peek",
]
