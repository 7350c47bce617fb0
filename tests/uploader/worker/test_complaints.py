"""One warning for each kind and time, and sums of the rest."""

from uploader.worker.complaints import Complaints


def test_the_first_is_said_at_once_and_the_rest_in_sum() -> None:
    complaints = Complaints(period_s=60)
    assert complaints.note("drop", 1, "dropped", 0) == "1 record dropped"
    assert [complaints.note("drop", 2, "dropped", second) for second in range(1, 50)] == [None] * 49
    assert list(complaints.due(59.9)) == []
    assert list(complaints.due(60)) == ["98 more records dropped"]
    assert list(complaints.due(119)) == []


def test_after_a_quiet_time_it_is_said_at_once_again() -> None:
    complaints = Complaints(period_s=60)
    complaints.note("drop", 1, "dropped", 0)
    assert list(complaints.due(60)) == []
    assert complaints.note("drop", 3, "dropped", 61) == "3 records dropped"


def test_kinds_are_apart() -> None:
    complaints = Complaints()
    assert complaints.note("a", 1, "dropped", 0)
    assert complaints.note("b", 1, "set aside", 0)


def test_at_the_end_nothing_is_left_unsaid() -> None:
    complaints = Complaints(period_s=60)
    complaints.note("a", 1, "dropped", 0)
    complaints.note("a", 1, "dropped", 1)
    assert list(complaints.due(2, all_of_them=True)) == ["1 more record dropped"]
    assert list(complaints.due(3, all_of_them=True)) == []
