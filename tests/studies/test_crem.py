"""The CREM study: what its averages, intervals and figures mean."""

import itertools

import attrs
import numpy as np
import polars as pl
import pytest
from scipy import stats

from xassay import circuits, metrics, results, run_crem
from xassay.errors import InputError
from xassay.statistics import RowWeights, holm, ratio_of_intervals
from xassay.studies.crem import CremSettings, CremStudy, comparison, judging, scoring
from xassay.studies.crem import settings as crem_settings
from xassay.studies.crem import study as crem_study
from xassay.studies.crem.background import background_rows
from xassay.studies.crem.settings import versions

CHEAP = ("single_flip", "random")
WITHIN = "circuit, these versions"


def scores(run, **filters):
    return run.scores.filter(**filters)


def value_of(run, column, **filters):
    found = scores(run, **filters)[column].to_list()
    assert len(found) == 1
    return found[0]


def value(run, **filters):
    return value_of(run, "value", **filters)


def first_cells_rows(**settings):
    """What the first cell of a run stores, and its scores row by row."""
    study = CremStudy(CremSettings(**settings))
    stored = study.cells[0].run()
    return stored, judging.row_scores(study.cells[0], stored, study.settings)


def test_a_circuit_is_the_mean_of_its_versions_and_a_version_the_mean_of_its_pairs():
    run = run_crem(circuits=["c17"], explainers=["single_flip"], sample=None)
    by_version = scores(run, level="version", metric="mrr")
    assert value(run, level="circuit", metric="mrr") == pytest.approx(by_version["value"].mean())
    assert dict(by_version.select("fault", "n").iter_rows()) == {"z2": 36, "z3": 44, "z4": 20, "o2": 32}
    c = circuits.load("c17")
    bad, rows, pairs = circuits.negate(c, "z3"), circuits.input_rows(c), []
    for position, output in enumerate(c.outputs):
        wrong = np.flatnonzero(circuits.differences(c, bad)[:, position])
        flips = rows[wrong, None, :] ^ np.eye(5, dtype=bool)
        plain = circuits.simulate(c, rows[wrong])[:, position]
        changed = circuits.simulate(c, flips.reshape(-1, 5))[:, position].reshape(-1, 5) != plain[:, None]
        padding = np.zeros((len(wrong), 2))
        truth = circuits.ground_truth(bad, rows[wrong], output)
        pairs.append(
            metrics.average_precision(np.hstack([changed, padding]), np.hstack([truth, padding > 0]))
        )
    assert value(run, level="version", fault="z3", metric="map") == pytest.approx(
        np.concatenate(pairs).mean()
    )


@pytest.mark.parametrize(
    ("circuit", "pairs"),
    [
        ("74283", {"z2": 576, "z17": 272, "z18": 512, "o1": 512}),
        ("74182", {"z2": 344, "z7": 344, "z8": 360, "o5": 512}),
    ],
)
def test_every_anomalous_row_and_differing_output_is_explained(circuit, pairs):
    run = run_crem(circuits=[circuit], explainers=["random"], sample=None, repeats=1)
    found = scores(run, level="version", metric="mrr").select("fault", "n")
    assert dict(found.iter_rows()) == pairs


def test_noise_levels_show_the_same_inputs_and_ela_is_the_mean_over_versions():
    run = run_crem(circuits=["74182"], explainers=CHEAP, noise=(0, 2), sample=30)
    noisy = scores(run, level="version", metric="mr_precision", explainer="single_flip", noise=2.0)
    clean = scores(
        run, level="version", metric="mr_precision", explainer="single_flip", noise=0.0, background=0.6
    )
    expected = [
        (1 - a) / b for a, b in zip(noisy.sort("fault")["value"], clean.sort("fault")["value"], strict=True)
    ]
    assert value(run, level="circuit", metric="ela", explainer="single_flip") == pytest.approx(
        np.mean(expected)
    )
    study = CremStudy(CremSettings(circuits=["74182"], explainers=["random"], noise=(0, 2), sample=30))
    by_noise = {cell.noise: set(cell.run()["input_row"]) for cell in study.cells if str(cell.fault) == "z2"}
    assert by_noise[0.0] == by_noise[2.0]
    assert len(by_noise[0.0]) == 30


