"""The pictures of the documentation: files that need nothing else, drawn of the figures that are kept with them."""

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from benchmarks import docs_plots
from benchmarks.docs_plots import FOLDER, MEASURED, PICTURES, drawn, main, measured_in
from benchmarks.load.cases import Case
from benchmarks.load.measurement import Results
from benchmarks.pictures import picture
from benchmarks.scales import Linear
from benchmarks.svg import Mark, row_chart
from tests.benchmarks.load.made_up import made_up_results, measured
from tests.benchmarks.made_up import made_up_output

FILES = {f"{kind}.svg" for kind in PICTURES}


def test_they_are_what_the_kept_figures_give() -> None:
    for name, text in drawn(json.loads((FOLDER / MEASURED).read_bytes())):
        assert (FOLDER / name).read_text(encoding="utf-8") == text, "draw them anew: tox -e docs"


def test_each_is_a_file_of_its_own() -> None:
    found = dict(drawn(measured_in(made_up_output()) | measured_in(made_up_results().to_dict())))
    assert found.keys() == FILES
    for text in found.values():
        root = ElementTree.fromstring(text)
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert len(root.findall("{*}svg")) >= 1
        assert not re.search(r"href|url\(|@import|<script", text)
        assert set(re.findall(r"var\(--([a-z-]+)\)", text)) <= {*re.findall(r"--([a-z-]+):", text)}


def test_drawings_stand_side_by_side_and_below() -> None:
    drawings = [row_chart(name, [("a row", [Mark("bar", 1.0, "way-plain", "1")])], Linear(2.0), "x") for name in "abc"]
    root = ElementTree.fromstring(picture("Three & a key", drawings, [("plain", "way-plain")], "today"))
    places = [(float(each.attrib["x"]), float(each.attrib["y"])) for each in root.findall("{*}svg")]
    assert places[0][0] == places[2][0] < places[1][0]
    assert places[0][1] == places[1][1] < places[2][1]
    assert root.findtext("{*}title") == "Three & a key"
    assert {"plain", "today"} <= {each.text for each in root.findall("{*}text")}
    with pytest.raises(ValueError, match="no drawing"):
        picture("title", ["<p>"])


def test_a_run_replaces_what_it_measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(docs_plots, "FOLDER", tmp_path / "plots")
    output = made_up_output()
    (tmp_path / "run.json").write_text(json.dumps(output))
    (tmp_path / "load.json").write_text(json.dumps(made_up_results().to_dict()))
    main([str(tmp_path / "run.json"), str(tmp_path / "load.json")])
    kept = json.loads((tmp_path / "plots" / MEASURED).read_bytes())
    assert kept.keys() == PICTURES.keys()
    assert {path.name for path in (tmp_path / "plots").iterdir()} == {MEASURED, *FILES}

    output["benchmarks"] = [item for item in output["benchmarks"] if item["extra_info"]["kind"] == "cpu"][:1]
    (tmp_path / "run.json").write_text(json.dumps(output))
    main([str(tmp_path / "run.json")])
    again = json.loads((tmp_path / "plots" / MEASURED).read_bytes())
    assert len(again["cpu"]["benchmarks"]) == 1
    assert again | {"cpu": None} == kept | {"cpu": None}


def test_of_the_load_test_the_plain_way_and_what_is_comparable() -> None:
    values = made_up_results().to_dict()
    cases = [each["case"] for each in measured_in(values)["load"]["measurements"]]
    assert {(case["monitors"], case["network"]) for case in cases} == {
        ("upload", "none"),
        ("file", None),
        ("wandb", None),
        ("both", "none"),
        ("all", "none"),
        ("plain", "none"),
    }
    assert {case["episodes"] for case in cases} == {100}


def names_drawn(values: dict[str, Any]) -> list[tuple[str, int, str | None]]:
    """What the picture shows: the monitors, how many episodes, over which network."""
    cases = [each["case"] for each in measured_in(values)["load"]["measurements"]]
    return [(case["monitors"], case["episodes"], case["network"]) for case in cases]


def load_values(*cases: Case) -> dict[str, Any]:
    """Results of some cases, as the load test keeps them."""
    return Results([measured(case) for case in cases], "a machine", "2026-01-02T03:04:05+00:00").to_dict()


def test_without_the_plain_way_what_has_bounds() -> None:
    values = made_up_results().to_dict()
    values["measurements"] = [each for each in values["measurements"] if each["case"]["monitors"] != "plain"]
    assert names_drawn(values) == [("upload", 1000, "none"), ("file", 1000, None), ("both", 1000, "none")]
    few = load_values(Case("upload", "shaped", 10_000), Case("file", None, 2000), Case("upload", "transport", 2000))
    assert names_drawn(few) == [("file", 2000, None), ("upload", 2000, "transport")]


@pytest.mark.parametrize(
    "cases",
    [
        [Case("file", None, 5)],
        [Case("upload", "transport", 1000), Case("upload", "transport", 1000, run=2)],
        [Case("plain", "none", 100)],
        [Case("both", "none", 1000, is_receiver_idle=True), Case("file", None, 1000)],
    ],
)
def test_a_few_measurements_are_enough(cases: list[Case]) -> None:
    ((name, text),) = drawn(measured_in(load_values(*cases)))
    assert name == "load.svg"
    assert len(ElementTree.fromstring(text).findall("{*}svg")) == 6
    assert ("nobody else wants" in text) == any(case.is_receiver_idle for case in cases)
    assert ("beside the plain way" in text) == any(case.monitors == "plain" for case in cases)


def test_of_what_failed_and_of_a_soak_there_is_no_picture(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(docs_plots, "FOLDER", tmp_path / "plots")
    values = load_values(Case("upload", "none", 0, soak_s=60.0))
    values["measurements"].append({**values["measurements"][0], "found": {}, "problem": "it ended with 1"})
    (tmp_path / "load.json").write_text(json.dumps(values))
    main([str(tmp_path / "load.json")])
    assert {path.name for path in (tmp_path / "plots").iterdir()} == {MEASURED}
    assert "load.json: there is nothing in it to draw" in capsys.readouterr().err


def test_long_series_are_thinned() -> None:
    values = made_up_results().to_dict()
    for each in values["measurements"]:
        if each["found"]:
            long = [float(number) for number in range(1001)]
            each["found"]["series"] = dict.fromkeys(each["found"]["series"], long) | {"lag_worst_ms": long[::-1]}
    (first, *_) = measured_in(values)["load"]["measurements"]
    series = first["found"]["series"]
    assert series["seconds"][:2] == [5.0, 11.0]
    assert series["lag_worst_ms"][:2] == [1000.0, 994.0]
    assert series["done"][-1] == 1000.0
    assert len(series["done"]) == len(series["lag_worst_ms"]) <= 200
