"""Encode RL episodes, and any pydantic model, to JSON without stalling the event loop.

>>> body = episode.to_json()            # orjson's bytes; the GIL is released every millisecond
>>> body = to_json(any_pydantic_model)  # the same for any model

`iter_json` yields the bytes in pieces, `aiter_json` does so on the event loop; `from_messages` makes an episode of a
chat. The record models are in `encoder.records`, all of them named here as well.
"""

from encoder import records
from encoder.chats import from_messages
from encoder.encode import aiter_json, iter_json, to_json
from encoder.errors import ChatError, EncodeError, EncoderError
from encoder.floats import float_cells
from encoder.gaps import record_gaps
from encoder.preparing import prepare
from encoder.records import *  # noqa: F403 - the models, by their own list of names

__all__ = ["ChatError", "EncodeError", "EncoderError"]
__all__ += ["aiter_json", "from_messages", "iter_json", "prepare", "record_gaps", "to_json"]
__all__ += records.__all__

# Importing is the time for what would make a first encoding late: 10 ms for the plans, 4 for the table of floats.
prepare(records.Episode, exclude_none=True)
prepare(records.Trace)
float_cells()
