"""Rules of other tools, and a stand-in for a person who looks at the chart, used as judges.

Each is our own, written from a description of what it does. They judge the same prefixes as leveloff.
"""

import numpy as np

# A person ignores the beginning, and sees a rise of three percent that stands out from the noise.
EYE_IGNORES, EYE_RISE, EYE_SIGMAS, EYE_GOES_ON = 0.2, 0.03, 2.0, 0.5
# Stormlog 0.4: most steps grow, and by 100 MB in all.
STORMLOG_SHARE, STORMLOG_MB = 0.7, 100.0
# TraceML 0.5: the means of three windows rise; a confirmed leak has also gained a gibibyte.
TRACEML_WINDOWS, TRACEML_CONFIRMED_MB = 3, 1073.7
FEWEST = 6


def eye(x, y):
    """Without its first fifth, a line rises by 3 % and two standard deviations, and its second half continues."""
    begin = int(len(x) * EYE_IGNORES)
    x, y = x[begin:], y[begin:]
    if len(x) < FEWEST:
        return False, None
    slope, start = np.polyfit(x - x[0], y, 1)
    rise = slope * (x[-1] - x[0])
    spread = float(np.std(y - start - slope * (x - x[0])))
    middle = len(x) // 2
    newer = np.polyfit(x[middle:] - x[middle], y[middle:], 1)[0] if len(x) - middle > 2 else slope
    level = max(float(np.median(y)), 1e-9)
    sees = rise > EYE_RISE * level and rise > EYE_SIGMAS * spread and newer > EYE_GOES_ON * slope
    return bool(sees), float(slope)


def stormlog(x, y):
    """More than 70 % of the steps grow, and 100 MB were gained."""
    steps = np.diff(y)
    if len(steps) < FEWEST:
        return False, None
    return bool(np.mean(steps > 0) > STORMLOG_SHARE and y[-1] - y[0] > STORMLOG_MB), None


def traceml(x, y):
    """The means of three windows of equal length rise."""
    if len(y) < TRACEML_WINDOWS * 2:
        return False, None
    means = [float(np.mean(part)) for part in np.array_split(y, TRACEML_WINDOWS)]
    return bool(means[0] < means[1] < means[2]), None


def traceml_confirmed(x, y):
    """The same with a gain of a gibibyte."""
    rises, _ = traceml(x, y)
    return bool(rises and y[-1] - y[0] > TRACEML_CONFIRMED_MB), None


RULES = {
    "the eye": eye,
    "Stormlog": stormlog,
    "TraceML": traceml,
    "TraceML confirmed": traceml_confirmed,
}
