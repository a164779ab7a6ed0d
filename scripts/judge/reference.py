"""Values of estimators by independent tools, on small series that are the same every time."""

import numpy as np
import ruptures
import statsmodels.api as sm
from scipy import stats
from statsmodels.tsa.ar_model import AutoReg
from statsmodels.tsa.arima_process import ArmaProcess, arma_generate_sample
from statsmodels.tsa.stattools import acf

SEED = 20_261_116
# Stretches shorter than this are not looked for, by either side.
SHORTEST_STRETCH = 4
MOST_STRETCHES = 6


def values():
    return {
        "quantiles": quantiles(),
        "deviations": deviations(),
        "normal": normal(),
        "lognormal": lognormal(),
        "lines": lines(),
        "parabolas": parabolas(),
        "inflations": inflations(),
        "noises": noises(),
        "partitions": partitions(),
    }


def series():
    """Short series of different kinds: noise, trends, slow noise, rounding, uneven steps."""
    dice = np.random.default_rng(SEED)
    even = np.arange(1, 41) / 40
    uneven = np.sort(dice.uniform(0, 5, 33))
    slow = ArmaProcess([1, -0.8]).generate_sample(60, 0.05, distrvs=dice.standard_normal)
    made = {
        "noise": (even, dice.normal(3, 0.2, 40)),
        "line": (even, 1 + 2.5 * even + dice.normal(0, 0.05, 40)),
        "uneven": (uneven, 4 + 0.7 * uneven + dice.normal(0, 0.3, 33)),
        "slow": (np.arange(60) / 60, 2 + np.arange(60) / 60 + slow),
        "rounded": (even, np.round(7 + even * 3, 1)),
        "bend": (even, 5 * (1 - np.exp(-even / 0.4)) + dice.normal(0, 0.02, 40)),
        "far from zero": (1000 + even, 1e4 + 0.5 * even + dice.normal(0, 0.01, 40)),
        "six points": (np.arange(6.0), np.array([5.552, 7.159, 8.851, 10.375, 12.0, 13.757])),
    }
    return {name: (rounded(x), rounded(y)) for name, (x, y) in made.items()}


def rounded(values):
    return np.round(values, 6)


def quantiles():
    """numpy.quantile, linear."""
    shares = (0.0, 0.03, 0.25, 0.5, 0.8, 0.97, 1.0)
    return [
        {"values": list(y), "quantiles": {q: float(np.quantile(y, q)) for q in shares}}
        for _, y in series().values()
    ]


def deviations():
    """scipy.stats.median_abs_deviation, as the standard deviation of a normal sample."""
    return [
        {
            "values": list(y),
            "centre": float(np.median(y)),
            "mad": float(stats.median_abs_deviation(y, scale="normal")),
        }
        for _, y in series().values()
    ]


def normal():
    """scipy.stats.norm."""
    return [
        {"z": z, "cdf": float(stats.norm.cdf(z))}
        for z in (-12.0, -8.0, -5.0, -3.6, -3.5, -1.96, -0.5, -1e-9, 0.0, 0.3, 1.0, 2.5, 4.0, 8.0)
    ]


def lognormal():
    """scipy.stats.lognorm.sf."""
    return [
        {
            "w": w,
            "median": median,
            "sigma": sigma,
            "survival": float(stats.lognorm.sf(w, sigma, scale=median)),
        }
        for median, sigma in ((40.0, 1.0), (120.0, 1.2), (1.2, 0.8))
        for w in (0.5, 10.0, 40.0, 80.0, 386.0, 1500.0, 20_000.0)
    ]


def lines():
    """scipy.stats.linregress, and statsmodels' autocorrelation of what is left over."""
    cases = []
    for name, (x, y) in series().items():
        fit = stats.linregress(x, y)
        residuals = y - fit.intercept - fit.slope * x
        cases.append(
            {
                "series": name,
                "x": list(x),
                "y": list(y),
                "slope": float(fit.slope),
                "intercept": float(fit.intercept),
                "slope_error": float(fit.stderr),
                "cost": float(np.sum(residuals**2)),
                "autocorrelation": float(acf(residuals, nlags=1, fft=False)[1]),
            }
        )
    return cases


def parabolas():
    """statsmodels' OLS on u and u², u from −1 to 1."""
    cases = []
    for name in ("line", "bend", "uneven", "slow", "six points"):
        x, y = series()[name]
        u = (x - (x[0] + x[-1]) / 2) / ((x[-1] - x[0]) / 2)
        fit = sm.OLS(y, np.column_stack([np.ones_like(u), u, u * u])).fit()
        _, slope, bend = fit.params
        cases.append(
            {
                "series": name,
                "x": list(x),
                "y": list(y),
                "slope": float(slope),
                "bend": float(bend),
                "bend_error": float(fit.bse[2]),
                "autocorrelation": float(acf(fit.resid, nlags=1, fft=False)[1]),
            }
        )
    return cases


def inflations():
    """What autocorrelation does to the variance of a mean: the sum of statsmodels' acf."""
    return [
        {"rho": rho, "inflation": float(2 * ArmaProcess([1, -rho]).acf(4000).sum() - 1)}
        for rho in (0.0, 0.2, 0.5, 0.8, 0.95)
    ]


def noises():
    """Long noise on a trend, and what statsmodels' AutoReg makes of it."""
    cases = []
    for rho, sigma, slope in ((0.0, 4.0, 0.05), (0.5, 10.0, -0.02), (0.85, 3.0, 0.01)):
        dice = np.random.default_rng([SEED, int(100 * rho)])
        shock = sigma * np.sqrt(1 - rho * rho)
        noise = arma_generate_sample(
            [1, -rho], [1], 2000, scale=shock, distrvs=dice.standard_normal, burnin=200
        )
        y = np.round(4000 + slope * np.arange(2000) + noise, 2)
        fit = AutoReg(y, lags=1, trend="ct").fit()
        estimated = float(fit.params[-1])
        cases.append(
            {
                "rho": estimated,
                "sigma": float(np.sqrt(fit.sigma2 / (1 - estimated**2))),
                "y": list(y),
            }
        )
    return cases


def partitions():
    """ruptures' Dynp with a straight line for each stretch: the best split into k, for some k."""
    cases = []
    for name, y in bent_series().items():
        x = rounded(np.arange(len(y)) / len(y))
        signal = np.column_stack([y, x, np.ones_like(x)])
        search = ruptures.Dynp(model="linear", min_size=SHORTEST_STRETCH, jump=1).fit(signal)
        best = []
        for stretches in range(1, MOST_STRETCHES + 1):
            ends = search.predict(n_bkps=stretches - 1) if stretches > 1 else [len(y)]
            best.append({"starts": [0, *ends[:-1]], "cost": float(search.cost.sum_of_costs(ends))})
        cases.append({"series": name, "x": list(x), "y": list(y), "best": best})
    return cases


def bent_series():
    """Series with known changes of course, and noise of standard deviation 0.02."""
    dice = np.random.default_rng([SEED, 5])
    at = np.arange(64) / 64
    made = {
        "straight": 0.2 + 0.6 * at,
        "knee": np.minimum(at / 0.4, 1.0),
        "jump": 0.3 + 0.5 * (at > 0.55),
        "staircase": 0.1 + 0.25 * np.floor(at * 4),
        "late growth": 0.2 + np.clip(at - 0.6, 0, None) * 1.8,
    }
    return {name: rounded(y + dice.normal(0, 0.02, len(y))) for name, y in made.items()}
