"""What each metric is: one record a metric, for reports, tables and tests."""

import attrs

from xassay.errors import UnknownNameError

_CREM = "Evaluating Anomaly Explanations Using Ground Truth, section 4.5"
_ELA = "Saez, Luengo & Herrera, Neurocomputing 176 (2016), doi:10.1016/j.neucom.2014.11.086"
_MAPLE = "Plumb, Molitor & Talwalkar, NeurIPS 2018, arXiv:1807.02910"
_MASKING = "Yeh et al., NeurIPS 2019, arXiv:1901.09392; Ancona et al., ICLR 2018, arXiv:1711.06104"
_BRAY = "Bray & Curtis, Ecological Monographs 27 (1957), doi:10.2307/1942268"
_FAWCETT = "Fawcett, Pattern Recognition Letters 27 (2006), doi:10.1016/j.patrec.2005.10.010"
_ANCONA = "Ancona et al., ICLR 2018, arXiv:1711.06104"
_BHATT = "Bhatt, Weller & Moura, IJCAI 2020, arXiv:2005.00631"
_SUNDARARAJAN = "Sundararajan, Taly & Yan, ICML 2017, arXiv:1703.01365"
_YEH = "Yeh et al., NeurIPS 2019, arXiv:1901.09392"
_DEYOUNG = "DeYoung et al., ACL 2020, arXiv:1911.03429"
_SAMEK = "Samek et al., IEEE TNNLS 28 (2017), arXiv:1509.06321"
_PETSIUK = "Petsiuk, Das & Saenko, BMVC 2018, arXiv:1806.07421"
_AGARWAL = "Agarwal et al., NeurIPS 2022, arXiv:2206.11104"
_ALVAREZ = "Alvarez-Melis & Jaakkola, ICML workshop 2018, arXiv:1806.08049"
_INFINITY = float("inf")
_TIES = "McSherry & Najork, ECIR 2008, doi:10.1007/978-3-540-78646-7_38"


@attrs.frozen
class Metric:
    """A metric's description.

    Attributes:
        name: as in results and code.
        full_name: for a person.
        low: the least value it can take, minus infinity where there is none.
        high: the greatest, infinity where there is none.
        higher_is_better: the direction; where `best` is set, the direction below it.
        reference: where it is defined.
        best: the value to reach, where it is not an end of the range; None: it is.
    """

    name: str
    full_name: str
    low: float
    high: float
    higher_is_better: bool
    reference: str
    best: float | None = None


