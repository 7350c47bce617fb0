"""What is read of a Markdown page."""

import pytest

from tests.docs.markdown import Block, fenced_blocks, headings, links

PAGE = """\
# A page: `one` & two
See [this](other.md#part "title") and ![a picture](plots/a.svg), not `[that](code.md)`.

```python
x = "# no heading, [no](link)"
~~~
```

- in a list

  ~~~~console run
    $ a
  ~~~
  ~~~~

## Twice
## Twice ##
```
```
"""


def test_blocks() -> None:
    assert fenced_blocks(PAGE) == [
        Block("python", (), 5, 'x = "# no heading, [no](link)"\n~~~\n'),
        Block("console", ("run",), 12, "  $ a\n~~~\n"),
        Block("", (), 19, ""),
    ]
    with pytest.raises(ValueError, match="line 2 is not closed"):
        fenced_blocks("\n```\nx\n")


def test_headings_and_links() -> None:
    assert headings(PAGE) == ["a-page-one--two", "twice", "twice-1"]
    assert links(PAGE) == ["other.md#part", "plots/a.svg"]
