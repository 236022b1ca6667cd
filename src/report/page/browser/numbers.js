// Numbers and times.
const three = (v) => { const a = Math.abs(v); return v.toFixed(a < 9.995 ? 2 : a < 99.95 ? 1 : 0); };
const units = [['d', 86400, 172800], ['h', 3600, 7200], ['min', 60, 120], ['s', 1, 0]];
const unitOf = (v) => units.find((unit) => Math.abs(v) >= unit[2]);
// One unit for a whole column: that of the longest, or a smaller one in which the shortest does not vanish.
const duration = (v, longest, shortest) => {
  if (v === null || v === undefined) return '–';
  let unit = unitOf(longest || v);
  while (unit[2] > 0 && (shortest || v) < unit[1] / 10) unit = units[units.indexOf(unit) + 1];
  return `${three(v / unit[1])} ${unit[0]}`;
};
const percent = (v) => v === null || v === undefined ? '–' : `${(v * 100).toFixed(1)} %`;
const count = (v) => v === null || v === undefined ? '–' : Math.round(v).toLocaleString('en').replace(/,/g, '\u202f');
const decimal = (v) => v === null || v === undefined ? '–' : v >= 1000 ? count(v) : three(v);
const clock = (v, span) => {
  const [name, size] = unitOf(span);
  return `${+(v / size).toFixed(span / size < 20 ? 2 : 1)} ${name}`;
};
// A time within the part of a run that is shown: in the unit of its axis, or far from the beginning
// of the run as days, hours and minutes.
const moment = (v, { shown }) => momentIn(v, ...shown);
const momentIn = (v, from, to, step = (to - from) / 100) => {
  const width = to - from;
  if (to <= 20 * width) return clock(v, width);
  const two = (n) => String(n).padStart(2, '0');
  const time = step >= 60 ? Math.round(v / 60) * 60 : v;
  const days = Math.floor(time / 86400);
  const rest = time - days * 86400;
  const text = `${two(Math.floor(rest / 3600))}:${two(Math.floor(rest / 60) % 60)}`;
  const digits = step < .1 ? 2 : 0;
  const tail = step >= 60 ? '' : `:${(Math.floor(rest % 60 * 10 ** digits) / 10 ** digits).toFixed(digits).padStart(digits ? 5 : 2, '0')}`;
  return `${days ? `${days} d ` : ''}${text}${tail}`;
};
