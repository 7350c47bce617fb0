"""Draw line charts and bar charts as inline SVG, coloured by classes of the page's style sheet."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape

from benchmarks.scales import Linear, Scale

_LEFT, _RIGHT, _TOP, _BOTTOM = 46.0, 14.0, 26.0, 40.0
_ROW, _BAR = 22.0, 12.0
_LETTER = 6.4
"""The width of a letter of a row's name, more or less."""


def element(name: str, content: str = "", **attributes: object) -> str:
    """One element; `content` is markup, and attributes are named in Python's way (`class_`, `text_anchor`)."""
    pairs = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_text(value))}"' for key, value in attributes.items()
    )
    return f"<{name}{pairs}>{content}</{name}>"


def _text(value: object) -> str:
    return f"{value:.1f}" if isinstance(value, float) else str(value)


def _title(text: str) -> str:
    return element("title", escape(text))


def _drawing(width: float, height: float, parts: Iterable[str], label: str) -> str:
    box = f"0 0 {width:.0f} {height:.0f}"
    return element("svg", "".join(parts), viewBox=box, width=round(width), role="img", aria_label=label)


@dataclass(slots=True)
class Chart:
    """Lines and dots between two axes.

    Attributes:
        title: above it.
        x, y: the axes, and what they show.
    """

    title: str
    x: Scale
    y: Scale
    x_label: str
    y_label: str
    width: float = 340.0
    height: float = 270.0
    _parts: list[str] = field(default_factory=list)
    _limits: list[str] = field(default_factory=list)

    def line(self, points: Sequence[tuple[float, float]], class_: str, name: str, *, dots: bool = False) -> None:
        """Draw a line through points, with a dot that tells its value on each if wanted."""
        path = " ".join(f"{self._x(x):.1f},{self._y(y):.1f}" for x, y in points)
        self._parts.append(element("polyline", _title(name), points=path, class_=f"line {class_}"))
        for x, y in points if dots else ():
            note = _title(f"{name}: {y:.3g} at {x:g}")
            self._parts.append(element("circle", note, cx=self._x(x), cy=self._y(y), r=3.2, class_=f"dot {class_}"))

    def mark(self, x: float, name: str) -> None:
        """Draw a small mark at the bottom, which tells its name."""
        low = self.height - _BOTTOM
        place = {"x1": self._x(x), "x2": self._x(x), "y1": low - 9.0, "y2": low}
        self._limits.append(element("line", _title(f"{name} at {x:.0f}"), **place, class_="limit-mark"))

    def limit(self, points: Sequence[tuple[float, float]], text: str) -> None:
        """Draw a limit above all else as a dashed line, with its text at the last point."""
        path = " ".join(f"{self._x(x):.1f},{self._y(y):.1f}" for x, y in points)
        self._limits.append(element("polyline", _title(text), points=path, class_="limit"))
        x, y = points[-1]
        is_right = self._x(x) > self.width / 2
        anchor, shift = ("end", -4.0) if is_right else ("start", 4.0)
        place = {"x": self._x(x) + shift, "y": self._y(y) - 4.0, "text_anchor": anchor}
        self._limits.append(element("text", escape(text), **place, class_="limit-text"))

    def svg(self) -> str:
        """The whole drawing."""
        return _drawing(self.width, self.height, [*self._axes(), *self._parts, *self._limits], self.title)

    def _x(self, value: float) -> float:
        return _LEFT + self.x(value) * (self.width - _LEFT - _RIGHT)

    def _y(self, value: float) -> float:
        return self.height - _BOTTOM - self.y(value) * (self.height - _TOP - _BOTTOM)

    def _axes(self) -> Iterable[str]:
        left, right, bottom, top = _LEFT, self.width - _RIGHT, self.height - _BOTTOM, _TOP
        yield element("text", escape(self.title), x=left, y=15.0, class_="chart-title")
        for value, text in self.y.ticks():
            yield element("line", x1=left, x2=right, y1=self._y(value), y2=self._y(value), class_="grid")
            yield element("text", text, x=left - 6, y=self._y(value) + 4, text_anchor="end")
        for value, text in self.x.ticks():
            yield element("line", x1=self._x(value), x2=self._x(value), y1=top, y2=bottom, class_="grid")
            yield element("text", text, x=self._x(value), y=bottom + 15, text_anchor="middle")
        yield element("text", escape(self.x_label), x=(left + right) / 2, y=self.height - 6, text_anchor="middle")
        middle = (top + bottom) / 2
        turned = f"rotate(-90 11 {middle:.1f})"
        yield element("text", escape(self.y_label), x=11.0, y=middle, text_anchor="middle", transform=turned)


@dataclass(frozen=True, slots=True)
class Mark:
    """Something in a row of a row chart: a value, how it looks (`bar`, `dot` or `limit`), and what it says."""

    kind: str
    value: float
    class_: str
    text: str


def row_chart(
    title: str, rows: Sequence[tuple[str, Sequence[Mark]]], x: Scale, x_label: str, *, width: float = 520.0
) -> str:
    """Draw named rows of bars, dots and limits along one axis; bars show their text behind them."""
    height = _TOP + len(rows) * _ROW + _BOTTOM
    left = 14.0 + _LETTER * max(len(name) for name, _ in rows)
    room = width - left - (60.0 if isinstance(x, Linear) else _RIGHT)

    def at(value: float) -> float:
        return left + x(value) * room

    parts = [element("text", escape(title), x=0.0, y=15.0, class_="chart-title")]
    bottom = height - _BOTTOM
    for value, text in x.ticks():
        parts.append(element("line", x1=at(value), x2=at(value), y1=_TOP, y2=bottom, class_="grid"))
        anchor = "end" if at(value) > width - 20 else "middle"
        parts.append(element("text", text, x=at(value), y=bottom + 15, text_anchor=anchor))
    parts.append(element("text", escape(x_label), x=left + room / 2, y=height - 6, text_anchor="middle"))
    for number, (name, marks) in enumerate(rows):
        middle = _TOP + (number + 0.5) * _ROW
        parts.append(element("text", escape(name), x=left - 8, y=middle + 4, text_anchor="end", class_="row-name"))
        parts.extend(_mark(mark, left, at(mark.value), middle) for mark in marks)
        ends = sorted(at(mark.value) for mark in marks if mark.kind != "dot")
        for mark in marks:
            if mark.kind == "bar":
                beside = at(mark.value) + 6
                if ends[-1] < beside + _LETTER * len(mark.text):  # it would be written across the limit
                    beside = ends[-1] + 6
                parts.append(element("text", escape(mark.text), x=beside, y=middle + 4, class_="value"))
    return _drawing(width, height, parts, title)


def _mark(mark: Mark, left: float, end: float, middle: float) -> str:
    note = _title(mark.text)
    if mark.kind == "bar":
        place = {"x": left, "y": middle - _BAR / 2, "width": end - left, "height": _BAR}
        return element("rect", note, **place, rx=2, class_=f"bar {mark.class_}")
    if mark.kind == "limit":
        return element("line", note, x1=end, x2=end, y1=middle - 9, y2=middle + 9, class_="limit-mark")
    return element("circle", note, cx=end, cy=middle, r=4.2, class_=f"dot {mark.class_}")