def test_a_sample_beyond_the_distinct_inputs_returns_to_them_with_other_noise():
    study = CremStudy(
        CremSettings(circuits=["c17"], faults=["z4"], explainers=["random"], noise=(2,), sample=50)
    )
    cell = next(cell for cell in study.cells if cell.noise == 2 and cell.repeat == 0)
    rows = cell.run().unique("row")
    assert len(rows) == 50
    assert rows["input_row"].n_unique() == 20


def test_noise_share_is_what_noise_columns_take_of_the_top_ranks():
    run = run_crem(circuits=["c17"], explainers=CHEAP, noise=(4,), sample=None, repeats=3)
    shares = dict(scores(run, level="circuit", metric="noise_share").select("explainer", "value").iter_rows())
    assert shares["random"] == pytest.approx(4 / 11, abs=0.03)
    assert shares["single_flip"] < shares["random"]


@pytest.mark.parametrize("kind", ["flip", "correlated"])
def test_flips_change_the_shown_row_and_not_the_truth(kind):
    settings = {"circuits": ["74182"], "explainers": ["single_flip"], "sample": 60, "background": 0.4}
    run = run_crem(noise=(0, 0.3), noise_kind=kind, **settings)
    assert value(run, level="circuit", metric="mrr", noise=0.0) > value(
        run, level="circuit", metric="mrr", noise=0.3
    )
    assert value(run, level="circuit", metric="ela") > 0
    assert scores(run, metric="noise_share").is_empty()
    calm = run_crem(noise=(0,), noise_kind=kind, **settings)
    assert value(calm, level="circuit", metric="mrr") == value(run, level="circuit", metric="mrr", noise=0.0)


def test_a_census_has_an_interval_from_seeds_and_an_exact_explainer_none():
    run = run_crem(circuits=["c17"], explainers=CHEAP, sample=None, repeats=4)
    exact = scores(run, level=WITHIN, metric="mrr", explainer="single_flip").row(0, named=True)
    drawn = scores(run, level=WITHIN, metric="mrr", explainer="random").row(0, named=True)
    assert exact["ci_low"] is None
    assert drawn["ci_low"] < drawn["value"] < drawn["ci_high"]
    once = run_crem(circuits=["c17"], explainers=["random"], sample=None, repeats=1)
    assert scores(once, metric="mrr").filter(pl.col("level") != "circuit")["ci_low"].is_null().all()


def test_the_circuits_interval_is_students_t_over_its_versions():
    run = run_crem(circuits=["c17"], explainers=["single_flip"], sample=None)
    versions = scores(run, level="version", metric="map")["value"].to_numpy()
    row = scores(run, level="circuit", metric="map").row(0, named=True)
    low, high = stats.t.interval(0.95, 3, versions.mean(), versions.std(ddof=1) / 2)
    assert (row["ci_low"], row["ci_high"]) == pytest.approx((low, min(high, 1)))
    assert versions.std() > 0.01


def test_the_two_rows_of_a_circuit_differ_in_their_intervals_alone():
    run = run_crem(circuits=["c17"], explainers=["random", "lime:n_samples=60"], noise=(0, 2), sample=6)
    one = ["level", "ci_low", "ci_high", "published", "published_source"]
    over, within = (
        scores(run, level=level).sort("explainer", "noise", "metric") for level in ("circuit", WITHIN)
    )
    assert len(over) > 10
    assert over.drop(one).equals(within.drop(one), null_equal=True)
    both = over.with_columns(inner_low=within["ci_low"], inner_high=within["ci_high"]).drop_nulls("inner_low")
    assert (both["ci_low"] <= both["inner_low"]).all()
    assert (both["ci_high"] >= both["inner_high"]).all()
    assert within["published"].is_null().all()


