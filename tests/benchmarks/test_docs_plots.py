"""The pictures of the documentation: files that need nothing else, drawn of the figures that are kept with them."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks import docs_plots
from benchmarks.docs_plots import FOLDER, MEASURED, PICTURES, drawn, main, measured_in
from benchmarks.pictures import picture
from benchmarks.scales import Linear
from benchmarks.svg import Mark, row_chart
from tests.benchmarks.load.made_up import made_up_results
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
    values["measurements"] = [each for each in values["measurements"] if each["case"]["monitors"] != "plain"]
    assert measured_in(values) == {}


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
