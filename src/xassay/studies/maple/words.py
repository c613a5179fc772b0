"""What the report of a MAPLE run says in words."""

LINEAR = "LM"
INTRO = (
    "MAPLE predicts with an ensemble of trees and explains each prediction by a linear model that holds "
    "near it. This report asks how accurate its predictions are, and how well its and other explainers' "
    "linear models follow the explained model around a point. Features and targets are standardised: "
    "always answering with the mean has an error of about 1."
)
STATISTICS = (
    "Scores are means over trials; each trial splits the same table anew at random into training, "
    "validation and test parts. Brackets are 95% intervals of that mean (Student's t), so they "
    "speak of the luck of the split, not of other data."
)
TESTS = (
    "Two tests compare the same two methods. The corrected resampled t-test (Nadeau and Bengio, 2003) takes "
    "the differences on each split, so that what makes a split hard for both drops out, and allows for the "
    "rows that splits share; it says who is better. Welch's t-test, as in the published study, does neither; "
    "it is listed beside the other under Every test. Among many comparisons some differ by chance: Holm's "
    "correction raises each p to make up for the number of all tests in this report together, of both kinds, "
    "all tables, models and sigmas. Bold: corrected p < 0.05, with the better one's name."
)
ONE_TRIAL = (
    "There was one trial (one random split of each table) only, so there are no intervals, and no tests "
    "of differences."
)
PROFILES = {
    "xassay": "the files' row counter is dropped (the published study kept it as a feature)",
    "paper": "the files' row counter is kept as a feature, as the published study did",
}
_PAPER_TRIALS = "; 50 trials for accuracy, 25 for explanations"
ACCURACY = (
    "RMSE is the root mean square error on the test part: lower is better. LM is a linear model, RF and "
    "GBRT are ensembles of trees alone, SILO is a linear model at each point, weighted by the ensemble, "
    "and MAPLE is SILO on the features that matter most to the ensemble (features kept)."
)
NIL = {
    "day": "day holds two columns that add up to its target",
    "happiness": "the target of happiness is a linear function of its columns",
}
ENSEMBLES = {"RF": "random forest (RF)", "GBRT": "gradient boosting (GBRT)"}
EXPLANATION = (
    "An explanation here is a linear model for the neighbourhood of one point. To test it, the point's "
    "features are all moved at random, by a normal step of sigma standard deviations each, and the "
    "explained model's new answers are compared with those that the linear model foretells. RMSE is the "
    "root mean square of the gap: 0 is perfect. Sigma 0.1 is a small step; 0.25, in tables of many "
    "features, leads far from the point."
)
SKILL = (
    "Skill compares this error with that of the trivial explanation by which nothing changes around the "
    "point: 1 is perfect, 0 is no better than that, and below 0 is worse."
)
AS_ABOVE = "RMSE and skill are as above, of another explained model."
RMSE_AXIS = "RMSE (lower is better)"
DOTS = (
    "Dots are means over trials with 95% intervals. The axis is logarithmic where values span more than "
    "two decades; a triangle at its left end is a value too small for it."
)
PUBLISHED = (
    "Hollow diamonds, and publ. below, are the published figures ({}); in parentheses, ours minus those."
)
SHAPES = {"linear": "linear", "s_curve": "S-curve", "steps": "steps"}
PATTERNS = (
    "A slope of zero has two readings: the feature does not matter there, or it matters only through a "
    "pattern elsewhere, such as a step nearby. The training points that weigh most in MAPLE's explanation "
    "tell them apart. The data here follow one active feature by a known shape. Pattern found is the "
    "share of trials in which the reading of that feature was right."
)
BANDS = (
    "Where the 20 most influential training points lie as the explained point moves: median (dot), "
    "middle half (thick), middle nine tenths (thin), over all trials. Points that follow the diagonal, "
    "equally spread, speak for no pattern; points spread wider in places, for plateaus there; points "
    "that stay away from the diagonal and then jump, for steps."
)
BANDS_ACROSS = "active feature of the explained point"
BANDS_UP = "active feature of its influential points"


def profile(name: str, trials: int | None) -> str:
    """A profile in words; ``trials`` is what the user asked for in place of the profile's."""
    return PROFILES[name] + (_PAPER_TRIALS if name == "paper" and trials is None else "")


def roles(ensemble: str) -> dict[str, str]:
    """The models that belong to an ensemble, each with its part.

    Example:
        >>> list(roles("RF"))
        ['LM', 'RF', 'SILO+RF', 'MAPLE+RF']
    """
    return {
        LINEAR: "linear model",
        ensemble: "ensemble alone",
        f"SILO+{ensemble}": "SILO",
        f"MAPLE+{ensemble}": "MAPLE",
    }
