"""`uploader quickstart`: the whole way of an episode on this machine, measured and checked."""

from pathlib import Path
from typing import Annotated, Final

import typer

from uploader.cli.exits import Exit, exit_for
from uploader.cli.output import counted, messages, report_error, report_missing, results
from uploader.cli.steps import Steps
from uploader.cli.tables import trial_table
from uploader.errors import UploaderError

_EPISODES: Final = 60
_SEED: Final = 0


def quickstart(
    chats: Annotated[
        Path | None,
        typer.Option(help="A file of chats to take instead of synthetic episodes.", exists=True, dir_okay=False),
    ] = None,
    episodes: Annotated[
        int | None,
        typer.Option(min=1, help="How many synthetic episodes, of 2 to 10 MB each.", show_default=str(_EPISODES)),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="What the synthetic episodes derive from.", show_default=str(_SEED))
    ] = None,
) -> None:
    """Encode, upload, read back and compare episodes, with a receiver on this machine.

    A heartbeat on the event loop measures how long it stalls: the plain way, and ours.
    """
    for option, value in (("--episodes", episodes), ("--seed", seed)):
        if chats is not None and value is not None:
            report_error(
                f"{option} is about synthetic episodes, so it does not apply to --chats: leave one of them out"
            )
            raise typer.Exit(Exit.USAGE)
    try:
        from uploader.cli.trial_run import run_trial
        from uploader.receiver import ReceiverStartError, create_app  # noqa: F401 - does the extra's import work?
    except ModuleNotFoundError as error:
        report_missing(error, "receiver")
        raise typer.Exit(Exit.USAGE) from None
    steps = Steps(messages())
    try:
        result, refused = run_trial(chats, episodes or _EPISODES, seed or _SEED, steps)
    except KeyboardInterrupt:
        steps.end()
        report_error("interrupted")
        raise typer.Exit(Exit.INTERRUPTED) from None
    except ReceiverStartError as error:
        report_error(str(error))
        raise typer.Exit(Exit.UNREACHABLE) from None
    except (UploaderError, OSError) as error:
        steps.end()
        report_error(str(error))
        raise typer.Exit(exit_for(error)) from None
    results().print(trial_table(result))
    for kind, ids in (("missing", result.missing), ("different", result.different)):
        for episode_id in ids:
            report_error(f"{kind}: episode {episode_id}")
    if refused:
        report_error(f"{counted(refused, 'chat')} refused and set aside")
    raise typer.Exit(Exit.DONE if result.is_good and not refused else Exit.REFUSED)
