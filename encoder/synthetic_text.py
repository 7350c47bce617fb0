"""Text for synthetic episodes: long pools of prose in many scripts, of code, and of tool output.

A message is a slice of a pool, which costs next to nothing. The pools are made once, from a fixed seed.
"""

import functools
import random
import re
from collections.abc import Callable
from typing import Final, NamedTuple

POOL_CHARS: Final = 200_000
"""The length of each pool, in characters."""

_WORDS: Final = re.findall(
    r"\w+",
    "the of and to in a is that for it as with be on by this are or from at which but have an not "
    "we can then when each value model token reward function returns error because check result step "
    "first second number list sum total think answer problem equation solve find compute test file",
)

_OTHER_SCRIPTS: Final = (
    "这道题需要先求出总数，再除以三。",
    "モデルは次の手順を考えています。",
    "Сначала проверим, что файл существует. ",
    "النتيجة النهائية هي اثنان وأربعون. ",
    "पहले हम समीकरण को हल करते हैं। ",
    "Größe über Straße, naïve façade, señal. ",
    "한 단계씩 생각해 봅시다. ",
    "✅ 👩🏽‍💻 🎉 → ∑ ≤ ∞ ",
)

_CODE: Final = (
    "def solve(values: list[int]) -> int:\n    return sum(value for value in values if value % {n} == 0)\n\n",
    'for index, row in enumerate(rows):\n\tif row["id"] == {n}:\n\t\tprint(f"{{index}}: {{row!r}}")\n',
    "assert solve([1, 2, {n}]) == {n}, 'off by one?'\n",
    "SELECT id, name FROM users WHERE age > {n} AND name LIKE '%a\\_b%';\n",
    '{{"path": "src/app_{n}.py", "lines": [1, {n}], "flags": {{"dry_run": true}}}}\n',
    "grep -rn \"TODO\" src/ | awk -F: '{{print $1}}' | sort | uniq -c | head -{n}\n",
)

_OUTPUT: Final = (
    "\x1b[32mPASSED\x1b[0m tests/test_app.py::test_case[{n}]\n",
    "\x1b[31mFAILED\x1b[0m tests/test_io.py::test_case[{n}] - AssertionError: assert '\\n' == \"\\t\"\n",
    "-rw-r--r--  1 root root  {n} Jan  1 00:00 C:\\temp\\file_{n}.txt\n",
    "Traceback (most recent call last):\n  File \"/app/main.py\", line {n}, in <module>\nKeyError: '{n}'\n",
    "<div class=\"row\" data-id='{n}'>&amp; more</div>\r\n",
    "{n}\t{n}.5\tnull\ttrue\n",
)


class Pools(NamedTuple):
    """The texts that messages are cut from, each of `POOL_CHARS` characters."""

    prose: str
    code: str
    output: str


@functools.cache
def pools() -> Pools:
    """Return the pools; made on first use, in some tens of milliseconds."""
    chance = random.Random(0)
    return Pools(
        prose=_filled(lambda: _sentence(chance)),
        code=_filled(lambda: chance.choice(_CODE).format(n=chance.randrange(1000))),
        output=_filled(lambda: chance.choice(_OUTPUT).format(n=chance.randrange(100_000))),
    )


def cut(pool: str, start: int, size: int) -> str:
    """Return `size` characters of a pool from any `start` on, as if the pool went on forever."""
    start %= len(pool)
    text = pool[start : start + size]
    missing = size - len(text)
    return text + (pool * (missing // len(pool) + 1))[:missing] if missing > 0 else text


def _sentence(chance: random.Random) -> str:
    if chance.random() < 0.1:
        return chance.choice(_OTHER_SCRIPTS)
    words = " ".join(chance.choices(_WORDS, k=chance.randrange(6, 20)))
    return words.capitalize() + chance.choice((". ", ", ", "? ", ".\n\n"))


def _filled(make: Callable[[], str]) -> str:
    parts: list[str] = []
    missing = POOL_CHARS
    while missing > 0:
        parts.append(make())
        missing -= len(parts[-1])
    return "".join(parts)[:POOL_CHARS]
