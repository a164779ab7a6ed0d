// The page of one run: its chart with its buttons, the CSV, the theme.

const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId("data").textContent);

function button(text, pressed, act) {
  const element = html("button", { type: "button" }, text);
  if (pressed !== null) element.setAttribute("aria-pressed", pressed);
  element.addEventListener("click", act);
  return element;
}

// A button that says on or off, now and whenever the chart has changed.
function toggle(text, isOn, act, states) {
  const element = button(text, isOn(), act);
  states.push(() => element.setAttribute("aria-pressed", isOn()));
  return element;
}

function group(label, ...children) {
  const element = html("div", { class: "buttons", role: "group", "aria-label": label });
  element.append(...children);
  return element;
}

function buildControls(chart, states) {
  const place = byId("controls");
  if (chart.axes.length > 1) {
    const names = { x: `${data.x_unit[0].toUpperCase()}${data.x_unit.slice(1)}s`, t: "Time" };
    place.append(group("Axis", ...chart.axes.map((axis) => toggle(names[axis], () => chart.axis === axis, () => chart.setAxis(axis), states))));
  }
  const zoomIn = button("+", null, () => chart.zoomBy(0.6));
  const zoomOut = button("−", null, () => chart.zoomBy(1 / 0.6));
  const all = button("All", null, () => chart.reset());
  zoomIn.setAttribute("aria-label", "Zoom in");
  zoomOut.setAttribute("aria-label", "Zoom out");
  all.setAttribute("aria-label", "Show the whole run");
  states.push(() => { zoomOut.disabled = all.disabled = !chart.view; });
  place.append(group("Zoom", zoomOut, zoomIn, all));
  const option = (text, name) => toggle(text, () => chart.options[name], () => chart.toggleOption(name), states);
  const options = [option("From zero", "zero"), option("Lines", "marks")];
  options[1].title = "The limit, the level, the fitted growth and where it began";
  if (data.runs.some((run) => run.marks.forecast)) options.push(option("Forecast", "forecast"));
  place.append(group("Options", ...options));
}

const GROUPS = [["Whole", ["whole"]], ["Roles", ["role"]], ["Kinds", ["kind"]], ["Inside", ["inside"]], ["GPU", ["gpu"]],
  ["Counts", ["tensors", "counts", "descriptors"]]];
const LANE_LABELS = { evaluation: "evaluations", checkpoint: "checkpoints", epoch: "epochs", named: "named events" };

function buildLegend(chart, states) {
  const place = byId("legend");
  data.runs.forEach((run, r) => {
    for (const [label, groups] of GROUPS) {
      const members = run.series.filter((series) => groups.includes(series.group));
      if (!members.length) continue;
      const name = [run.name, label].filter(Boolean).join(" ");
      const row = group(name);
      row.append(html("span", { class: "group-name", "aria-hidden": "true" }, name));
      place.append(row);
      for (const series of members) row.append(seriesButton(chart, series, r, states));
    }
  });
  const kinds = [...chart.lanes];
  if (!kinds.length) return;
  const row = group("Events");
  row.append(html("span", { class: "group-name", "aria-hidden": "true" }, "Events"));
  for (const kind of kinds) {
    const element = toggle("", () => chart.lanes.has(kind), () => chart.toggleLane(kind), states);
    element.className = `entry lane-${kind}`;
    element.append(html("i"), html("span", {}, LANE_LABELS[kind]));
    row.append(element);
  }
  place.append(row);
}

function seriesButton(chart, series, r, states) {
  const element = toggle("", () => chart.shown.has(`${r}:${series.name}`), () => chart.toggle(r, series.name), states);
  element.className = `entry ${lookOf(series, data.runs[r], data.runs.length)}`;
  element.dataset.series = series.name;
  element.append(html("i"), html("span", {}, series.label));
  return element;
}

// The CSV: a line for each point of the chart.

function csvOf(runs) {
  const tables = runs.map(columnsOf);
  // Runs may know different series; what one does not know is empty in its rows.
  const names = [...new Set(tables.flatMap((columns) => columns.map(([name]) => name)))];
  const several = runs.length > 1;
  const lines = [[...(several ? ["run"] : []), ...names].join(",")];
  runs.forEach((run, r) => {
    const columns = new Map(tables[r]);
    for (let i = 0; i < run.series[0].low.length; i++) {
      const cells = names.map((name) => columns.get(name)?.[i] ?? "");
      lines.push([...(several ? [run.name] : []), ...cells].join(","));
    }
  });
  return `${lines.join("\n")}\n`;
}

function columnsOf(run) {
  const columns = [];
  if (run.x) columns.push(["x", run.x.low]);
  if (run.t) columns.push(["t_s", run.t.low]);
  for (const { name, unit, low, high } of run.series) {
    const end = unit === "bytes" ? "_bytes" : "";
    if (high) columns.push([`${name}_low${end}`, low], [`${name}_high${end}`, high]);
    else columns.push([`${name}${end}`, low]);
  }
  return columns;
}

function download(text, name) {
  const url = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  const link = html("a", { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

function buildDownload() {
  byId("csv").addEventListener("click", () => {
    download(csvOf(data.runs), "leveloff.csv");
    const stride = Math.max(...data.runs.map((run) => run.stride));
    const rows = data.runs.reduce((sum, run) => sum + run.series[0].low.length, 0);
    const folded = stride > 1 ? `; each stands for up to ${thousands(stride)} samples, lowest and highest` : "";
    byId("csv-done").textContent = `${thousands(rows)} rows${folded}`;
  });
}

// Light and dark follow the system until somebody chooses.
function buildTheme() {
  const page = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (page.dataset.theme ? page.dataset.theme === "dark" : system.matches);
  const show = () => { byId("theme").textContent = isDark() ? "Light" : "Dark"; };
  byId("theme").addEventListener("click", () => {
    const wanted = isDark() ? "light" : "dark";
    if ((wanted === "dark") === system.matches) delete page.dataset.theme;
    else page.dataset.theme = wanted;
    show();
  });
  system.addEventListener("change", show);
  show();
}

// Paper cannot be unfolded.
function openForPaper() {
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    for (const element of opened) element.open = true;
  });
  addEventListener("afterprint", () => {
    for (const element of opened) element.open = false;
  });
}

for (const element of document.querySelectorAll(".js")) element.hidden = false;
buildTheme();
buildDownload();
openForPaper();
if (data.runs.every((run) => run.series.length && (run.x || run.t))) {
  const states = [];
  const chart = new Chart(byId("chart"), data, `Memory over the run: ${document.querySelector("h1").textContent}`);
  buildControls(chart, states);
  buildLegend(chart, states);
  chart.changed = () => states.forEach((update) => update());
  listen(chart);
  chart.draw();
} else {
  byId("chart").textContent = "There is nothing to draw.";
}
