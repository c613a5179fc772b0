"""What the documents tell a reader to type works."""

import re
import shlex
from pathlib import Path

import polars as pl
import pytest

import xassay
from xassay import circuits, cli, runner, tabular
from xassay.errors import XassayError
from xassay.studies.check.measures import measures

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(page, language):
    return re.findall(rf"```{language}\n(.*?)```", page.read_text("utf-8"), re.DOTALL)


COMMANDS = sorted(
    {
        line.partition("#")[0].strip()
        for page in PAGES
        for block in blocks(page, "sh")
        for line in block.splitlines()
        if line.startswith("xassay ")
    }
)


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with the files that the examples name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    circuits.write(circuits.load("74182"), "my.bench")
    pages = [ROOT / "docs" / "explainers.md", ROOT / "docs" / "maple.md"]
    mine = [b for page in pages for b in blocks(page, "python") if "# my_explainer.py" in b]
    assert len(mine) == len(pages)
    Path("my_explainer.py").write_text("\n".join(mine))
    Path("my_model.py").write_text("from sklearn.linear_model import LinearRegression as make")
    table = tabular.load("diabetes")
    columns = dict(zip(table.columns, table.X.T, strict=True))
    pl.DataFrame({**columns, "price": table.y}).write_csv("my.csv")
    pl.DataFrame(columns).write_parquet("phi.parquet")
    Path("my_scoring.py").write_text("def predict(table):\n    return table['bmi'] + 2 * table['bp']\n")
    return tmp_path


def test_the_documents_show_commands():
    assert len(COMMANDS) >= 7


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_are_accepted(command, place, monkeypatch, capsys):
    def stop(*_args, **_options):
        raise XassayError("planned")

    monkeypatch.setattr(runner, "run", stop)
    monkeypatch.setattr(tabular, "fetch", Path)
    if "housing" in command and not tabular.is_here("housing"):
        pytest.skip("the UCI tables are not on this machine")
    code = cli.run(shlex.split(command)[1:])
    assert code == 0 or capsys.readouterr().err.endswith("xassay: error: planned\n")


def test_the_readme_example_scores_a_users_explainer(place):
    (example,) = [b for b in blocks(ROOT / "README.md", "python") if "run_crem" in b]
    names: dict = {}
    exec(example.replace("])", "], sample=3)"), names)  # noqa: S102 - our own document
    found = names["run"].scores.filter(level="circuit", metric="map")
    assert found["value"].null_count() == 0
    assert set(found["explainer"]) == {"kernel_shap", "lime", "my_explainer.py:explain"}


TUTORIALS = {
    block.partition("\n")[0].removeprefix("# "): block
    for block in blocks(ROOT / "docs" / "check.md", "python")
}


@pytest.mark.parametrize("title", TUTORIALS)
def test_tutorials_come_to_a_verdict(title, place):
    code = TUTORIALS[title]
    assert len([line for line in code.splitlines() if line and "import" not in line]) < 10
    names: dict = {}
    quick = code.replace('"lime"', '"lime:n_samples=500"').replace(
        '"permutation_shap"', '"permutation_shap:npermutations=2"'
    )
    exec(re.sub(r"rows=\d+", "rows=10", quick), names)  # noqa: S102 - our own document
    found = names["found"]
    assert "permutation_shap" in found.verdict[0]
    assert not found.failures
    assert found.save("kept").exists()


def test_the_page_of_the_check_names_every_measure():
    text = (ROOT / "docs" / "check.md").read_text("utf-8")
    for one in measures().values():
        (line,) = [line for line in text.splitlines() if line.startswith(f"| `{one.name}` |")]
        assert line.endswith(f"| {one.summary} |")
        for metric in (*one.shown, *one.of_the_model):
            assert f"`{metric}`" in line


def test_there_are_three_tutorials():
    assert len(TUTORIALS) == 3


def test_the_readme_check_says_which_explainer_to_trust(place):
    (example,) = [b for b in blocks(ROOT / "README.md", "python") if "xassay.check" in b]
    table = tabular.load("diabetes")
    names = {"model": lambda rows: rows[:, 2], "X": table.X}
    exec(example.replace("X)", 'X, rows=12, explainers="permutation_shap")'), names)  # noqa: S102
    assert names["found"].verdict[0].startswith("Use permutation_shap")


def test_the_circuit_examples_run(place):
    (example,) = blocks(ROOT / "docs" / "circuits.md", "python")
    names: dict = {}
    exec(example, names)  # noqa: S102 - our own document
    assert names["c"].name == "my"


def test_the_tangent_explains_a_smooth_model_well(place):
    done = xassay.run_maple(
        experiment="blackbox",
        datasets="diabetes",
        explainers="my_explainer.py:explain_linear",
        sample=5,
        trials=1,
    )
    found = done.scores.filter(level="dataset", metric="causal_skill", sigma=0.1)
    assert found["value"].item() > 0.7


def test_the_pattern_examples_run(place):
    (example,) = [b for b in blocks(ROOT / "docs" / "maple.md", "python") if "exemplars" in b]
    names: dict = {}
    exec(example, names)  # noqa: S102 - our own document
    assert names["m"].n_features_kept_ >= 1


def test_links_lead_somewhere():
    for page in PAGES:
        for link in re.findall(r"\]\(([^)#]+)\)", page.read_text("utf-8")):
            assert "://" in link or (page.parent / link).exists(), f"{page.name}: {link}"


def test_the_native_examples_run(place):
    (example,) = [b for b in blocks(ROOT / "docs" / "explainers.md", "python") if "shapley_values" in b]
    names: dict = {}
    exec(example, names)  # noqa: S102 - our own document
    assert names["e"].explain(names["rows"][:3]).values.shape == (3, 5)


def test_the_laws_on_the_page_of_explainers_hold_of_its_own_example(place, capsys):
    (example,) = [b for b in blocks(ROOT / "docs" / "explainers.md", "python") if "# laws of" in b]
    exec(example, {})  # noqa: S102 - our own document
    told = capsys.readouterr().out
    assert "'seed_matters': 'held'" in told
    assert "broken" not in told
