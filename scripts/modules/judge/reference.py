"""Values of estimators by independent tools, on small series that are the same every time."""

import numpy as np
import ruptures
import statsmodels.api as sm
from scipy import signal, stats
from statsmodels.tsa.ar_model import AutoReg
from statsmodels.tsa.arima_process import ArmaProcess, arma_generate_sample
from statsmodels.tsa.stattools import acf

SEED = 20_261_116
# Stretches shorter than this are not looked for, by either side.
SHORTEST_STRETCH = 4
MOST_STRETCHES = 6
# So many lines through noise give the share of low estimates to half a percent.
FITTED_LINES = 20_000


def values():
    return {
        "quantiles": quantiles(),
        "deviations": deviations(),
        "normal": normal(),
        "lognormal": lognormal(),
        "student": student(),
        "lines": lines(),
        "parabolas": parabolas(),
        "bends": bends(),
        "inflations": inflations(),
        "likely_highest": likely_highest(),
        "students": students(),
        "noises": noises(),
        "partitions": partitions(),
        "cycles": cycles(),
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


def student():
    """scipy.stats.t.cdf, also with degrees of freedom that are not whole."""
    return [
        {"t": t, "freedom": freedom, "cdf": float(stats.t.cdf(t, freedom))}
        for freedom in (1.0, 2.0, 2.7, 4.0, 8.5, 30.0, 1000.0)
        for t in (-12.0, -3.0, -0.4, 0.7, 2.1, 8.6, 31.6)
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


def bends():
    """numpy.polyfit with its covariance, in the series' own x: how the slope at three quarters of
    the way compares with that at one, and at two standard errors of the square's coefficient."""
    cases = []
    for name in ("line", "bend", "uneven", "slow", "six points"):
        x, y = series()[name]
        coefficients, covariance = np.polyfit(x, y, 2, cov=True)
        middle, quarter = (x[0] + x[-1]) / 2, (x[-1] - x[0]) / 4
        at_middle = float(np.polyval(np.polyder(coefficients), middle))
        residuals = y - np.polyval(coefficients, x)
        cases.append(
            {
                "series": name,
                "x": list(x),
                "y": list(y),
                "slope_at_middle": at_middle,
                "slope_change": float(2 * coefficients[0] * quarter),
                "slope_change_error": float(2 * np.sqrt(covariance[0, 0]) * quarter),
                "autocorrelation": float(acf(residuals, nlags=1, fft=False)[1]),
            }
        )
    return cases


def inflations():
    """What autocorrelation does to the variance of a mean: the sum of statsmodels' acf."""
    return [
        {"rho": rho, "inflation": float(2 * ArmaProcess([1, -rho]).acf(4000).sum() - 1)}
        for rho in (0.0, 0.2, 0.5, 0.8, 0.95)
    ]


def likely_highest():
    """What lines through noise of a known autocorrelation show of it: the estimate that three in
    ten fall short of, by numpy.polyfit and the formula of statsmodels' acf."""
    cases = []
    for points in (30, 100, 400):
        for rho in (0.0, 0.3, 0.5, 0.7):
            dice = np.random.default_rng([SEED, points, int(100 * rho)])
            noise = arma_generate_sample(
                [1, -rho],
                [1],
                (points, FITTED_LINES),
                distrvs=dice.standard_normal,
                axis=0,
                burnin=100,
            )
            x = np.arange(points) / points
            slope, start = np.polyfit(x, noise, 1)
            left = noise - start - x[:, None] * slope
            estimates = np.sum(left[1:] * left[:-1], axis=0) / np.sum(left**2, axis=0)
            assert np.isclose(estimates[0], acf(left[:, 0], nlags=1, fft=False)[1])
            low = float(np.quantile(estimates, 0.3))
            cases.append({"points": points, "rho": rho, "low_estimate": round(low, 4)})
    return cases


def students():
    """scipy.stats: the quantile of Student's t that leaves out as much as z does of the normal."""
    return [
        {"z": z, "freedom": freedom, "t": float(stats.t.isf(stats.norm.sf(z), freedom))}
        for freedom in (4, 8, 16, 30, 100, 1000)
        for z in (2.5, 3.0, 3.5)
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


def cycles():
    """scipy.signal.find_peaks without the trend: the usual distance from peak to peak."""
    cases = []
    for name, (y, prominence) in cyclic_series().items():
        x = np.arange(1.0, len(y) + 1) * 5
        peaks, _ = signal.find_peaks(signal.detrend(y), prominence=prominence)
        period = float(np.median(np.diff(x[peaks])))
        cases.append({"series": name, "x": list(x), "y": list(y), "period": period})
    return cases


def cyclic_series():
    """Memory in MB that rises and falls again and again, and how far a peak must stick out."""
    dice = np.random.default_rng([SEED, 6])
    at = np.arange(120.0)
    edges = np.cumsum(dice.uniform(9, 15, 14))
    tooth = np.searchsorted(edges, at, side="right")
    widths = np.diff(np.append([0.0], edges))
    uneven = (at - np.append([0.0], edges)[tooth]) / widths[tooth]
    made = {
        "teeth": (8000 + 200 * (at % 11) / 11, 8.0, 100),
        "uneven teeth": (8000 + 400 * uneven, 8.0, 200),
        "waves": (4000 + 150 * np.sin(at * 2 * np.pi / 16), 6.0, 120),
        "teeth that climb": (6000 + 4 * at + 500 * (at % 13) / 13, 10.0, 250),
        "evaluations": (5000 + 600 * (at % 20 >= 17), 5.0, 300),
    }
    return {
        name: (rounded(curve + dice.normal(0, sigma, len(at))), prominence)
        for name, (curve, sigma, prominence) in made.items()
    }
