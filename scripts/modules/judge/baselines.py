"""Common trend tests, used as a judge: a significant rise is a leak.

Each judges the same prefixes as leveloff. Long prefixes are thinned to bucket means, which
spares minutes and makes the tests a little less eager.
"""

import math

import numpy as np
import pymannkendall
from scipy import stats

import rivals
from score import Look, Prediction

SIGNIFICANCE = 0.05
MOST_POINTS = 100


def ols(x, y):
    """Slope of a straight line, Student's t."""
    fit = stats.linregress(x, y)
    return fit.slope > 0 and fit.pvalue < SIGNIFICANCE, fit.slope


def ols_newer_half(x, y):
    """The same on the newer half of what was seen, which forgets a short warmup."""
    begin = len(x) // 2
    return ols(x[begin:], y[begin:])


def mann_kendall(x, y):
    """Mann's rank test for a trend, with the correction for ties."""
    return significant_rise(rising_pairs(y), score_variance(y)), None


def hamed_rao(x, y):
    """The same with the variance corrected for autocorrelation (Hamed and Rao, 1998)."""
    variance = score_variance(y) * autocorrelation_factor(y)
    return significant_rise(rising_pairs(y), variance), None


TESTS = {
    "OLS": ols,
    "OLS, newer half": ols_newer_half,
    "Mann–Kendall": mann_kendall,
    "Hamed–Rao": hamed_rao,
} | rivals.RULES


def prediction_of(test, x, y, looked_at):
    """What `test` says of a run at the given steps."""
    looks, rate = [], None
    for step in looked_at:
        newest = int(np.searchsorted(x, step, side="right"))
        leak, rate = test(*thinned(x[:newest], y[:newest]))
        looks.append(Look(step, "leak" if leak else "stable"))
    return Prediction(looks, rate)


def thinned(x, y):
    size = math.ceil(len(x) / MOST_POINTS)
    if size <= 1:
        return x, y
    begins = np.arange(0, len(x), size)
    sizes = np.diff(np.append(begins, len(x)))
    return np.add.reduceat(x, begins) / sizes, np.add.reduceat(y, begins) / sizes


def rising_pairs(y):
    """Pairs that rise less pairs that fall."""
    return float(np.triu(np.sign(y[None, :] - y[:, None]), 1).sum())


def score_variance(y):
    n, ties = len(y), np.unique(y, return_counts=True)[1]
    return (n * (n - 1) * (2 * n + 5) - np.sum(ties * (ties - 1) * (2 * ties + 5))) / 18


def significant_rise(score, variance):
    if score <= 0 or variance <= 0:
        return False
    return 2 * stats.norm.sf((score - 1) / math.sqrt(variance)) < SIGNIFICANCE


def autocorrelation_factor(y):
    """What the significant autocorrelations of the detrended ranks do to the score's variance."""
    n = len(y)
    rows, columns = np.triu_indices(n, 1)
    slope = np.median((y[columns] - y[rows]) / (columns - rows))
    ranks = stats.rankdata(y - slope * np.arange(1, n + 1))
    centred = ranks - ranks.mean()
    if not centred.any():
        return 1.0
    products = np.correlate(centred, centred, "full")[n - 1 :]
    lags = np.arange(1, n)
    correlation = products[1:] / products[0]
    correlation[np.abs(correlation) <= stats.norm.ppf(1 - SIGNIFICANCE / 2) / math.sqrt(n)] = 0
    weights = (n - lags) * (n - lags - 1) * (n - lags - 2)
    return 1 + 2 / (n * (n - 1) * (n - 2)) * float(np.sum(weights * correlation))


def check_against_pymannkendall():
    """Ours are quicker than the library's; they must say the same."""
    dice = np.random.default_rng(7)
    for n in (8, 20, 60, 120):
        for drift in (0.0, 0.02, 0.3):
            y = np.round(np.cumsum(dice.normal(drift, 1, n)), 1)
            x = np.arange(n)
            for ours, theirs in (
                (mann_kendall, pymannkendall.original_test),
                (hamed_rao, pymannkendall.hamed_rao_modification_test),
            ):
                expected = theirs(y, alpha=SIGNIFICANCE)
                assert ours(x, y)[0] == (expected.trend == "increasing"), (n, drift, expected)
            expected = pymannkendall.original_test(y)
            assert expected.s == rising_pairs(y) and np.isclose(expected.var_s, score_variance(y))
            corrected = pymannkendall.hamed_rao_modification_test(y).var_s
            assert np.isclose(corrected, score_variance(y) * autocorrelation_factor(y)), n
