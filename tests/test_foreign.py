"""Whatever a file or a text holds, it is read or refused with the package's own error, in one line."""

import io
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xassay import report, results, tables, texts
from xassay.circuits import Fault, bench, dxc
from xassay.errors import InputError
from xassay.explainers.registry import check_spec
from xassay.studies.check.given import explanation_file
from xassay.studies.check.requirements import Requirement
from xassay.studies.options import seconds
from xassay.tabular.files import read, read_frame

NAMES = st.sampled_from(["a", "b", "z1", "+x", "\x1b[31m", "é", "z" * 300]) | st.text(max_size=4)
BENCH = st.sampled_from(
    ["INPUT(", "OUTPUT(", ")", "\n", "\r", " = ", "NAND(", "not(", "DFF(", "VDD", ",", "#", "(", "=", " "]
)
SYS = st.sampled_from(["[", "]", ",", ".", "%", "\n", "nand2", "nand" + "9" * 5_000, "inverter", "xor٣", " "])
CSV = st.sampled_from(
    [",", "\n", "\r\n", '"', "nan", "1e999", "-", "9" * 400, "a", "y", "intercept", "\0", ";"]
)
OPTIONS = ["n_samples", "nsamples", "kernel_width", "categorical", "_package", "l1_reg", "engine", "native"]
SPECS = st.sampled_from(
    [*OPTIONS, "lime", "maple", "random", ":", "=", "9" * 5_000, "1e999", "nan", ".py", "/", "true", "-1"]
)
REQUIREMENTS = st.sampled_from(
    [
        "lime",
        ".",
        "fidelity",
        "causal_rmse",
        "@",
        ">=",
        "<",
        "0.1",
        "nan",
        "1e999",
        "9" * 5_000,
        " ",
        ",",
        "\n",
    ]
)
WHOLE = "a,b,y\n1,2,3\n4,5,6\n"
DATA = pl.DataFrame({"a": [1.0, 4.0], "b": [2.0, 5.0]})


def woven(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Texts of a language's own words and anything else."""
    return st.lists(parts | NAMES, max_size=25).map("".join) | st.text(max_size=60)


def read_or_refused(call: Callable[..., Any], *arguments: Any) -> None:
    try:
        call(*arguments)
    except InputError as error:
        said = texts.line(str(error))
    else:
        return
    assert said
    assert len(said.splitlines()) == 1


def from_file(content: bytes, name: str, call: Callable[[Path], Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(content)
        read_or_refused(call, path)


@given(woven(BENCH))
def test_any_bench_text(text: str) -> None:
    read_or_refused(bench.parse, text, "c")


@given(woven(SYS), st.booleans())
def test_any_sys_text(text: str, begun: bool) -> None:
    read_or_refused(dxc.parse, f"c. [a,b]. [z]. [{text}" if begun else text)


@given(woven(CSV).map(lambda text: text.encode(errors="surrogatepass")) | st.binary(max_size=80))
def test_any_csv_bytes(content: bytes) -> None:
    from_file(content, "t.csv", lambda path: read(path, "y"))
    from_file(WHOLE.encode() + content, "t.csv", lambda path: read(path, "y"))


@given(st.binary(max_size=80), st.booleans())
def test_any_bytes_named_parquet(content: bytes, marked: bool) -> None:
    # what has the marks of the format is tried in a process of its own, a few times a second
    from_file(content + (b"PAR1" if marked else b""), "t.parquet", read_frame)


@settings(max_examples=8 if settings.default.derandomize else settings.default.max_examples)
@given(st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 255)), min_size=1, max_size=6))
def test_any_damaged_parquet_file(changes: list[tuple[int, int]]) -> None:
    buffer = io.BytesIO()
    pl.DataFrame({"a": range(50), "b": ["x"] * 50}).write_parquet(buffer)
    content = bytearray(buffer.getvalue())
    for place, byte in changes:
        content[place % len(content)] = byte
    from_file(bytes(content), "t.parquet", read_frame)


@given(woven(CSV))
def test_any_attributions(text: str) -> None:
    content = text.encode(errors="surrogatepass")
    from_file(content, "t.csv", lambda path: explanation_file(str(path), DATA))
    from_file(b"a,b,intercept\n" + content, "t.csv", lambda path: explanation_file(str(path), DATA))


@given(woven(SPECS))
def test_any_explainer(text: str) -> None:
    read_or_refused(check_spec, text)
    read_or_refused(check_spec, f"lime:{text}")


@given(woven(REQUIREMENTS))
def test_any_requirement(text: str) -> None:
    read_or_refused(Requirement.parse, text, ["lime"])
    read_or_refused(Requirement.parse, f"lime.fidelity{text}", ["lime"])


@given(woven(st.sampled_from(["z4", ":", "stuck1", "or", "negate"])))
def test_any_fault(text: str) -> None:
    read_or_refused(Fault.parse, text)


@given(woven(st.sampled_from(["1", ".", "s", "m", "h", "9" * 5_000, "٣", "e", "-"])))
def test_any_time(text: str) -> None:
    read_or_refused(seconds, "budget", text)


ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
SETTINGS = {
    "crem": [
        "profile",
        "sample",
        "truth",
        "seed",
        "ties",
        "background",
        "detector",
        "circuits",
        "explainers",
    ],
    "maple": ["profile", "sample", "trials", "seed", "target"],
    "check": ["kind", "rows", "seed", "explainers", "measures", "sigma", "class_", "link", "max_background"],
}


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with tables of a run, of no rows."""
    folder = tmp_path_factory.mktemp("run")
    results.write_parquet(results.frame([], results.RESULTS), folder / "results.parquet")
    results.write_parquet(results.frame([], results.TESTS), folder / "tests.parquet")
    return folder


@given(st.data(), st.sampled_from(sorted(SETTINGS)))
def test_any_plan(stored: Path, data: st.DataObject, study: str) -> None:
    asked = {name: data.draw(ODD, label=name) for name in SETTINGS[study]}
    plan = {"study": study, "settings": asked, **data.draw(st.dictionaries(NAMES, ODD, max_size=2))}
    plan |= {
        name: data.draw(ODD, label=name) for name in data.draw(st.sets(st.sampled_from([*plan, "notices"])))
    }
    (stored / "plan.json").write_text(json.dumps(plan))
    read_or_refused(report.load, stored)


@given(st.text(max_size=60) | st.binary(max_size=60))
def test_any_json(content: str | bytes) -> None:
    raw = content if isinstance(content, bytes) else content.encode(errors="surrogatepass")
    from_file(raw, "plan.json", results.read_plan)


def test_the_examples_reach_what_they_are_for(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(WHOLE)
    assert read(tmp_path / "t.csv", "y").X.shape == (2, 2)
    DATA.write_parquet(tmp_path / "t.parquet")
    assert tables.read_parquet(tmp_path / "t.parquet").equals(DATA)
    assert explanation_file(str(tmp_path / "t.parquet"), DATA)[0].equals(DATA)
