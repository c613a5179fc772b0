"""Where the words of a verdict begin, each with its reason."""

FAITHFUL = 0.95
"""Fidelity from which an explanation is faithful. At .95 its error has a fifth of the length of what it
explains (a root of .05). An explanation that is 1.4 times too large has .84, one that is 1.2 times too
large .96."""

FAITHFUL_POOLED = 0.9
"""Fidelity over all rows as one sum, where large rows count most: a few of them must not be wrong while
the many small ones are right."""

SURE = 0.6
"""Where the interval of fidelity must begin for a faithful explanation: with ten rows that are all right it
begins at .69."""

RIGHT = 0.8
"""Fidelity of a single row from which it counts as right; lower than `FAITHFUL`, as a single row's
fidelity is uncertain by some hundredths."""

MOST_ROWS = 0.8
"""The share of rows that must be right: four of five."""

GAP = 0.2
"""The gap between the sum of attributions and f(x) - E f, relative to the latter, that a faithful
explanation may have: fidelity compares columns of a row with each other and does not see it."""

ALIGNED = 0.7
"""Alignment from which the right columns are named, on some scale: at a cosine of .7 half of what the
explanation says lies along the truth. Wrong columns that are few reach .5 by chance."""

LEANING = 0.5
"""Alignment without which an explanation that ranks planted causes first is not right in part all the same:
planted rows are large, and an explanation of large rows alone must not pass for one of all."""

LEAST_ROWS = 10
"""Rows below which nothing is judged: of nine rows that are all right the share of right rows in the data
may still be .66 (Clopper and Pearson's 95% interval)."""

MOST_LOST = 0.05
"""The share of rows that an explainer may fail on without a word of caution."""

FAILED = 0.2
"""The share of rows from which on failing keeps an explainer from being faithful: it may be right only where
it is easy, as with `MOST_ROWS`."""

UNTOLD = 0.2
"""The share of rows at which no column matters measurably more than another that is worth a word."""

STEADY = 0.9
"""Agreement below which a change of seed, background or row is worth a word."""

MUCH_PLACEBO = 0.1
"""The share of weight on columns that do nothing that counts against an explainer."""

LITTLE_PLACEBO = 0.02
"""Below it, next to nothing."""

SUMS_FAIL = 0.5
"""What sums can tell of a model, below which the verdict warns in its first paragraph."""

FOUND = 0.2
"""By how much the reciprocal rank of planted causes must exceed chance before causes count as found, at
the worse end of its interval."""

CLOSE = 0.002
"""Fidelities that are as good as equal: of such explainers the cheapest is recommended."""

GAIN = 0.05
"""A difference of fidelity that is worth more samples."""

OFF_DATA = 0.9
"""AUC from which masked rows are far from real ones: nine of ten pairs are told apart."""

RARE = 0.05
"""Kinds of rows that make up less of the data are not spoken of: of 59 rows one is of such
a kind in 95% of cases."""

SIGNIFICANT = 0.05
"""A corrected p-value below which a difference is real: the usual level."""

SUMS_TELL = 0.95
"""What sums can tell of a model, below which the verdict says so; below `SUMS_FAIL` it warns of it too."""
