// Amounts, counts and places in words, as the rest of the page writes them, and round numbers for axes.

const UNITS = [["TiB", 2 ** 40], ["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10], ["B", 1]];

// The largest unit of which there is one.
function unitOf(bytes) {
  return UNITS.find(([, size]) => Math.abs(bytes) >= size) || UNITS[UNITS.length - 1];
}

// Under a cursor people compare neighbours, so there is a digit more than in the text.
function bytesInWords(bytes) {
  const [name, size] = unitOf(bytes);
  const decimals = name === "B" || name === "KiB" ? 0 : name === "MiB" ? 1 : 2;
  return `${(bytes / size).toFixed(decimals)} ${name}`;
}

function thousands(count) {
  return Math.round(count).toString().replace(/\B(?=(\d{3})+$)/g, ",");
}

function amountInWords(unit, value) {
  return unit === "bytes" ? bytesInWords(value) : thousands(value);
}

function reachInWords(unit, low, high) {
  const [from, to] = [amountInWords(unit, low), amountInWords(unit, high)];
  if (from === to) return to;
  const [number, name] = from.split(" ");
  return name && to.endsWith(` ${name}`) ? `${number} … ${to}` : `${from} … ${to}`;
}

function timeInWords(seconds) {
  const s = Math.max(0, Math.round(seconds));
  const [minute, hour, day] = [60, 3600, 86400];
  const two = (n) => String(n).padStart(2, "0");
  if (s < minute) return `${seconds < 10 ? seconds.toFixed(1) : s} s`;
  if (s < hour) return `${Math.floor(s / minute)}:${two(s % minute)} min`;
  if (s < day) return `${Math.floor(s / hour)}:${two(Math.floor((s % hour) / minute))} h`;
  return `${Math.floor(s / day)} d ${Math.floor((s % day) / hour)} h`;
}

function placeInWords(axis, xUnit, value) {
  if (axis === "t") return timeInWords(value);
  const number = xUnit === "epoch" ? value.toFixed(2).replace(/\.?0+$/, "") : thousands(value);
  return `${xUnit} ${number}`;
}

// The smallest of `steps`, times a power of `base`, that is not below `least`.
function roundStep(least, steps, base) {
  const power = base ** Math.floor(Math.log(least) / Math.log(base));
  return [...steps, base].map((step) => step * power).find((step) => step >= least * 0.999) || power * base;
}

function multiples(step, from, to) {
  const ticks = [];
  for (let i = Math.ceil(from / step - 1e-9); i * step <= to * (1 + 1e-12) + 1e-9; i++) ticks.push(i * step);
  return ticks;
}

// All in one unit, so that only the highest needs to name it.
function bytesTicks(from, to, wanted) {
  const [name, size] = unitOf(Math.max(Math.abs(from), Math.abs(to), 1));
  const span = (to - from) / size;
  const step = roundStep(span / wanted, span < 10 ? [1, 2, 2.5, 5] : [1, 2, 4, 5, 8], 10);
  const decimals = Math.max(0, Math.min(4, Math.ceil(-Math.log10(step) + (/^[^1]*25/.test(step.toPrecision(2)) ? 1 : 0))));
  const ticks = multiples(step, from / size, to / size);
  return ticks.map((tick) => ({ at: tick * size, text: tick === 0 ? "0" : `${tick.toFixed(decimals)} ${name}` }));
}

function countTicks(from, to, wanted) {
  const step = Math.max(1, roundStep(Math.max((to - from) / wanted, 1e-9), [1, 2, 5], 10));
  return multiples(step, from, to).map((tick) => ({ at: tick, text: thousands(tick) }));
}

function placeTicks(axis, xUnit, from, to, wanted) {
  const least = Math.max((to - from) / wanted, 1e-9);
  if (axis === "x") {
    const step = xUnit === "epoch" ? roundStep(least, [1, 2, 5], 10) : Math.max(1, roundStep(least, [1, 2, 5], 10));
    const text = (tick) => (step < 1 ? tick.toFixed(Math.ceil(-Math.log10(step))) : thousands(tick));
    return multiples(step, from, to).map((tick) => ({ at: tick, text: text(tick) }));
  }
  const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400];
  const step = least <= 1 ? roundStep(least, [1, 2, 5], 10) : steps.find((s) => s >= least) || roundStep(least, [86400, 172800, 432000], 864000);
  return multiples(step, from, to).map((tick) => ({ at: tick, text: tickTime(tick, step) }));
}

function tickTime(tick, step) {
  if (tick === 0) return "0";
  if (step < 1) return `${tick.toFixed(Math.ceil(-Math.log10(step)))} s`;
  if (step >= 86400) return `${Math.round(tick / 86400)} d`;
  if (tick < 60 || (step < 60 && tick < 120)) return `${Math.round(tick)} s`;
  return timeInWords(tick);
}
