// The chart: any number of runs over one axis, memory above, what is counted in small charts below it.
//
// It is an SVG and no canvas: sharp in print and on every screen, coloured by the page's own style (so
// that a change from light to dark, or to paper, needs no redrawing), and open to tests. What makes SVG
// slow is many points; curves are folded to columns of pixels first, and redrawn once a frame at most.

const PANELS = [
  { id: "memory", groups: ["whole", "role", "kind", "inside"], label: "", unit: "bytes" },
  { id: "gpu", groups: ["gpu"], label: "GPU", unit: "bytes" },
  { id: "tensors", groups: ["tensors"], label: "live tensors", unit: "count" },
  { id: "counts", groups: ["counts"], label: "counted inside", unit: "count" },
  { id: "descriptors", groups: ["descriptors"], label: "open descriptors", unit: "count" },
];
const LANES = ["evaluation", "checkpoint", "epoch", "named"];
const LANE_NAMES = { evaluation: "eval", checkpoint: "save", epoch: "epoch", named: "event" };
const SVG = "http://www.w3.org/2000/svg";

function svg(tag, attributes, text) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes || {})) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

function html(tag, attributes, text) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

// A single run has a colour for each series; of several, those of one family have the same.
function lookOf(series, run, runCount) {
  return runCount > 1 ? `s s-${series.name} run-${run.family}` : `s s-${series.name}`;
}

class Chart {
  // `data` has `x_unit` and `runs`; `label` says in a sentence what is seen.
  constructor(root, data, label) {
    this.data = data;
    this.root = root;
    this.number = Chart.made = (Chart.made || 0) + 1;
    const runs = data.runs;
    this.axes = ["x", "t"].filter((axis) => runs.every((run) => run[axis]));
    this.axis = this.axes[0];
    this.shown = new Set();
    runs.forEach((run, r) => run.series.forEach((series) => series.shown && this.shown.add(`${r}:${series.name}`)));
    this.lanes = new Set(LANES.filter((kind) => runs.some((run) => run.events.some((event) => event.kind === kind))));
    this.options = { zero: this.wantsZero(), forecast: this.wantsForecast(), marks: true };
    this.view = null;
    this.cursor = null;
    this.build(label);
    this.changed = () => {};
    new ResizeObserver(() => this.draw()).observe(root);
    this.paint();
  }

  build(label) {
    this.svg = svg("svg", { role: "img", "aria-label": label });
    // A drawing of its own above the other: the curves are not drawn again when the cursor moves.
    this.over = svg("svg", { class: "over", "aria-hidden": "true" });
    this.tip = html("div", { class: "tip", hidden: "" });
    this.live = html("div", { class: "sr", "aria-live": "polite" });
    this.root.tabIndex = 0;
    this.root.setAttribute("role", "application");
    this.root.setAttribute("aria-label", "Chart of memory: arrow keys move along the run");
    this.root.append(this.svg, this.over, this.tip, this.live);
  }

  // What the user may change.

  setAxis(axis) {
    if (axis === this.axis) return;
    const run = this.data.runs[0];
    const kept = this.cursor;
    [this.axis, this.view, this.cursor] = [axis, null, null];
    this.draw();
    if (kept) this.pointAt(kept.run === 0 ? this.middle(run, kept.span) : null);
  }

  toggle(run, name) {
    const key = `${run}:${name}`;
    if (!this.shown.delete(key)) this.shown.add(key);
    this.draw();
  }

  toggleLane(kind) {
    if (!this.lanes.delete(kind)) this.lanes.add(kind);
    this.draw();
  }

  toggleOption(name) {
    this.options[name] = !this.options[name];
    this.draw();
  }

  zoomTo(from, to) {
    const [first, last] = this.whole();
    // No further in than a few samples, no further out than everything.
    const least = (last - first) / Math.max(16, this.data.runs[0].series[0].low.length / 3);
    let length = Math.max(to - from, least);
    if (length >= (last - first) * 0.999) return this.reset();
    const start = Math.min(Math.max((from + to - length) / 2, first), last - length);
    this.view = [start, start + length];
    this.draw();
  }

  // Less than 1 zooms in; `around` stays where it is.
  zoomBy(factor, around) {
    const [from, to] = this.seen();
    const at = around === undefined ? (this.cursor ? this.cursor.place : (from + to) / 2) : around;
    this.zoomTo(at - (at - from) * factor, at + (to - at) * factor);
  }

