// From spans to what is drawn: a run's places on an axis, and its curves folded into columns of pixels.

// Where each span of a run begins and ends on an axis. NaN where it was not counted.
function spansOn(run, axis) {
  const column = run[axis];
  const number = (value) => (value === null ? NaN : value);
  const low = Float64Array.from(column.low, number);
  return { low, high: column.high ? Float64Array.from(column.high, number) : low };
}

function extentOf({ low, high }) {
  let [from, to] = [Infinity, -Infinity];
  for (let i = 0; i < low.length; i++) {
    if (low[i] < from) from = low[i];
    if (high[i] > to) to = high[i];
  }
  return from <= to ? [from, to] : [0, 1];
}

// The span that is nearest to a place; -1 when there is none.
function nearestSpan({ low, high }, place) {
  let [best, distance] = [-1, Infinity];
  for (let i = 0; i < low.length; i++) {
    const away = Math.max(low[i] - place, place - high[i], 0);
    // Of those that are equally near, the one whose middle is.
    const score = away + Math.abs((low[i] + high[i]) / 2 - place) * 1e-6;
    if (score < distance) [best, distance] = [i, score];
  }
  return best;
}

// A count on the time axis, as far as the run got; beyond its end by its pace.
function countToTime(run, x) {
  const [counts, times] = [run.x, run.t];
  if (!counts || !times) return NaN;
  let before = -1;
  for (let i = 0; i < counts.low.length; i++) {
    const at = counts.low[i];
    if (at === null || times.low[i] === null) continue;
    if (at >= x) {
      if (before < 0 || at === x) return times.low[i];
      const share = (x - counts.low[before]) / (at - counts.low[before]);
      return times.low[before] + share * (times.low[i] - times.low[before]);
    }
    before = i;
  }
  return before < 0 ? NaN : times.low[before] + (x - counts.low[before]) * (run.pace || NaN);
}

// Wide enough that a chart of many long curves is still drawn in time, too narrow to be seen.
const COLUMN = 1.5;

// Stretches of a curve between places where it is not known. Neighbours in one column of pixels are one
// point, from their lowest to their highest: a screen cannot show more, and no spike is lost.
function stretches(places, series, toX, [from, to]) {
  const all = [];
  let [stretch, point] = [null, null];
  const { low } = series;
  const high = series.high || low;
  for (let i = 0; i < low.length; i++) {
    const place = (places.low[i] + places.high[i]) / 2;
    if (low[i] === null || Number.isNaN(place)) {
      if (low[i] === null) stretch = null;
      continue;
    }
    // One point beyond each end, so that the line leads out of the view.
    if ((i + 1 < low.length && places.high[i + 1] < from) || (i > 0 && places.low[i - 1] > to)) continue;
    const x = toX(place);
    const column = Math.floor(x / COLUMN);
    if (stretch && column === point.column) {
      point.low = Math.min(point.low, low[i]);
      point.high = Math.max(point.high, high[i]);
      continue;
    }
    if (!stretch || x < point.x) all.push((stretch = []));
    point = { x, column, low: low[i], high: high[i] };
    stretch.push(point);
  }
  return all;
}

// The line (both edges, where they differ) and the band between them, as paths.
function pathsOf(all, toY) {
  const [line, band] = [[], []];
  const tenth = (value) => Math.round(value * 10) / 10;
  const write = (x, y) => `${tenth(x)} ${tenth(y)}`;
  for (const stretch of all) {
    const highs = stretch.map((p) => write(p.x, toY(p.high)));
    const lows = stretch.map((p) => write(p.x, toY(p.low)));
    // A single point would be a line of no length.
    line.push(`M${highs.join("L")}${stretch.length === 1 ? "h.1" : ""}`);
    if (stretch.some((p) => p.low !== p.high)) {
      line.push(`M${lows.join("L")}`);
      band.push(`M${highs.join("L")}L${lows.reverse().join("L")}Z`);
      // A spike is one column wide.
      if (stretch.length === 1) line.push(`M${highs[0]}L${lows[0]}`);
    }
  }
  return { line: line.join(""), band: band.join("") };
}

// How far the shown curves reach within a view.
function reachWithin(places, series, [from, to]) {
  let [least, most] = [Infinity, -Infinity];
  const high = series.high || series.low;
  for (let i = 0; i < series.low.length; i++) {
    if (series.low[i] === null || !(places.high[i] >= from && places.low[i] <= to)) continue;
    if (series.low[i] < least) least = series.low[i];
    if (high[i] > most) most = high[i];
  }
  return [least, most];
}
