// Mouse, fingers and keys on a chart.

function listen(chart) {
  const { root } = chart;
  // Where each pointer is, as a share of the axis; and the places that two fingers were put on.
  const pointers = new Map();
  let [brush, pinch] = [null, null];

  const shareAt = (event) => {
    const { box } = chart.scales;
    const bounds = chart.svg.getBoundingClientRect();
    const x = ((event.clientX - bounds.left) / bounds.width) * box.width;
    return Math.min(1, Math.max(0, (x - box.left) / (box.right - box.left)));
  };
  const placeOfShare = (share) => {
    const [from, to] = chart.seen();
    return from + share * (to - from);
  };
  const placeAt = (event) => placeOfShare(shareAt(event));

  root.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "mouse" && event.button !== 0) return;
    pointers.set(event.pointerId, shareAt(event));
    if (event.pointerType !== "touch") {
      brush = { from: placeAt(event), x: event.clientX };
      root.setPointerCapture(event.pointerId);
    } else if (pointers.size === 2) {
      pinch = [...pointers].map(([id, share]) => ({ id, place: placeOfShare(share) }));
    }
    chart.pointAt(placeAt(event));
  });

  root.addEventListener("pointermove", (event) => {
    if (pointers.has(event.pointerId)) pointers.set(event.pointerId, shareAt(event));
    if (pinch) return followPinch();
    if (!brush || Math.abs(event.clientX - brush.x) <= 4) return chart.pointAt(placeAt(event));
    chart.pointAt(null);
    chart.brushed = [brush.from, placeAt(event)];
  });

  // Two fingers keep the places they were put on.
  function followPinch() {
    const [one, other] = pinch;
    const [share, otherShare] = [pointers.get(one.id), pointers.get(other.id)];
    const length = (other.place - one.place) / (otherShare - share);
    if (Number.isFinite(length) && length > 0) chart.zoomTo(one.place - share * length, one.place + (1 - share) * length);
  }

  const release = (event) => {
    pointers.delete(event.pointerId);
    if (pointers.size < 2) pinch = null;
    const began = brush;
    brush = chart.brushed = null;
    chart.drawCursor();
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
