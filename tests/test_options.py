"""An option stands once: its text with the settings, its default likewise; documents name no other."""

import inspect
import re
from pathlib import Path
from typing import Any

import attrs
import pytest
from cyclopts import Parameter

from xassay import cli
from xassay.cli import check, circuits, options, studies
from xassay.cli.options import attributes
from xassay.studies.check import CheckSettings
from xassay.studies.check.files import Files
from xassay.studies.check.settings import MEASURES
from xassay.studies.crem import CremSettings
from xassay.studies.maple import MapleSettings

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PLACES = {
    CremSettings: "studies/crem/settings.py:CremSettings",
    MapleSettings: "studies/maple/settings.py:MapleSettings",
    CheckSettings: "studies/check/settings.py:CheckSettings",
    Files: "studies/check/files.py:Files",
}
COMMANDS = {
    "run crem": (studies.crem, (CremSettings,)),
    "run maple": (studies.maple, (MapleSettings,)),
    "check": (check.check, (CheckSettings, Files)),
    "circuits export": (circuits.export, (CremSettings,)),
}
OF_RUNS = {
    "jobs": options.Jobs,
    "cluster": options.Cluster,
    "memory": options.Memory,
    "out": options.Out,
    "quiet": options.Quiet,
}
"""Options of every study, with their texts."""
OF_ONE_COMMAND = {
    "run crem": {"all"},
    "run maple": set(),
    "check": {"require"},
    "circuits export": {"out", "noise", "layout"},
}
"""Options with a text of their own."""
DEFAULTS = {"sample", "explainers", "measures", "timeout"}
"""Of these the command line's default is another one, or is told in words."""


def text_of(kind: Any) -> str | None:
    texts = [one.help for one in getattr(kind, "__metadata__", ()) if isinstance(one, Parameter) and one.help]
    assert len(texts) <= 1
    return texts[0] if texts else None


def written(default: Any) -> Any:
    """A default as the command line has it."""
    if isinstance(default, tuple):
        return ",".join(one if isinstance(one, str) else f"{one:g}" for one in default) or None
    return inspect.Parameter.empty if default is attrs.NOTHING else default


@pytest.mark.parametrize("settings", PLACES)
def test_every_field_has_a_text_and_every_text_a_field(settings):
    texts = attributes(PLACES[settings])
    assert list(texts) == [field.name for field in attrs.fields(settings)]
    assert all(re.fullmatch(r"\S.*[^.]\.", text) for text in texts.values())
    assert not any("``" in text or "  " in text for text in texts.values())


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_has_the_text_of_its_setting(name):
    command, settings = COMMANDS[name]
    texts = {field: text for one in settings for field, text in attributes(PLACES[one]).items()}
    texts |= {option: text_of(kind) for option, kind in OF_RUNS.items()}
    for option, kind in command.__annotations__.items():
        if option == "return":
            continue
        assert text_of(kind)
        assert (text_of(kind) == texts.get(option)) == (option not in OF_ONE_COMMAND[name]), option


@pytest.mark.parametrize("name", ["run crem", "run maple", "check"])
def test_a_command_offers_every_field_with_its_default(name):
    command, settings = COMMANDS[name]
    offered = inspect.signature(command).parameters
    fields = {field.name: field.default for one in settings for field in attrs.fields(one)}
    fields.pop("functions", None)  # of Python alone
    assert set(offered) == {*fields, *OF_RUNS, *OF_ONE_COMMAND[name]}
    for option, default in fields.items():
        if option not in DEFAULTS:
            assert offered[option].default == written(default), option


def test_defaults_that_are_told_in_words_are_those():
    texts = attributes(PLACES[CheckSettings])
    defaults = re.split(r", | and ", texts["explainers"].partition("Default: ")[2].partition(";")[0])
    assert tuple(defaults) == CheckSettings().explainers
    assert all(measure in texts["measures"] for measure in MEASURES)
    assert set(MEASURES) - set(CheckSettings().measures) == {"randomisation"}
    assert texts["measures"].endswith("Default: all but randomisation.")
    assert f"Default: {CremSettings().sample}." in attributes(PLACES[CremSettings])["sample"]


def test_help_shows_the_texts(capsys):
    assert cli.run(["check", "--help"]) == 0
    shown = " ".join(re.sub("[│╭╮╰╯─]", "", capsys.readouterr().out).split())
    for text in (attributes(PLACES[CheckSettings])["budget"], attributes(PLACES[Files])["frame"]):
        assert text in shown
    assert text_of(options.Memory) in shown


def test_the_documents_name_options_that_there_are():
    names = {name for command, _ in COMMANDS.values() for name in command.__annotations__}
    known = {f"--{name.strip('_').replace('_', '-')}" for name in names} | {"--help"}
    for page in PAGES:
        for line in page.read_text("utf-8").splitlines():
            for code in re.findall(r"`+([^`]+)`+", line) + re.findall(r"^xassay .*", line):
                if code.startswith(("xassay", "--")):
                    named = set(re.findall(r"(?<!\S)--[a-z][a-z-]*", code))
                    assert named <= known, f"{page.name}: {named - known}"
