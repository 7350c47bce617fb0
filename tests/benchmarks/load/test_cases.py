import pytest

from benchmarks.load.cases import NETWORKS, PARTS, Case, all_cases


def names(cases: list[Case]) -> list[str]:
    return [case.name for case in cases]


def test_only_uploading_alone_goes_through_all_networks() -> None:
    assert names(all_cases([10], list(PARTS), NETWORKS)) == [
        "upload, none, 10",
        "upload, shaped, 10",
        "upload, stalled, 10",
        "upload, transport, 10",
        "file, 10",
        "wandb, 10",
        "both, none, 10",
        "all, none, 10",
        "plain, none, 10",
    ]


def test_other_monitors_that_upload_take_the_first_network_that_leads_to_a_receiver() -> None:
    found = all_cases([10], ["both", "plain", "file"], ["transport", "shaped"])
    assert names(found) == ["both, shaped, 10", "plain, shaped, 10", "file, 10"]
    assert names(all_cases([10], ["all"], ["transport"])) == ["all, none, 10"]


def test_by_default_the_large_number_is_for_what_has_bounds() -> None:
    found = all_cases(None, list(PARTS), NETWORKS)
    assert names([case for case in found if case.episodes == 1000]) == [
        "upload, none, 1,000",
        "upload, transport, 1,000",
        "file, 1,000",
        "both, none, 1,000",
    ]
    assert len([case for case in found if case.episodes == 100]) == 9


def test_the_plain_way_gets_what_it_survives_and_only_once() -> None:
    found = all_cases([40, 1000, 10_000], ["plain"], ["none"], 3)
    assert [(case.episodes, case.run) for case in found] == [(40, 1), (100, 1)]


def test_runs_take_turns() -> None:
    found = all_cases([10, 20], ["file"], ["none"], 2)
    assert [(case.episodes, case.run) for case in found] == [(10, 1), (20, 1), (10, 2), (20, 2)]


def test_a_soak_comes_last() -> None:
    found = all_cases([10], ["file"], ["none"], 1, 90.0)
    assert names(found) == ["file, 10", "soak, 1.5 min"]
    assert names(all_cases(None, [], NETWORKS, 1, 60.0)) == ["soak, 1 min"]


@pytest.mark.parametrize(
    ("case", "parts", "has_receiver"),
    [
        (Case("upload", "none", 1), ("upload",), True),
        (Case("upload", "transport", 1), ("upload",), False),
        (Case("file", None, 1), ("file",), False),
        (Case("all", "stalled", 1), ("upload", "file", "wandb"), True),
    ],
)
def test_what_a_case_needs(case: Case, parts: tuple[str, ...], has_receiver: bool) -> None:
    assert case.parts == parts
    assert case.has_receiver is has_receiver


def test_another_scale_is_named() -> None:
    found = all_cases([5], ["file"], ["none"], soak_s=60.0, scale=0.25)
    assert names(found) == ["file, 5, × 0.25", "soak, 1 min, × 0.25"]


def test_what_takes_longer_is_expected_to() -> None:
    few, many = Case("upload", "none", 100), Case("upload", "none", 1000)
    small = Case("upload", "none", 10_000)
    assert few.expected_s < many.expected_s < small.expected_s < 10 * many.expected_s
    assert Case("upload", "none", 0, soak_s=600.0).expected_s > 600.0


def test_files_need_more_room_than_uploads() -> None:
    assert Case("upload", "none", 1000).disk_bytes == pytest.approx(4e9, rel=0.1)
    assert Case("file", None, 10_000).disk_bytes == pytest.approx(22e9, rel=0.1)
    assert Case("wandb", None, 1000).disk_bytes == 0.0
    assert Case("upload", "none", 0, soak_s=1200.0).disk_bytes == pytest.approx(30e9)