def test_one_version_says_nothing_of_the_circuit_and_keeps_its_own_interval():
    run = run_crem(circuits=["74283"], faults=["z17"], explainers=["random"], sample=20)
    assert scores(run, level="circuit")["ci_low"].is_null().all()
    own = scores(run, level="version", metric="mrr").row(0, named=True)
    kept = scores(run, level=WITHIN, metric="mrr").row(0, named=True)
    assert kept["ci_low"] == own["ci_low"] < own["ci_high"] == kept["ci_high"]


def test_versions_that_all_score_one_are_no_certainty_about_the_circuit():
    ones = [scoring.Mean(1.0, None, n=5)] * 4
    assert scoring.circuit_bounds("mrr", ones) == (pytest.approx((0.025**0.25, 1.0)), None)
    undefined = scoring.Mean(float("nan"), None, n=5)
    assert scoring.circuit_bounds("mrr", [*ones, undefined])[0] == pytest.approx((0.025**0.25, 1.0))
    assert scoring.circuit_bounds("ela", [scoring.Mean(0.0, None, n=5)] * 4) == (None, None)


def test_a_circuit_with_a_version_that_failed_has_no_interval():
    lost = scoring.Mean(None, reason="broken")
    found = [scoring.Mean(0.5, None, n=3), scoring.Mean(0.6, None, n=3), lost]
    assert scoring.circuit_bounds("mrr", found) == (None, None)


def test_the_interval_over_versions_holds_the_mean_over_all_negated_gates():
    """Of every seventh choice of four of the nineteen gates of 74182."""
    circuit = circuits.load("74182")
    run = run_crem(
        circuits=["74182"],
        faults=[gate.output for gate in circuit.gates],
        explainers=["exact_shapley"],
        sample=None,
    )
    every = scores(run, level="version", metric="map")["value"].to_numpy()
    assert len(every) == 19
    choices = [[scoring.Mean(v, None, 1) for v in four] for four in itertools.combinations(every, 4)]
    bounds = [scoring.circuit_bounds("map", chosen)[0] for chosen in choices[::7]]
    held = np.mean([low <= every.mean() <= high for low, high in bounds])
    assert 0.90 < held < 1


def test_a_sample_interval_holds_the_census_score():
    census = run_crem(circuits=["74283"], explainers=["single_flip"], sample=None)
    sampled = run_crem(circuits=["74283"], explainers=["single_flip"], sample=100)
    row = scores(sampled, level=WITHIN, metric="map").row(0, named=True)
    assert row["ci_low"] <= value(census, level="circuit", metric="map") <= row["ci_high"]


def test_published_figures_stand_only_beside_what_they_were_measured_on():
    run = run_crem(
        circuits=["c17"], explainers=["lime", "lime:n_samples=50"], background=(0.4, 0.6), sample=2
    )
    published = scores(run, level="circuit", metric="mrr").select("explainer", "background", "published")
    assert sorted(published.iter_rows(), key=str) == [
        ("lime", 0.4, None),
        ("lime", 0.6, 0.655),
        ("lime:n_samples=50", 0.4, None),
        ("lime:n_samples=50", 0.6, None),
    ]


@pytest.mark.parametrize(
    ("changes", "published"),
    [
        ({"faults": ["z3", "z2", "o2", "z4"]}, 0.655),
        ({"faults": ["z2", "z3", "z4"]}, None),
        ({"faults": ["z2", "z3", "z4", "o2", "z4:stuck1"]}, None),
        ({"truth": "model"}, None),
        ({"truth": "function"}, None),
        ({"noise_kind": "flip", "noise": (0, 0.1)}, 0.655),
    ],
    ids=str,
)
def test_a_published_figure_needs_the_same_faults_and_truth(changes, published):
    run = run_crem(circuits=["c17"], explainers=["lime"], background=0.6, sample=1, **changes)
    assert value_of(run, "published", level="circuit", metric="mrr", noise=0.0) == published


def test_the_order_of_faults_changes_no_byte(tmp_path):
    for name, faults in (("a", ["z2", "z3", "z4", "o2"]), ("b", ["o2", "z4", "z3", "z2"])):
        run_crem(circuits=["c17"], faults=faults, explainers=CHEAP, out=tmp_path / name)
    assert (tmp_path / "a/results.parquet").read_bytes() == (tmp_path / "b/results.parquet").read_bytes()


