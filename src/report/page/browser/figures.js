// Figures that the program has drawn. They carry their data: `columns` and `rows` for the CSV, and
// `lines` [name, colour, dashed, marked, points] where lines over x can be drawn again to be zoomed.
const figureSpans = [];
function zoomable(title, { columns: [, xLabel, yLabel], rows, lines }, number) {
  let next = 0;
  const dashesMean = lines.some(([, , dashed]) => dashed);  // else they help to distinguish the lines
  const parts = lines.map(([name, paint, dashed, marked, many]) => ({ run: paint, name, dashed: dashesMean ? dashed : undefined, marked, points: rows.slice(next, next += many).map(([, x, y]) => [x, y]) }));
  const to = parts.flatMap((line) => line.points).reduce((most, p) => Math.max(most, p[0]), 0);
  if (!(to > 0)) return null;
  const span = new Span(`figure-${number}`, [0, to], to / 200);
  span.listeners.push(redraw);
  figureSpans.push(span);
  const nearest = (points, v) => {
    const best = points.reduce((a, p) => a === null || Math.abs(p[0] - v) < Math.abs(a[0] - v) ? p : a, null);
    return best && Math.abs(best[0] - v) < (span.shown[1] - span.shown[0]) / 10 ? { mean: best[1] } : null;
  };
  const short = (v) => `${+v.toPrecision(4)}`;
  const chart = new Chart({ label: title, unit: yLabel, axis: xLabel, height: 340, span, lasting: true, lines: () => parts, xTicks: numberTicks,
    read: nearest, show: short, exact: short, title: (v) => `${xLabel}: ${short(v)}` });
  const bar = spanBar(span, ({ shown: [a, b] }) => `${xLabel}: ${short(a)} to ${short(b)}`);
  const marks = () => parts.map(lineStyle);
  const hide = () => { bar.hidden = !span.narrowed; };
  span.listeners.push(hide);
  hide();
  return { chart, marks, content: [h('div', { class: 'marks' }, marks().map((mark) => h('span', null, strokeOf(mark), mark.name))), chart.box, bar] };
}

document.querySelectorAll('.figures section').forEach((part, number) => {
  const plot = part.querySelector('svg.plot');
  if (!plot) return;
  const title = part.querySelector('h2').textContent;
  const inside = plot.querySelector('metadata');
  const data = inside && JSON.parse(inside.textContent);
  const again = data && data.lines && zoomable(title, data, number + 1);
  const scroll = part.querySelector('.scroll');
  if (again) scroll.replaceWith(...again.content);
  else Object.entries({ tabindex: 0, role: 'region', 'aria-label': title }).forEach(([key, value]) => scroll.setAttribute(key, value));
  part.querySelector('.head').append(saveButtons(title, () => again ? again.chart.plot : plot, data && (() => [data.columns, ...data.rows]), () => again ? again.marks() : []));
});
