from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xassay import explainers, specs
from xassay.errors import InputError, UnknownNameError
from xassay.explainers import registry
from xassay.types import FloatArray


def total(rows: FloatArray) -> FloatArray:
    return rows.sum(axis=1)


@pytest.fixture
def plug_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "outside_explainers.py").write_text(
        "def constant(predict, background, X, *, value=4.0):\n    return X * 0 + value\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    targets = {
        "zeta": "outside_explainers:constant",
        "alpha": "outside_explainers:constant",
        "random": "outside_explainers:constant",
        "lost": "outside_explainers:nothing",
    }
    points = [EntryPoint(name, value, registry.ENTRY_POINTS) for name, value in targets.items()]
    monkeypatch.setattr(registry, "_entry_points", lambda: points)


@pytest.mark.parametrize("name", explainers.available())
def test_a_record_says_what_its_explainer_is(name: str) -> None:
    record = explainers.record(name)
    assert record.name == name
    assert record.engine in {"shap", "lime", "shapiq", "native", "user"}
    assert record.version.startswith(record.engine)
    assert record.cost(7, 19) > 0


@pytest.mark.parametrize(
    ("name", "published"),
    [
        ("kernel_shap", "Kernel SHAP"),
        ("sampling_shap", "Sampling SHAP"),
        ("lime", "LIME"),
        ("single_flip", None),
        ("random", None),
    ],
)
def test_published_methods_carry_their_published_name(name: str, published: str | None) -> None:
    assert explainers.record(name).published == published


@pytest.mark.parametrize(
    ("spec", "name", "options"),
    [
        ("lime", "lime", {}),
        ("lime:", "lime", {}),
        ("kernel_shap:nsamples=2000:l1_reg=none", "kernel_shap", {"nsamples": 2000, "l1_reg": "none"}),
        ("kernel_shap:l1_reg=aic", "kernel_shap", {"l1_reg": "aic"}),
        ("lime: kernel_width = 0.5", "lime", {"kernel_width": 0.5}),
        ("x:a=1e3:b=-2:c=True:d=FALSE:e=", "x", {"a": 1000.0, "b": -2, "c": True, "d": False, "e": ""}),
        ("x:a=b=c", "x", {"a": "b=c"}),
        ("mine.py:explain", "mine.py:explain", {}),
        ("dir/my.py:explain:k=3:mode=fast", "dir/my.py:explain", {"k": 3, "mode": "fast"}),
        ("C:/dir/my.py:explain:k=3", "C:/dir/my.py:explain", {"k": 3}),
    ],
)
def test_a_spec_is_a_name_and_options(spec: str, name: str, options: dict[str, Any]) -> None:
    found = specs.split_options(spec)
    assert found == (name, options)
    assert [type(value) for value in found[1].values()] == [type(value) for value in options.values()]


@pytest.mark.parametrize("spec", ["lime:5000", "lime:=5000", "mine.py:explain:fast"])
def test_a_part_that_is_no_option_is_refused(spec: str) -> None:
    with pytest.raises(InputError, match="expected option=value"):
        specs.split_options(spec)


def test_options_in_the_name_reach_the_explainer_and_keywords_win() -> None:
    spec, background = "lime:n_samples=30:rounding=nearest", np.eye(2)
    explainer: Any = explainers.make(spec, predict=total, background=background, n_samples=40)
    assert (explainer.n_samples, explainer.rounding) == (40, "nearest")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("kernelshap", "unknown explainer 'kernelshap': did you mean 'kernel_shap'"),
        ("xyz", "unknown explainer 'xyz': known: .*lime"),
        ("kernel_shap:nsample=3", "option of explainer kernel_shap 'nsample': did you mean 'nsamples'"),
        ("random:seed=3", "option of explainer random 'seed': known: none"),
    ],
)
def test_an_unknown_name_or_option_is_refused_with_what_is_known(spec: str, message: str) -> None:
    with pytest.raises(UnknownNameError, match=message):
        registry.check_spec(spec)


@pytest.mark.parametrize("spec", ["kernel_shap:nsamples=0", "lime:treatment=x", "lime_continuous:rounding=x"])
def test_a_spec_is_refused_where_making_it_would_be(spec: str) -> None:
    for check in (
        registry.check_spec,
        lambda wrong: explainers.make(wrong, predict=total, background=np.eye(2)),
    ):
        with pytest.raises(InputError, match="must be"):
            check(spec)


@pytest.mark.parametrize("spec", ["lime", "lime:n_samples=3", "kernel_shap:nsamples=auto:l1_reg=none"])
def test_a_good_spec_passes(spec: str) -> None:
    registry.check_spec(spec)


def test_the_seed_cannot_be_given_as_an_option() -> None:
    with pytest.raises(UnknownNameError, match="'seed'"):
        explainers.make("lime:seed=3", predict=total, background=np.eye(2))


@pytest.mark.usefixtures("plug_in")
def test_plug_ins_stand_after_the_built_in_ones_which_they_cannot_replace() -> None:
    names = explainers.available()
    assert names[-3:] == ("alpha", "lost", "zeta")
    assert names.count("random") == 1
    assert explainers.record("random").engine == "native"


@pytest.mark.usefixtures("plug_in")
@pytest.mark.parametrize(("spec", "value"), [("zeta", 4.0), ("alpha:value=7", 7.0)])
def test_a_plug_in_explains(spec: str, value: float) -> None:
    record = explainers.record(spec)
    assert (record.name, record.engine) == (spec.partition(":")[0], "user")
    found = explainers.make(spec, predict=total, background=np.eye(2)).explain(np.eye(2))
    np.testing.assert_array_equal(found.values, np.full((2, 2), value))


@pytest.mark.usefixtures("plug_in")
def test_a_plug_in_that_cannot_be_imported_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="explainer 'lost' of outside_explainers:nothing: AttributeError"):
        explainers.record("lost")


@pytest.mark.usefixtures("plug_in")
def test_an_unknown_name_may_be_close_to_a_plug_in() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'zeta'"):
        explainers.record("zetta")


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("kernel_shap", {"nsamples": True}, "nsamples"),
        ("kernel_shap", {"l1_reg": "num_features(35"}, "l1_reg"),
        ("kernel_shap", {"l1_reg": "num_features(0)"}, "l1_reg"),
        ("sampling_shap", {"nsamples": 5}, r"under two a feature \(6\)"),
        ("lime", {"n_samples": 1}, "at least 2"),
        ("random", {"seed": "a"}, "seed must be a whole number"),
        ("random", {"seed": 1.5}, "seed must be a whole number"),
    ],
)
def test_options_that_cannot_work_are_refused_at_once(name: str, options: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        registry.make(name, predict=lambda rows: rows[:, 0], background=np.eye(3), **options)


def test_an_options_value_may_look_like_a_file() -> None:
    assert specs.split_options("a.py:f:model=b.py:g=1") == ("a.py:f", {"model": "b.py", "g": 1})