def test_versions_noise_levels_and_repeats_draw_apart():
    study = CremStudy(CremSettings(circuits=["c17"], explainers=["random"], noise=(0, 2), sample=5))
    found = {}
    for cell in study.cells:
        for row in cell.run().iter_rows(named=True):
            found.setdefault(tuple(row["values"][:2]), []).append((str(cell.fault), cell.noise))
    assert all(len(set(places)) == 1 for places in found.values())


def test_inputs_all_covered_with_noise_bits_drawn_speak_of_the_noise_and_not_of_inputs():
    run = run_crem(circuits=["c17"], explainers=["single_flip"], noise=(0, 4), sample=40)
    exact = scores(run, level=WITHIN, metric="mr_precision", noise=4.0).row(0, named=True)
    assert exact["ci_low"] is None
    flips = run_crem(
        circuits=["c17"], explainers=["single_flip"], noise=(0.2,), noise_kind="flip", sample=None
    )
    drawn = scores(flips, level=WITHIN, metric="mr_precision", noise=0.2).row(0, named=True)
    assert drawn["ci_low"] < drawn["value"] < drawn["ci_high"]


def test_an_exact_explainer_on_nearly_all_inputs_has_nearly_no_interval():
    run = run_crem(circuits=["74283"], faults=["z17"], explainers=["single_flip"], sample=268)
    row = scores(run, level="version", metric="mrr").row(0, named=True)
    assert 0 < row["ci_high"] - row["ci_low"] < 0.01


def test_the_truth_of_the_model_is_that_of_the_original_circuit():
    settings = {"circuits": ["c17"], "faults": ["z3"], "explainers": ["random"]}
    original = circuits.load("c17")
    stored, found = first_cells_rows(**settings, truth="model")
    _, altered = first_cells_rows(**settings)
    assert not found["map"].equals(altered["map"])
    for row, precision in zip(stored.iter_rows(named=True), found["map"], strict=True):
        bits = circuits.input_rows(original)[[row["input_row"]]]
        truth = np.hstack([circuits.ground_truth(original, bits, row["output"]), [[False] * 2]])
        assert precision == metrics.average_precision([row["values"]], truth)[0]


def test_the_truth_of_the_function_is_a_smallest_flip_of_the_original_output():
    settings = {"circuits": ["c17"], "faults": ["z3"], "explainers": ["exact_shapley"], "sample": None}
    stored, found = first_cells_rows(**settings, truth="function", engine="native")
    original = circuits.load("c17")

    def outputs(bits):
        return circuits.simulate(original, [bits])[0]

    for row in stored.with_columns(found["map"], found["mr_precision"]).iter_rows(named=True):
        bits, position = (
            circuits.input_rows(original)[row["input_row"]],
            original.outputs.index(row["output"]),
        )
        truth = np.zeros(7, dtype=bool)
        for size in range(1, 6):
            for flipped in itertools.combinations(range(5), size):
                moved = bits ^ np.isin(np.arange(5), flipped)
                truth[list(flipped)] |= outputs(moved)[position] != outputs(bits)[position]
            if truth.any():
                break
        assert row["map"] == metrics.average_precision([row["values"]], [truth])[0]
        assert row["mr_precision"] == metrics.r_precision([row["values"]], [truth])[0]


@pytest.mark.parametrize(
    ("circuit", "altered", "function"),
    [("c17", 0.791, 1.0), ("74182", 0.599, 0.976), ("74283", 0.756, 0.963)],
)
def test_exact_values_rank_the_smallest_flips_of_what_they_explain_first(circuit, altered, function):
    for truth, expected in (("altered", altered), ("function", function)):
        run = run_crem(circuits=[circuit], explainers=["exact_shapley"], sample=None, truth=truth)
        found = scores(run, level="circuit", metric="mr_precision").row(0, named=True)
        assert found["truth"] == truth
        assert found["value"] == pytest.approx(expected, abs=5e-4)


