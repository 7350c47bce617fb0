"""Every example of the README and of the documentation runs as it is printed."""

from pathlib import Path

import pytest

from tests.docs.markdown import page_name, pages
from tests.docs.running import has_examples, run_page

THEN = {
    "README.md": """
assert stored == body == again.to_json()
assert [receipt.status for receipt in receipts] == ["committed"]
assert taken
assert report.is_complete
""",
}
"""What must be true behind a page's examples."""


@pytest.mark.parametrize("page", [each for each in pages() if has_examples(each)], ids=page_name)
def test_they_run(page: Path, tmp_path: Path) -> None:
    run_page(page, tmp_path, THEN.get(page_name(page), ""))
