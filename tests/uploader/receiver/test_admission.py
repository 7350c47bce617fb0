"""Slots are counted, and given back whatever happens."""

import pickle

import pytest

from uploader.receiver.admission import Admission
from uploader.receiver.errors import RequestRefusedError


def test_slots() -> None:
    admission = Admission(2, retry_after_s=5)
    with admission.slot():
        with admission.slot(), pytest.raises(RequestRefusedError) as caught, admission.slot():
            pass
        assert (caught.value.status, caught.value.code, caught.value.retry_after_s) == (
            503,
            "ingest_capacity_exceeded",
            5,
        )
        with pytest.raises(KeyError), admission.slot():
            raise KeyError
        assert admission.in_flight == 1
    assert (admission.in_flight, admission.most_in_flight, admission.refused) == (0, 2, 1)


def test_refusals_can_be_pickled() -> None:
    error = RequestRefusedError("trace_too_large", "Line 1 is too long.", 3)
    again = pickle.loads(pickle.dumps(error))
    assert (again.code, again.message, again.retry_after_s, str(again)) == (error.code, error.message, 3, str(error))