@pytest.mark.parametrize(("truth", "n"), [("altered", 0), ("model", 1), ("function", 1)])
def test_another_truth_than_the_published_one_has_a_notice(truth, n):
    study = CremStudy(CremSettings(circuits=["c17"], explainers=["single_flip"], truth=truth))
    assert [note.startswith(f"truth {truth}: ") for note in study.notices] == [True] * n


def test_what_no_table_computes_has_no_truth_of_the_function():
    with pytest.raises(InputError, match="truth function needs a detector"):
        CremSettings(truth="function", detector="autoencoder")
    assert CremSettings(truth="model", detector="autoencoder").truth == "model"


def test_a_row_without_a_truth_is_undefined_and_counted():
    run = run_crem(circuits=["c17"], faults=["o2:stuck1"], explainers=["single_flip"], sample=None)
    row = scores(run, level="circuit", metric="mrr").row(0, named=True)
    assert np.isnan(row["value"])
    assert row["n_undefined"] == row["n"] > 0
    assert row["status"] == "ok"


@pytest.mark.parametrize(("recipe", "size"), [("paper", 204), ("crem-code", 81)])
def test_backgrounds_follow_their_recipe_whatever_the_seed(recipe, size):
    rows = background_rows(512, 0.4, recipe)
    assert len(rows) == size
    if recipe == "paper":
        assert len(set(rows)) == size
        assert rows.max() > 204
    else:
        assert rows.max() < 204
    assert (rows == background_rows(512, 0.4, recipe)).all()


def test_the_public_code_profile_shows_lime_what_a_truncating_detector_sees():
    settings = {"circuits": ["74182"], "explainers": ["lime"], "sample": 12}
    ours = run_crem(**settings)
    theirs = run_crem(**settings, profile="crem-code")
    assert value(ours, level="circuit", metric="mr_precision") > 0.4
    assert value(theirs, level="circuit", metric="mr_precision") < 0.1


def test_the_paper_profile_never_ranks_the_first_feature():
    rules = CremSettings(profile="paper").rules
    assert rules.skip == (0,)
    assert not rules.rank_zeros
    assert CremSettings(profile="paper", ties="expected").rules.skip == ()


def test_kernel_shap_takes_the_package_default_on_c17_and_500_samples_elsewhere():
    settings = CremSettings()
    c17, other = circuits.load("c17"), circuits.load("74182")
    assert settings.explainer_options(c17, "kernel_shap") == {"nsamples": "auto", "l1_reg": "none"}
    assert settings.explainer_options(other, "kernel_shap") == {"nsamples": 500, "l1_reg": "none"}
    assert settings.explainer_options(other, "kernel_shap:nsamples=9")["nsamples"] == 9
    paper = CremSettings(profile="paper").explainer_options(other, "kernel_shap")
    assert paper == {"nsamples": 500, "l1_reg": "auto"}


@pytest.mark.parametrize(("profile", "nsamples"), [("xassay", "auto"), ("paper", "auto"), ("crem-code", 500)])
def test_the_public_code_gives_both_shaps_500_samples_on_c17_too(profile, nsamples):
    settings, c17 = CremSettings(profile=profile), circuits.load("c17")
    for name in ("kernel_shap", "sampling_shap"):
        assert settings.explainer_options(c17, name)["nsamples"] == nsamples
    assert settings.explainer_options(c17, "sampling_shap:nsamples=9")["nsamples"] == 9


def test_the_studys_rules_divide_r_precision_by_what_is_ranked(monkeypatch):
    settings = {"circuits": ["74283"], "explainers": ["exact_shapley"], "sample": None}
    run = run_crem(**settings, profile="paper")
    assert value(run, level="circuit", metric="mr_precision") == pytest.approx(0.6686, abs=5e-5)
    _, kept = first_cells_rows(**settings, profile="paper")
    paper = crem_settings.PROFILES["paper"]
    textbook = {**crem_settings.PROFILES, "paper": attrs.evolve(paper, denominator="relevant")}
    monkeypatch.setattr(crem_settings, "PROFILES", textbook)
    _, found = first_cells_rows(**settings, profile="paper")
    assert found["mr_precision"].mean() < kept["mr_precision"].mean()
    monkeypatch.undo()
    for profile, denominator in (("xassay", "relevant"), ("paper", "ranked"), ("crem-code", "ranked")):
        assert CremSettings(profile=profile).rules.denominator == denominator
        assert CremSettings(profile=profile, ties="expected").rules.denominator == "relevant"