  pan(share) {
    const [from, to] = this.seen();
    const by = (to - from) * share;
    const [first, last] = this.whole();
    const start = Math.min(Math.max(from + by, first), last - (to - from));
    if (this.view) this.zoomTo(start, start + to - from);
  }

  reset() {
    this.view = null;
    this.draw();
  }

  // The cursor: nothing, or the span of the first run that is nearest to a place.
  pointAt(place) {
    const run = this.data.runs[0];
    const span = place === null || Number.isNaN(place) ? -1 : nearestSpan(this.places(0), place);
    this.cursor = span < 0 ? null : { run: 0, span, place: this.middle(run, span) };
    this.drawCursor();
  }

  // To a neighbour that can be seen.
  step(by) {
    const places = this.places(0);
    const [from, to] = this.seen();
    const isSeen = (i) => places.high[i] >= from && places.low[i] <= to;
    let span = this.cursor ? this.cursor.span + by : by > 0 ? 0 : places.low.length - 1;
    const way = by > 0 ? 1 : -1;
    if (!this.cursor || !isSeen(span)) {
      const first = by > 0 === !this.cursor;
      const all = [...places.low.keys()].filter(isSeen);
      if (!all.length) return;
      if (!this.cursor || span < all[0] || span > all[all.length - 1]) span = first ? all[0] : all[all.length - 1];
    }
    while (span >= 0 && span < places.low.length && Number.isNaN(places.low[span])) span += way;
    if (span < 0 || span >= places.low.length) return;
    this.cursor = { run: 0, span, place: this.middle(this.data.runs[0], span) };
    this.drawCursor();
    this.live.textContent = this.cursorInWords();
  }

  // Places.

  places(r) {
    const key = `${r}:${this.axis}`;
    this.known = this.known || new Map();
    if (!this.known.has(key)) this.known.set(key, spansOn(this.data.runs[r], this.axis));
    return this.known.get(key);
  }

  middle(run, span) {
    const places = this.places(this.data.runs.indexOf(run));
    return (places.low[span] + places.high[span]) / 2;
  }

  // A count of the verdict on the axis that is shown.
  placeOf(run, x) {
    return this.axis === "x" || !run.x ? x : countToTime(run, x);
  }

  forecastPlace(run) {
    const { forecast } = run.marks;
    if (this.axis === "x" || !run.x) return forecast.at[0];
    const [, last] = extentOf(this.places(this.data.runs.indexOf(run)));
    return forecast.in_s === null ? countToTime(run, forecast.at[0]) : last + forecast.in_s;
  }

  whole() {
    let [from, to] = [Infinity, -Infinity];
    this.data.runs.forEach((run, r) => {
      const [first, last] = extentOf(this.places(r));
      [from, to] = [Math.min(from, first), Math.max(to, last)];
      if (this.options.forecast && run.marks.forecast) {
        const at = this.forecastPlace(run);
        if (Number.isFinite(at)) to = Math.max(to, at + (at - from) * 0.02);
      }
    });
    return from < to ? [from, to] : [from - 0.5, from + 0.5];
  }

  seen() {
    return this.view || this.whole();
  }

  // A forecast that would squeeze the run into less than a third of the chart waits to be asked for.
  wantsForecast() {
    return this.data.runs.some((run, r) => {
      if (!run.marks.forecast) return false;
      const [from, to] = extentOf(this.places(r));
      return this.forecastPlace(run) - to <= 2 * (to - from);
    });
  }

  // Zero is a good place to begin unless it hides what the run does.
  wantsZero() {
    const whole = [-Infinity, Infinity];
    return this.data.runs.some((run, r) => {
      const [low, high] = reachWithin(this.places(r), run.series[0], whole);
      return low < high * 0.8 || high - low < high * 0.02;
    });
  }

  *shownSeries(panel) {
    for (const [r, run] of this.data.runs.entries())
      for (const series of run.series)
        if (panel.groups.includes(series.group) && this.shown.has(`${r}:${series.name}`)) yield { run, r, series };
  }

  // Drawing.

  // In the next frame, however often it is asked for.
  draw() {
    this.stale = true;
    this.drawCursor();
  }

