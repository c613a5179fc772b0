"""Detectors that learned, on circuits whose anomalies are known."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from xassay import circuits
from xassay.errors import InputError, UnknownNameError
from xassay.models.learned_detectors import AutoencoderDetector, make_detector
from xassay.types import FloatArray

C17 = circuits.load("c17")
NORMAL = circuits.TruthTable(C17).rows().astype(float)


def altered(gate: str) -> tuple[FloatArray, FloatArray]:
    """The altered table, and which outputs are wrong."""
    bad = circuits.negate(C17, gate)
    rows = circuits.TruthTable(bad).rows().astype(float)
    return rows, circuits.differences(C17, bad)


@pytest.fixture(scope="module")
def autoencoder() -> AutoencoderDetector:
    return AutoencoderDetector().fit(NORMAL, n_outputs=2)


def test_an_autoencoder_reproduces_normal_rows_and_not_altered_ones(autoencoder: AutoencoderDetector) -> None:
    rows, wrong = altered("z4")
    anomalous = rows[wrong.any(axis=1)]
    assert np.abs(autoencoder.predict(NORMAL) - NORMAL).mean() < 0.15
    both = np.concatenate([autoencoder.decision_function(NORMAL), autoencoder.decision_function(anomalous)])
    assert roc_auc_score([0] * len(NORMAL) + [1] * len(anomalous), both) > 0.85


def test_its_decision_is_the_sum_of_squared_errors(autoencoder: AutoencoderDetector) -> None:
    expected = [
        sum((a - b) ** 2 for a, b in zip(x, y, strict=True))
        for x, y in zip(autoencoder.predict(NORMAL), NORMAL, strict=True)
    ]
    np.testing.assert_allclose(autoencoder.decision_function(NORMAL), expected)
    assert np.mean(autoencoder.decision_function(NORMAL) > autoencoder.threshold_) <= 0.07


def test_the_output_with_the_largest_error_is_explained(autoencoder: AutoencoderDetector) -> None:
    rows, wrong = altered("z4")
    pointed = autoencoder.explained_outputs(rows)
    assert (pointed.sum(axis=1) == 1).all()
    errors = np.abs(autoencoder.predict(rows) - rows)[:, -2:]
    assert (errors[pointed] == errors.max(axis=1)).all()
    anomalous = wrong.any(axis=1)
    assert (pointed & wrong)[anomalous].any(axis=1).mean() > 0.7


def test_its_output_function_is_its_reconstruction(autoencoder: AutoencoderDetector) -> None:
    found = autoencoder.output_function(np.array([1, 0]))(NORMAL)
    np.testing.assert_array_equal(found, autoencoder.predict(NORMAL)[:, [6, 5]])


def test_the_seed_decides_what_it_learns() -> None:
    first, again, other = (
        AutoencoderDetector(max_iter=20, seed=k).fit(NORMAL, n_outputs=2) for k in (0, 0, 1)
    )
    np.testing.assert_array_equal(first.predict(NORMAL), again.predict(NORMAL))
    assert not np.array_equal(first.predict(NORMAL), other.predict(NORMAL))


@pytest.mark.parametrize("name", ["IForest", "ECOD", "KNN"])
def test_pyod_scores_rise_with_the_anomaly(name: str) -> None:
    pytest.importorskip("pyod", reason="pyod is not installed")
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 4))
    detector = make_detector(f"pyod:{name}").fit(rows, n_outputs=2)
    far = np.full((5, 4), 8.0)
    assert detector.decision_function(far).min() > np.quantile(detector.decision_function(rows), 0.95)
    assert detector.explained_outputs(far).all()
    once = detector.decision_function(far)
    np.testing.assert_array_equal(
        detector.output_function(np.array([0, 1]))(far), np.stack([once, once], axis=1)
    )


def test_pyod_leaves_numpys_state_alone() -> None:
    pytest.importorskip("pyod", reason="pyod is not installed")
    before = np.random.get_state()[1].copy()
    make_detector("pyod:IForest:n_estimators=5").fit(NORMAL, n_outputs=2).decision_function(NORMAL)
    np.testing.assert_array_equal(np.random.get_state()[1], before)


@pytest.mark.parametrize(
    ("spec", "error", "message"),
    [
        ("autoencodr", UnknownNameError, "did you mean 'autoencoder'"),
        ("autoencoder:depth=3", UnknownNameError, "unknown option of detector autoencoder 'depth'"),
        ("pyod", UnknownNameError, "unknown detector 'pyod'"),
        ("pyod:IForst", UnknownNameError, "did you mean 'IForest'"),
    ],
)
def test_detectors_that_cannot_be_had_are_refused(spec: str, error: type[Exception], message: str) -> None:
    if spec.startswith("pyod:"):
        pytest.importorskip("pyod", reason="pyod is not installed")
    with pytest.raises(error, match=message):
        make_detector(spec)


@pytest.mark.parametrize(("option", "value"), [("bottleneck", 0), ("width", 1.5), ("max_iter", -1)])
def test_sizes_that_are_none_are_refused(option: str, value: float) -> None:
    with pytest.raises(InputError, match=f"autoencoder: {option} must be a whole number"):
        make_detector(f"autoencoder:{option}={value}").fit(NORMAL, n_outputs=2)