def test_a_large_background_is_sampled_down_with_a_notice():
    study = CremStudy(CremSettings(circuits=["74182"], explainers=["lime"], max_background=100))
    assert len(study.notices) == 1
    assert "204" in study.notices[0]
    assert "100" in study.notices[0]
    native = CremStudy(CremSettings(circuits=["74182"], explainers=["single_flip"], max_background=100))
    assert native.notices == []


def test_another_circuit_gets_four_faults_that_show(tmp_path):
    path = tmp_path / "mine.bench"
    circuits.write(circuits.load("74283"), path)
    found = versions(CremSettings(circuits=[str(path)], explainers=["random"]))
    assert len(found) == 4
    assert all(circuits.differences(c, fault.apply(c)).any() for c, fault in found)
    run = run_crem(circuits=[str(path)], explainers=["random"], sample=3)
    assert scores(run, level="circuit", metric="mrr")["circuit"].to_list() == ["mine"]


def test_a_failing_explainer_is_a_result_and_a_failing_row_is_counted(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(
        "def always(predict, background, X):\n    raise RuntimeError('no idea')\n\n"
        "def sometimes(predict, background, X):\n"
        "    if X[0, 0]:\n        raise RuntimeError('not this one')\n"
        "    return X\n"
    )
    run = run_crem(
        circuits=["c17"], explainers=[f"{path}:always", f"{path}:sometimes"], sample=None, repeats=1
    )
    assert run.failed
    bad = scores(run, level="circuit", metric="mrr", explainer=f"{path}:always").row(0, named=True)
    assert (bad["value"], bad["status"], bad["n_failed"]) == (None, "failed", bad["n"])
    assert "no idea" in bad["reason"]
    part = scores(run, level="circuit", metric="mrr", explainer=f"{path}:sometimes").row(0, named=True)
    assert part["status"] == "ok"
    assert 0 < part["n_failed"] < part["n"]
    assert 0 < part["value"] < 1
    partial = run_crem(circuits=["c17"], explainers=[f"{path}:sometimes"], sample=None, repeats=1)
    assert partial.failed


def test_friedman_takes_the_versions_as_blocks():
    methods = ["kernel_shap", "lime:n_samples=60", "lime_continuous:n_samples=60"]
    run = run_crem(circuits=["c17"], explainers=[*CHEAP, *methods], sample=None, repeats=1)
    friedman = run.tests.filter(metric="mrr", test="friedman").row(0, named=True)
    assert friedman["n_blocks"] == 4
    assert friedman["df1"] == 2
    pairs = run.tests.filter(metric="mrr", test="nemenyi").select("first", "second").rows()
    assert {name for pair in pairs for name in pair} == set(methods)
    assert len(pairs) == 3


NAMES = ("kernel_shap", "lime", "sampling_shap")


def made_results(rng, noises=(2.0, 4.0)):
    """Scores of three explainers on two circuits of four versions, at random."""
    keys = itertools.product(("c17", "74182"), ("z1", "z2", "z3", "z4"), NAMES)
    rows = []
    for circuit, fault, name in keys:
        fixed = {"level": "version", "circuit": circuit, "fault": fault, "explainer": name, "background": 0.4}
        clean = ("mrr", "map", "mr_precision")
        rows += [{**fixed, "noise": 0.0, "metric": metric, "value": rng.random()} for metric in clean]
        rows += [{**fixed, "noise": noise, "metric": "ela", "value": rng.random()} for noise in noises]
    return pl.DataFrame(rows)


EVERYWHERE = {"c17": 0.4, "74182": 0.4}


def test_ela_has_a_block_a_version_which_is_its_mean_over_noise_levels():
    table = made_results(np.random.default_rng(3))
    found = [
        row for row in comparison.tests(table, [(None, EVERYWHERE, EVERYWHERE)]) if row["metric"] == "ela"
    ]
    assert {(row["blocks"], row["n_blocks"]) for row in found} == {("versions", 8)}
    ela = table.filter(metric="ela")
    blocks = [
        [ela.filter(circuit=c, fault=f, explainer=name)["value"].mean() for name in NAMES]
        for c, f in itertools.product(("c17", "74182"), ("z1", "z2", "z3", "z4"))
    ]
    by_hand = stats.friedmanchisquare(*np.transpose(blocks))
    assert found[0]["test"] == "friedman"
    assert (found[0]["statistic"], found[0]["p_value"]) == pytest.approx(tuple(by_hand))


def test_a_version_without_ela_at_one_noise_level_is_no_block():
    table = made_results(np.random.default_rng(3))
    gone = (pl.col("circuit") == "c17") & (pl.col("fault") == "z2") & (pl.col("noise") == 2)
    for missing in (None, float("nan")):
        holed = table.with_columns(value=pl.when(gone).then(pl.lit(missing)).otherwise("value"))
        tests = comparison.tests(holed, [(None, EVERYWHERE, EVERYWHERE)])
        assert {row["n_blocks"] for row in tests if row["metric"] == "ela"} == {7}


def test_p_values_are_corrected_over_all_metrics_and_backgrounds_at_once():
    table = made_results(np.random.default_rng(5))
    table = pl.concat([table, table.with_columns(background=0.6, value=pl.col("value") ** 3)])
    both = [(p, dict.fromkeys(EVERYWHERE, p), dict.fromkeys(EVERYWHERE, p)) for p in (0.4, 0.6)]
    rows = pl.DataFrame(list(comparison.tests(table, both)), infer_schema_length=None)
    overall = rows.filter(pl.col("first").is_null())
    assert overall["p_holm"].to_list() == pytest.approx(holm(overall["p_value"].to_numpy()).tolist())
    assert len(overall) == 16
    pairs = rows.filter(test="nemenyi")
    assert pairs.height == 8 * 3
    smallest = pairs.sort("p_value").row(0, named=True)
    assert smallest["p_holm"] == pytest.approx(min(1, 8 * smallest["p_value"]))
    assert (pairs["p_holm"] >= pairs["p_value"]).all()
    alone = [row for row in comparison.tests(table, both[:1]) if row["test"] == "nemenyi"]
    assert max(row["p_holm"] for row in alone) <= 1


def test_differences_that_do_not_exist_are_found_on_few_pages():
    """Four metrics without any difference between three explainers, on sixty pages."""
    rng = np.random.default_rng(0)
    apart, corrected = 0, 0
    for _ in range(60):
        table = made_results(rng)
        rows = pl.DataFrame(
            list(comparison.tests(table, [(None, EVERYWHERE, EVERYWHERE)])), infer_schema_length=None
        )
        pairs = rows.filter(test="nemenyi")
        apart += int((pairs["p_value"] < 0.05).any())
        corrected += int((pairs["p_holm"] < 0.05).any())
    assert corrected <= 6
    assert corrected < apart


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"circuits": ["c71"]}, ["c71", "c17"]),
        ({"circuits": []}, ["circuits"]),
        ({"circuits": ["c17", "c17"]}, ["twice"]),
        ({"circuits": ["absent.bench"]}, ["absent.bench"]),
        ({"faults": ["z99"]}, ["z99", "gate"]),
        ({"faults": ["z4:stuck2"]}, ["stuck2"]),
        ({"faults": ["z4:nand"], "circuits": ["c17"]}, ["already"]),
        ({"explainers": ["kernel_shp"]}, ["kernel_shp", "kernel_shap"]),
        ({"explainers": ["kernel_shap:nsample=3"]}, ["nsample"]),
        ({"explainers": ["kernel_shap:nsamples=few"]}, ["nsamples", "few"]),
        ({"explainers": ["nowhere.py:explain"]}, ["nowhere.py"]),
        ({"background": [0.0]}, ["background", "0"]),
        ({"background": [1.5]}, ["background", "1.5"]),
        ({"background": [float("nan")]}, ["background"]),
        ({"background": [0.001], "circuits": ["c17"]}, ["background", "0.001"]),
        ({"noise": [-1]}, ["noise"]),
        ({"noise": [1.5]}, ["noise"]),
        ({"noise": [float("inf")]}, ["noise"]),
        ({"noise": [2], "noise_kind": "flip"}, ["rate"]),
        ({"noise": [30], "circuits": ["c17"]}, ["2^35"]),
        ({"noise_kind": "pink"}, ["pink"]),
        ({"profile": "papr"}, ["papr", "paper"]),
        ({"truth": "real"}, ["real"]),
        ({"truth": "functio"}, ["functio", "function"]),
        ({"truth": "function", "detector": "autoencoder"}, ["truth", "autoencoder", "reconstruction"]),
        ({"ties": "random"}, ["random"]),
        ({"sample": 0}, ["sample"]),
        ({"max_background": 0}, ["max-background"]),
        ({"repeats": 0}, ["repeats"]),
        ({"seed": -1}, ["seed"]),
    ],
    ids=str,
)
def test_bad_settings_are_refused_in_one_line_before_anything_runs(settings, words):
    with pytest.raises(InputError) as caught:
        CremStudy(CremSettings(**settings))
    message = str(caught.value)
    assert "\n" not in message
    for word in words:
        assert word in message