  drawCursor() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = null;
      if (this.stale) this.paint();
      else this.paintCursor();
    });
  }

  paint() {
    this.stale = false;
    const width = Math.max(280, this.root.clientWidth || 900);
    const narrow = width < 560;
    const box = { left: narrow ? 54 : 64, right: width - 14, top: 26, width };
    const [from, to] = this.seen();
    const toX = (place) => box.left + ((place - from) / (to - from)) * (box.right - box.left);
    const panels = PANELS.filter((panel) => panel.id === "memory" || [...this.shownSeries(panel)].length);
    const parts = [];
    let top = box.top;
    this.scales = { toX, from, to, box, panels: [] };
    for (const panel of panels) {
      const height = panel.id === "memory" ? (narrow ? 230 : 340) : 70;
      parts.push(this.paintPanel(panel, { ...box, top, bottom: top + height }));
      top += height + (panel.id === "memory" ? 8 : 4);
      if (panel.id === "memory") top = this.paintLanes(parts, top) + (panels.length > 1 ? 18 : 0);
      else top += 18;
    }
    if (panels.length > 1) top -= 18;
    parts.push(this.paintPlaces(top, narrow));
    const height = top + 38;
    this.scales.bottom = top;
    for (const drawing of [this.svg, this.over]) drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.svg.replaceChildren(...parts);
    this.paintCursor();
    this.changed();
  }

  paintPanel(panel, box) {
    const group = svg("g", { class: `panel panel-${panel.id}` });
    const [low, high] = this.reachOf(panel);
    const toY = (value) => box.bottom - ((value - low) / (high - low)) * (box.bottom - box.top);
    const ticks = (panel.unit === "bytes" ? bytesTicks : countTicks)(low, high, panel.id === "memory" ? 6 : 3);
    for (const { at, text } of ticks) {
      const y = toY(at).toFixed(1);
      group.append(svg("line", { class: "grid", x1: box.left, x2: box.right, y1: y, y2: y }));
      group.append(svg("text", { class: "tick", x: box.left - 7, y, dy: "0.32em", "text-anchor": "end" }, text));
    }
    const clip = `clip-${panel.id}-${this.number}`;
    const area = svg("clipPath", { id: clip });
    area.append(svg("rect", { x: box.left, y: box.top - 4, width: box.right - box.left, height: box.bottom - box.top + 6 }));
    const curves = svg("g", { "clip-path": `url(#${clip})` });
    for (const { r, series } of [...this.shownSeries(panel)].reverse()) curves.append(this.curve(series, r, toY));
    group.append(area, curves);
    if (panel.label) group.append(svg("text", { class: "panel-label", x: box.left, y: box.top - 5 }, panel.label));
    if (panel.id === "memory" && this.options.marks) this.paintMarks(group, curves, box, toY, high);
    this.scales.panels.push({ panel, box, toY });
    return group;
  }

  curve(series, r, toY) {
    const { toX, from, to } = this.scales;
    const group = svg("g", { class: lookOf(series, this.data.runs[r], this.data.runs.length), "data-series": series.name });
    const { line, band } = pathsOf(stretches(this.places(r), series, toX, [from, to]), toY);
    if (band) group.append(svg("path", { class: "band", d: band }));
    group.append(svg("path", { class: "line", d: line }));
    return group;
  }

  reachOf(panel) {
    const view = [this.scales.from, this.scales.to];
    let [low, high] = [Infinity, -Infinity];
    const take = (a, b) => ([low, high] = [Math.min(low, a), Math.max(high, b)]);
    for (const { r, series } of this.shownSeries(panel)) take(...reachWithin(this.places(r), series, view));
    if (low > high) [low, high] = [0, 1];
    if (panel.id === "memory") {
      for (const { marks } of this.data.runs) {
        const forecast = this.options.forecast && this.options.marks && marks.forecast;
        if (forecast && !this.view) take(low, forecast.at[1]);
        // A limit that is near is part of the picture, a far one would press the curve flat.
        else if (this.options.marks && marks.limit && marks.limit.y < high * 1.5) take(low, marks.limit.y);
      }
    }
    const fromZero = panel.unit === "bytes" ? this.options.zero || low < high * 0.25 : low < high * 0.5;
    const room = Math.max((high - low) * 0.06, high * 0.01, 1e-9);
    return [fromZero ? 0 : Math.max(0, low - room), high + room];
  }

  paintMarks(group, curves, box, toY, high) {
    const { toX, from, to } = this.scales;
    const several = this.data.runs.length > 1;
    this.data.runs.forEach((run, r) => {
      const { limit, level, growth, forecast, since } = run.marks;
      const family = several ? ` run-${run.family}` : "";
      const straight = (kind, [x1, y1], [x2, y2]) => {
        const d = `M${toX(x1).toFixed(1)} ${toY(y1).toFixed(1)}L${toX(x2).toFixed(1)} ${toY(y2).toFixed(1)}`;
        curves.append(svg("path", { class: `mark ${kind}${family}`, d }));
      };
      const at = ([x, y]) => [this.placeOf(run, x), y];
      if (level) straight("level-line", at(level.from), at(level.to));
      if (growth) straight("growth-line", at(growth.from), at(growth.to));
      if (forecast && this.options.forecast) {
        const end = [this.forecastPlace(run), forecast.at[1]];
        straight("forecast-line", growth ? at(growth.to) : this.newest(run), end);
        if (end[0] <= to) group.append(svg("circle", { class: "mark forecast-end", cx: toX(end[0]).toFixed(1), cy: toY(end[1]).toFixed(1), r: 3.5 }));
      }
      if (limit && r === 0) this.paintLimit(group, limit, box, toY, high);
      if (since && !several) this.paintSince(group, since, this.placeOf(run, since.x), box, toX, from, to);
    });
  }

  paintLimit(group, limit, box, toY, high) {
    const above = limit.y > high;
    const y = above ? box.top : toY(limit.y);
    if (!above) group.append(svg("line", { class: "mark limit-line", x1: box.left, x2: box.right, y1: y.toFixed(1), y2: y.toFixed(1) }));
    const text = above ? `↑ ${limit.label}` : limit.label;
    group.append(svg("text", { class: "mark-label limit-label", x: box.right, y: (above ? y + 9 : y - 5).toFixed(1), "text-anchor": "end" }, text));
  }

  paintSince(group, since, place, box, toX, from, to) {
    if (!(place >= from && place <= to)) return;
    const x = toX(place);
    const toLeft = x > (box.left + box.right) / 2;
    group.append(svg("line", { class: "mark since-line", x1: x.toFixed(1), x2: x.toFixed(1), y1: box.top - 18, y2: box.bottom }));
    group.append(svg("text", { class: "mark-label", x: (x + (toLeft ? -5 : 5)).toFixed(1), y: box.top - 10, "text-anchor": toLeft ? "end" : "start" }, since.label));
  }

  newest(run) {
    const r = this.data.runs.indexOf(run);
    const { low, high } = run.series[0];
    return [extentOf(this.places(r))[1], (high || low)[low.length - 1]];
  }

  // A lane for each kind of event, right below the curves that it may explain.
  paintLanes(parts, top) {
    const { toX, from, to, box } = this.scales;
    for (const kind of LANES.filter((kind) => this.lanes.has(kind))) {
      const places = this.data.runs.flatMap((run) =>
        run.events.filter((event) => event.kind === kind && event[this.axis] !== null).map((event) => event[this.axis]));
      const columns = new Set(places.filter((at) => at >= from && at <= to).map((at) => Math.round(toX(at))));
      const group = svg("g", { class: `lane lane-${kind}` });
      group.append(svg("text", { class: "lane-label", x: box.left - 7, y: top + 5, dy: "0.3em", "text-anchor": "end" }, LANE_NAMES[kind]));
      group.append(svg("path", { class: "events", d: [...columns].map((x) => `M${x}.5 ${top + 1}v8`).join("") }));
      parts.push(group);
      top += 12;
    }
    return top;
  }

  paintPlaces(top, narrow) {
    const { toX, from, to, box } = this.scales;
    const group = svg("g", { class: "places" });
    group.append(svg("line", { class: "base", x1: box.left, x2: box.right, y1: top, y2: top }));
    for (const { at, text } of placeTicks(this.axis, this.data.x_unit, from, to, narrow ? 4 : 8)) {
      const x = toX(at).toFixed(1);
      group.append(svg("line", { class: "base", x1: x, x2: x, y1: top, y2: top + 4 }));
      group.append(svg("text", { class: "tick", x, y: top + 17, "text-anchor": "middle" }, text));
    }
    const name = this.axis === "t" ? "time since the start" : this.data.x_unit;
    group.append(svg("text", { class: "axis-name", x: box.right, y: top + 33, "text-anchor": "end" }, name));
    return group;
  }

  // What is under the cursor.

  valuesAtCursor() {
    const { place } = this.cursor;
    const values = [];
    for (const { panel, toY } of this.scales.panels)
      for (const { run, r, series } of this.shownSeries(panel)) {
        const span = r === 0 ? this.cursor.span : nearestSpan(this.places(r), place);
        const low = span < 0 ? null : series.low[span];
        if (low === null) continue;
        const high = (series.high || series.low)[span];
        values.push({ run, r, series, low, high, y: [toY(low), toY(high)] });
      }
    return values;
  }

  eventsAtCursor() {
    const { toX } = this.scales;
    const x = toX(this.cursor.place);
    const near = (event) => this.lanes.has(event.kind) && event[this.axis] !== null && Math.abs(toX(event[this.axis]) - x) <= 4;
    const names = this.data.runs.flatMap((run) => run.events.filter(near).map((event) => event.label));
    return [...new Set(names)].slice(0, 4);
  }

  cursorTitle() {
    const run = this.data.runs[0];
    const { span } = this.cursor;
    const parts = this.axes.map((axis) => [axis, run[axis]]).filter(([, column]) => column.low[span] !== null)
      .map(([axis, column]) => placeInWords(axis, this.data.x_unit, (column.high || column.low)[span]));
    return parts.join(" · ");
  }

  cursorInWords() {
    const several = this.data.runs.length > 1;
    const values = this.valuesAtCursor().map(({ run, series, low, high }) =>
      `${several ? `${run.name} ` : ""}${series.label} ${reachInWords(series.unit, low, high)}`);
    return [this.cursorTitle(), ...values, ...this.eventsAtCursor()].join(", ");
  }

  paintCursor() {
    const { toX, from, to, box, bottom } = this.scales;
    const marks = [];
    const seen = this.cursor && this.cursor.place >= from && this.cursor.place <= to;
    this.tip.hidden = !seen;
    if (!seen) return this.over.replaceChildren(...this.brush());
    const x = toX(this.cursor.place);
    marks.push(svg("line", { class: "cursor", x1: x.toFixed(1), x2: x.toFixed(1), y1: box.top - 8, y2: bottom }));
    const values = this.valuesAtCursor();
    for (const { series, r, y } of values) {
      const group = svg("g", { class: lookOf(series, this.data.runs[r], this.data.runs.length) });
      if (y[0] - y[1] > 1) group.append(svg("line", { class: "line", x1: x, x2: x, y1: y[0], y2: y[1] }));
      group.append(svg("circle", { class: "dot", cx: x.toFixed(1), cy: y[1].toFixed(1), r: 3 }));
      marks.push(group);
    }
    this.over.replaceChildren(...marks);
    this.paintTip(values, x);
  }

  // What is being chosen by a drag.
  brush() {
    if (!this.brushed) return [];
    const { toX, box, bottom } = this.scales;
    const [left, right] = this.brushed.map(toX).sort((a, b) => a - b);
    return [svg("rect", { class: "brush", x: left, y: box.top - 8, width: right - left, height: bottom - box.top + 8 })];
  }

  paintTip(values, x) {
    const several = this.data.runs.length > 1;
    const rows = values.map(({ run, r, series, low, high }) => {
      const row = html("div", { class: `row ${lookOf(series, this.data.runs[r], this.data.runs.length)}` });
      row.append(html("i"), html("span", {}, several ? `${run.name} ${series.label}` : series.label));
      row.append(html("b", {}, reachInWords(series.unit, low, high)));
      return row;
    });
    const events = this.eventsAtCursor().map((name) => html("div", { class: "event" }, name));
    this.tip.replaceChildren(html("div", { class: "title" }, this.cursorTitle()), ...rows, ...events);
    // The drawing is scaled to the page, its place with it.
    const scale = this.root.clientWidth / this.scales.box.width;
    const left = x * scale > this.root.clientWidth / 2 ? x * scale - this.tip.offsetWidth - 14 : x * scale + 14;
    this.tip.style.left = `${Math.max(0, Math.min(left, this.root.clientWidth - this.tip.offsetWidth))}px`;
  }
}
