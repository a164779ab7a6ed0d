// Mouse, fingers and keys on a chart.

function listen(chart) {
  const { root } = chart;
  const fingers = new Map();
  let [brush, pinch] = [null, null];

  // Where on the axis the pointer is.
  const placeAt = (event) => {
    const { from, to, box } = chart.scales;
    const bounds = chart.svg.getBoundingClientRect();
    const x = ((event.clientX - bounds.left) / bounds.width) * box.width;
    const share = (x - box.left) / (box.right - box.left);
    return from + Math.min(1, Math.max(0, share)) * (to - from);
  };

  root.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "mouse" && event.button !== 0) return;
    fingers.set(event.pointerId, placeAt(event));
    if (event.pointerType !== "touch") {
      brush = { from: placeAt(event), x: event.clientX };
      root.setPointerCapture(event.pointerId);
    } else if (fingers.size === 2) {
      pinch = [...fingers.keys()].map((id) => ({ id, place: fingers.get(id) }));
    }
    chart.pointAt(placeAt(event));
  });

  root.addEventListener("pointermove", (event) => {
    if (pinch && fingers.has(event.pointerId)) return pinched(event);
    chart.pointAt(placeAt(event));
    if (brush && Math.abs(event.clientX - brush.x) > 4) paintBrush(chart, brush.from, placeAt(event));
  });

  const release = (event) => {
    fingers.delete(event.pointerId);
    if (fingers.size < 2) pinch = null;
    const began = brush;
    brush = null;
    paintBrush(chart);
    if (began && event.type === "pointerup" && Math.abs(event.clientX - began.x) > 4) {
      const ends = [began.from, placeAt(event)].sort((a, b) => a - b);
      chart.zoomTo(...ends);
    }
  };
  root.addEventListener("pointerup", release);
  root.addEventListener("pointercancel", release);
  root.addEventListener("pointerleave", (event) => {
    if (!brush && event.pointerType === "mouse") chart.pointAt(null);
  });
  root.addEventListener("dblclick", () => chart.reset());

  // Two fingers keep the places they were put on.
  function pinched(event) {
    const { from, to, box } = chart.scales;
    const bounds = chart.svg.getBoundingClientRect();
    const share = (e) => (((e.clientX - bounds.left) / bounds.width) * box.width - box.left) / (box.right - box.left);
    fingers.set(event.pointerId, placeAt(event));
    const shares = new Map(pinch.map(({ id }) => [id, (fingers.get(id) - from) / (to - from)]));
    shares.set(event.pointerId, share(event));
    const [a, b] = pinch;
    const apart = shares.get(b.id) - shares.get(a.id);
    if (Math.abs(apart) < 0.02) return;
    const length = (b.place - a.place) / apart;
    if (length > 0) chart.zoomTo(a.place - shares.get(a.id) * length, a.place + (1 - shares.get(a.id)) * length);
  }

  // A wheel scrolls the page, as everywhere, unless the chart has been chosen.
  root.addEventListener("wheel", (event) => {
    const chosen = event.ctrlKey || event.metaKey || document.activeElement === root;
    if (!chosen || !event.deltaY) return;
    event.preventDefault();
    chart.zoomBy(Math.exp(Math.sign(event.deltaY) * Math.min(Math.abs(event.deltaY), 120) / 500), placeAt(event));
  }, { passive: false });

  const far = () => Math.max(1, Math.round(chart.data.runs[0].series[0].low.length / 20));
  const keys = {
    ArrowRight: (event) => (event.shiftKey ? chart.pan(0.2) : chart.step(1)),
    ArrowLeft: (event) => (event.shiftKey ? chart.pan(-0.2) : chart.step(-1)),
    PageDown: () => chart.step(far()),
    PageUp: () => chart.step(-far()),
    Home: () => { chart.cursor = null; chart.step(1); },
    End: () => { chart.cursor = null; chart.step(-1); },
    "+": () => chart.zoomBy(0.6),
    "=": () => chart.zoomBy(0.6),
    "-": () => chart.zoomBy(1 / 0.6),
    0: () => chart.reset(),
    Escape: () => { chart.pointAt(null); chart.reset(); },
  };
  root.addEventListener("keydown", (event) => {
    if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    keys[event.key](event);
  });
}

function paintBrush(chart, from, to) {
  if (chart.brush) chart.brush.remove();
  if (from === undefined) return;
  const { toX, box, bottom } = chart.scales;
  const [left, right] = [toX(from), toX(to)].sort((a, b) => a - b);
  chart.brush = svg("rect", { class: "brush", x: left, y: box.top - 8, width: right - left, height: bottom - box.top + 8 });
  chart.svg.append(chart.brush);
}