METRICS = {
    metric.name: metric
    for metric in (
        Metric("mrr", "MRR", 0, 1, higher_is_better=True, reference=f"{_CREM}; ties: {_TIES}"),
        Metric("map", "MAP", 0, 1, higher_is_better=True, reference=f"{_CREM}; ties: {_TIES}"),
        Metric(
            "mr_precision", "MR-Precision", 0, 1, higher_is_better=True, reference=f"{_CREM}; ties: {_TIES}"
        ),
        Metric(
            "exact_match",
            "Exact match",
            0,
            1,
            higher_is_better=True,
            reference="Tritscher et al., ISMIS 2020, doi:10.1007/978-3-030-59491-6_40",
        ),
        Metric(
            "noise_share", "Noise share", 0, 1, higher_is_better=False, reference=f"{_CREM} (section 4.4)"
        ),
        Metric("ela", "ELA", 0, float("inf"), higher_is_better=False, reference=f"{_CREM}; {_ELA}"),
        Metric(
            "causal_rmse",
            "Causal RMSE",
            0,
            float("inf"),
            higher_is_better=False,
            reference=f"{_MAPLE}, equation (1)",
        ),
        Metric(
            "causal_skill",
            "Causal skill",
            float("-inf"),
            1,
            higher_is_better=True,
            reference=f"{_MAPLE}, equation (1); skill: Murphy, Monthly Weather Review 116 (1988)",
        ),
        Metric("masking_rmse", "Masking RMSE", 0, float("inf"), higher_is_better=False, reference=_MASKING),
        Metric(
            "masking_skill",
            "Masking skill",
            float("-inf"),
            1,
            higher_is_better=True,
            reference=f"{_MASKING}; skill: Murphy, Monthly Weather Review 116 (1988)",
        ),
        Metric(
            "placebo_share",
            "Placebo share",
            0,
            1,
            higher_is_better=False,
            reference=f"permuted copies that the model ignores, after {_CREM} (section 4.4)",
        ),
        Metric("seed_agreement", "Agreement between seeds", 0, 1, higher_is_better=True, reference=_BRAY),
        Metric(
            "neighbour_agreement", "Agreement with a neighbour", 0, 1, higher_is_better=True, reference=_BRAY
        ),
        Metric(
            "background_agreement",
            "Agreement between backgrounds",
            0,
            1,
            higher_is_better=True,
            reference=_BRAY,
        ),
        Metric(
            "planted_noticed",
            "Planted anomalies noticed",
            0,
            1,
            higher_is_better=True,
            reference="share of planted rows that score above 95 in 100 ordinary rows",
        ),
        Metric(
            "model_calls",
            "Model calls a row",
            0,
            float("inf"),
            higher_is_better=False,
            reference="rows that the model is asked for while one row is explained",
        ),
        Metric("auc", "AUC of the detector", 0, 1, higher_is_better=True, reference=_FAWCETT),
        Metric("precision", "Precision of the detector", 0, 1, higher_is_better=True, reference=_FAWCETT),
        Metric("recall", "Recall of the detector", 0, 1, higher_is_better=True, reference=_FAWCETT),
        Metric(
            "located",
            "Worst output is a wrong one",
            0,
            1,
            higher_is_better=True,
            reference="after Antwarg et al. (2021), doi:10.1016/j.eswa.2021.115736",
        ),
        Metric("rmse", "RMSE", 0, float("inf"), higher_is_better=False, reference=f"{_MAPLE}, section 5.1"),
        Metric(
            "features_kept",
            "Features kept",
            1,
            float("inf"),
            higher_is_better=False,
            reference=f"{_MAPLE}, section 3 (DStump)",
        ),
        Metric(
            "pattern_match",
            "Pattern found",
            0,
            1,
            higher_is_better=True,
            reference=f"{_MAPLE}, sections 4.1 and 5.4",
        ),
        Metric("sensitivity_n", "Sensitivity-n", -1, 1, higher_is_better=True, reference=_ANCONA),
        Metric(
            "rank_sensitivity_n",
            "Sensitivity-n of ranks",
            -1,
            1,
            higher_is_better=True,
            reference=f"{_ANCONA}; ranks: Spearman, American Journal of Psychology 15 (1904)",
        ),
        Metric(
            "faithfulness_correlation",
            "Faithfulness correlation",
            -1,
            1,
            higher_is_better=True,
            reference=_BHATT,
        ),
        Metric(
            "completeness_gap",
            "Completeness gap",
            0,
            _INFINITY,
            higher_is_better=False,
            reference=_SUNDARARAJAN,
        ),
        Metric(
            "best_scale",
            "Best scale",
            -_INFINITY,
            _INFINITY,
            higher_is_better=True,
            reference=f"{_YEH} (optimal scaling)",
            best=1.0,
        ),
        Metric(
            "comprehensiveness",
            "Comprehensiveness",
            -_INFINITY,
            _INFINITY,
            higher_is_better=True,
            reference=_DEYOUNG,
        ),
        Metric(
            "sufficiency", "Sufficiency", -_INFINITY, _INFINITY, higher_is_better=False, reference=_DEYOUNG
        ),
        Metric(
            "deletion_area",
            "Deletion area",
            -_INFINITY,
            _INFINITY,
            higher_is_better=False,
            reference=f"{_SAMEK}; {_PETSIUK}",
        ),
        Metric(
            "insertion_area",
            "Insertion area",
            -_INFINITY,
            _INFINITY,
            higher_is_better=True,
            reference=_PETSIUK,
        ),
        Metric("pgi", "PGI", 0, _INFINITY, higher_is_better=True, reference=_AGARWAL),
        Metric("pgu", "PGU", 0, _INFINITY, higher_is_better=False, reference=_AGARWAL),
        Metric("max_sensitivity", "Max-sensitivity", 0, _INFINITY, higher_is_better=False, reference=_YEH),
        Metric(
            "local_lipschitz", "Local Lipschitz", 0, _INFINITY, higher_is_better=False, reference=_ALVAREZ
        ),
        Metric(
            "fidelity",
            "Fidelity",
            0,
            1,
            higher_is_better=True,
            reference=f"xassay.metrics.contrast, after {_ANCONA}",
        ),
        Metric(
            "fidelity_pooled",
            "Fidelity, all rows as one sum",
            -_INFINITY,
            1,
            higher_is_better=True,
            reference="xassay.metrics.contrast",
        ),
        Metric(
            "fidelity_q10",
            "Fidelity, tenth part",
            0,
            1,
            higher_is_better=True,
            reference="xassay.metrics.contrast",
        ),
        Metric(
            "fidelity_q50",
            "Fidelity, median row",
            0,
            1,
            higher_is_better=True,
            reference="xassay.metrics.contrast",
        ),
        Metric("rows_right", "Rows right", 0, 1, higher_is_better=True, reference="fidelity of .8 or more"),
        Metric("alignment", "Alignment", -1, 1, higher_is_better=True, reference="xassay.metrics.contrast"),
        Metric(
            "additive_share",
            "What sums can tell",
            0,
            1,
            higher_is_better=True,
            reference="xassay.metrics.contrast",
        ),
        *(
            Metric(
                f"fidelity_{word}",
                f"Fidelity, {what}",
                0,
                1,
                higher_is_better=True,
                reference="xassay.metrics.contrast",
            )
            for word, what in (
                ("zero_base", "against zeros"),
                ("mean_base", "against the mean row"),
                ("conditional", "replaced given the others"),
            )
        ),
        *(
            Metric(
                f"gap_{word}_base",
                f"Completeness gap against {what}",
                0,
                _INFINITY,
                higher_is_better=False,
                reference=_SUNDARARAJAN,
            )
            for word, what in (("zero", "zeros"), ("mean", "the mean row"))
        ),
        *(
            Metric(
                f"masking_skill_{word}",
                f"Masking skill against {what}",
                -_INFINITY,
                1,
                higher_is_better=True,
                reference=_MASKING,
            )
            for word, what in (("even", "the even split"), ("shuffled", "its own values shuffled"))
        ),
        Metric(
            "masking_skill_ceiling",
            "Masking skill of the best sum",
            -_INFINITY,
            1,
            higher_is_better=True,
            reference=_MASKING,
        ),
        Metric(
            "model_change",
            "Change of the model's score",
            0,
            _INFINITY,
            higher_is_better=False,
            reference="beside max-sensitivity, in standard deviations of the score",
        ),
        Metric(
            "separability",
            "AUC of masked against real rows",
            0,
            1,
            higher_is_better=False,
            reference="cross-fitted classifier; Hooker & Mentch, arXiv:1905.03151",
        ),
        Metric(
            "off_data_alarm",
            "Alarm: another rule off the data (1 is yes)",
            0,
            1,
            higher_is_better=False,
            reference="xassay.models.manifold, after Slack et al., AIES 2020, arXiv:1911.02508",
        ),
        Metric(
            "randomisation_agreement",
            "Agreement with a model refitted to shuffled targets",
            0,
            1,
            higher_is_better=False,
            reference="Adebayo et al., NeurIPS 2018, arXiv:1810.03292",
        ),
    )
}


def available() -> tuple[str, ...]:
    """The names of all metrics."""
    return tuple(METRICS)


def describe(name: str) -> Metric:
    """The record of one metric.

    Raises:
        UnknownNameError: no such metric.

    Example:
        >>> describe("ela").higher_is_better
        False
    """
    if name not in METRICS:
        raise UnknownNameError("metric", name, METRICS)
    return METRICS[name]
