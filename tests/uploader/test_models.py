import pytest
from pydantic import ValidationError

from uploader.models import Batch, LineFormat, RunListPage, TraceSummary, UploadReceipt


def test_a_batch_knows_its_key() -> None:
    assert Batch("ab" * 32, 1, 1, 2).idempotency_key == "sha256:" + "ab" * 32


def test_line_formats_are_their_names() -> None:
    assert [str(one) for one in LineFormat] == ["trace", "episode"]
    assert LineFormat("episode") is LineFormat.EPISODE


def test_what_the_service_adds_later_is_kept() -> None:
    receipt = UploadReceipt.model_validate_json('{"upload_id": "d", "status": "committed", "shard": 3}')
    assert receipt.shard == 3  # type: ignore[attr-defined]
    assert receipt.model_dump()["shard"] == 3


def test_what_the_service_always_sends_is_required() -> None:
    with pytest.raises(ValidationError):
        TraceSummary.model_validate({"trace_id": "t"})
    with pytest.raises(ValidationError):
        RunListPage.model_validate({"next_cursor": None})