def test_two_circuits_of_one_name_are_refused(tmp_path):
    path = tmp_path / "c17.bench"
    circuits.write(circuits.load("c17"), path)
    with pytest.raises(InputError, match="two circuits are called c17"):
        CremStudy(CremSettings(circuits=["c17", str(path)]))


def test_results_hold_every_column_and_only_known_statuses():
    run = run_crem(circuits=["c17"], explainers=CHEAP, sample=4)
    assert run.scores["schema"].unique().to_list() == [results.SCHEMA_VERSION]
    assert set(run.scores["status"]) == {"ok"}
    assert set(run.scores["metric"]) <= set(metrics.available())
    assert run.scores["dataset"].null_count() == run.scores.height
    assert run.scores.schema["value"] == pl.Float64


def test_cutting_a_version_into_cells_changes_nothing(monkeypatch):
    settings = {"circuits": ["74182"], "explainers": CHEAP, "noise": (0, 2), "sample": 90}
    whole = run_crem(**settings)
    monkeypatch.setattr(crem_study, "CHUNK_ROWS", 40)
    pieces = run_crem(**settings)
    assert len(CremStudy(CremSettings(**settings)).cells) == 2 * 4 * 3 * 3
    assert pieces.scores.equals(whole.scores, null_equal=True)


def test_a_version_without_any_truth_leaves_the_others_their_score():
    run = run_crem(circuits=["c17"], faults=["z4", "o2:stuck1"], explainers=["single_flip"], sample=None)
    alone = value(run, level="version", fault="z4", metric="mrr")
    row = scores(run, level="circuit", metric="mrr").row(0, named=True)
    assert row["value"] == alone
    assert row["n_undefined"] == scores(run, level="version", fault="o2:stuck1", metric="mrr")["n"][0]


def test_ela_without_any_precision_is_undefined_and_its_bound_may_be_infinite():
    weights, noisy = RowWeights(0), scoring.Mean(0.25, (0.2, 0.3), n=4)
    assert np.isnan(scoring.ela(noisy, scoring.Mean(0.0, (0.0, 0.1), n=4), weights).value)
    found = scoring.ela(noisy, scoring.Mean(0.5, (0.0, 0.7), n=4), weights)
    assert found.value == 1.5
    assert found.bounds == (pytest.approx(ratio_of_intervals(0.75, (0.7, 0.8), 0.5, (0.0, 0.7))[0]), np.inf)
    assert found.n == 8
    exact = scoring.ela(noisy, scoring.Mean(0.5, None, n=4), weights)
    assert exact.bounds == pytest.approx((1.4, 1.6))


def test_one_explained_input_has_no_interval():
    run = run_crem(circuits=["74182"], explainers=["random"], sample=1)
    assert scores(run, level="version", metric="mrr")["ci_low"].is_null().all()
