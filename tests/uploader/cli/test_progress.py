import io

from rich.console import Console

from uploader.cli.progress import PlainLines, Tally, progress_line, upload_progress
from uploader.cli.steps import Steps, bar_line


def test_the_tally_in_words() -> None:
    tally = Tally(total_bytes=100_000_000, done_bytes=25_000_000, batches=3, retries=1)
    assert progress_line(tally, 5.0) == ("25.0 of 100.0 MB (25 %), 5.0 MB/s, 3 batches, 1 retry, 15 s left")
    assert "time left unknown" in progress_line(Tally(total_bytes=1), 0.0)
    tally = Tally(total_bytes=20_000, done_bytes=500, batches=1)
    assert progress_line(tally, 0.5) == "0.5 of 20.0 KB (2 %), 1.0 KB/s, 1 batch, 0 retries, 20 s left"
    assert "(100 %)" in progress_line(Tally(total_bytes=0), 1.0)


def test_plain_lines_where_there_is_no_terminal() -> None:
    file = io.StringIO()
    tally = Tally(total_bytes=2_000_000)
    with upload_progress(Console(file=file, width=80), tally) as progress:
        assert isinstance(progress, PlainLines)
        tally.done_bytes, tally.batches = 1_000_000, 1
        progress.advanced("file")
        progress.noted("a retry " * 20)
    lines = file.getvalue().splitlines()
    assert lines[0].startswith("file: 1.0 of 2.0 MB (50 %)")
    assert lines[1] == "a retry " * 20


def test_a_bar_on_a_terminal() -> None:
    file = io.StringIO()
    tally = Tally(total_bytes=2_000_000_000)
    with upload_progress(Console(file=file, width=80, force_terminal=True), tally) as progress:
        tally.done_bytes, tally.batches, tally.retries = 1_000_000_000, 35, 2
        progress.noted("a retry")
        progress.advanced("a name that is too long for a bar.jsonl")
    shown = file.getvalue()
    for text in ("1.0/2.0 GB", "35 batches", "2 retries", "a retry", "…"):
        assert text in shown


def test_steps_on_a_terminal_and_elsewhere() -> None:
    for is_terminal in (True, False):
        file = io.StringIO()
        steps = Steps(Console(file=file, force_terminal=is_terminal))
        for label, done in (("first", 1), ("second", 1), ("first", 2), ("second", 1)):
            steps.show(label, done, 2)
        steps.end()
        steps.end()
        if is_terminal:
            bars = [bar_line(*bar) for bar in (("first", 1, 2), ("second", 1, 2), ("first", 2, 2), ("second", 1, 2))]
            assert file.getvalue() == "\r{}\r{}\r{}\n\r{}\n".format(*bars)
        else:
            assert file.getvalue() == "first: 2 of 2\n"


def test_a_bar_keeps_its_width() -> None:
    assert {len(bar_line("label", done, 1000)) for done in range(1001)} == {len(bar_line("label", 0, 1000))}
