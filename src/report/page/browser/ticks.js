const niceStep = (span, parts) => {
  const raw = span / parts;
  const power = 10 ** Math.floor(Math.log10(raw));
  return power * [1, 2, 2.5, 5, 10].find((m) => m * power >= raw * 0.999);
};
function timeTicks(from, to, parts) {
  const [name, size] = unitOf(to - from);
  const step = niceStep((to - from) / size, parts);
  const ticks = [];
  // Far from the beginning of a run a number of minutes says little.
  const far = to > 20 * (to - from);
  for (let v = Math.ceil(from / size / step) * step; v <= to / size + 1e-9; v += step) {
    ticks.push([v * size, far ? momentIn(v * size, from, to, step * size) : `${+v.toFixed(6)} ${name}`]);
  }
  return ticks;
}
function lengthTicks(from, to, width) {
  const all = [[.001, '1 ms'], [.01, '10 ms'], [.1, '0.1 s'], [1, '1 s'], [3, '3 s'], [10, '10 s'], [30, '30 s'], [60, '1 min'],
    [180, '3 min'], [600, '10 min'], [1800, '30 min'], [3600, '1 h'], [10800, '3 h'], [36000, '10 h'], [86400, '1 d'], [259200, '3 d'],
    [864000, '10 d'], [2592000, '30 d'], [8640000, '100 d'], [86400000, '1000 d']];
  const kept = [];
  for (const tick of all) {
    if (tick[0] < from || tick[0] > to) continue;
    const gap = kept.length ? Math.log(tick[0] / kept.at(-1)[0]) / Math.log(to / from) * width : Infinity;
    if (gap > 56) kept.push(tick);
  }
  return kept;
}
function valueTicks(top, show) {
  const step = niceStep(top, 4);
  const ticks = [];
  for (let v = 0; v <= top + step * 1e-6; v += step) ticks.push([v, show(v)]);
  return ticks;
}
function numberTicks(from, to, parts) {
  const step = niceStep(to - from, parts);
  const ticks = [];
  for (let v = Math.ceil(from / step) * step; v <= to + step * 1e-6; v += step) ticks.push([v, `${+v.toPrecision(6)}`]);
  return ticks;
}
