// A chart of lines over x. `spec` has
//   label, unit, axis        names: of the chart, its values, its x axis
//   lines()                  what is drawn: { run, name, points } or { run, name, buckets }
//   range or span            the x axis, fixed or as a Span says; log: logarithmic
//   top, limit, ticks        of the y axis, where the data does not say it
//   show, exact, title       texts: of a tick, a value, an x value
//   lasting                  true for a figure, which stays when another trace is shown
//   extremes()               true if the lowest and the highest of each bucket are drawn
// `points` are [x, y]; `buckets` are { start, width, mean, low, high } as the series has them.
class Chart {
  constructor(spec) {
    this.spec = spec;
    this.at = null;  // where the cross-hair is
    this.view = null;
    this.number = Chart.count = (Chart.count || 0) + 1;
    this.plot = s('svg', { class: 'plot', tabindex: 0, role: 'img', 'aria-describedby': spec.span ? 'keys' : 'read-keys', 'aria-label': spec.label });
    this.note = h('p', { class: 'note' });
    this.box = brushable(this.plot, spec.span, this);
    (spec.lasting ? lastingDrawings : drawings).push(() => this.draw());
  }

  get range() { return this.spec.span ? this.spec.span.shown : this.spec.range; }

  draw() {
    const { spec, plot } = this;
    const width = roomFor(plot);
    const { height } = spec;
    const box = { left: 50, right: width - 12, top: 24, bottom: height - 40 };
    const [x0, x1] = this.range;
    const along = spec.log ? (v) => Math.log(v / x0) / Math.log(x1 / x0) : (v) => (v - x0) / (x1 - x0);
    const x = (v) => box.left + (box.right - box.left) * along(v);
    const back = (px) => {
      const part = limit((px - box.left) / (box.right - box.left), 0, 1);
      return spec.log ? x0 * (x1 / x0) ** part : x0 + (x1 - x0) * part;
    };
    const extremes = Boolean(spec.extremes && spec.extremes());
    const lines = spec.lines().map((line) => ({ ...line, columns: line.buckets && columnsOf(line.buckets, [x0, x1], box.right - box.left) }));
    const values = (line) => line.columns ? line.columns.filter((c) => c.to > x0 && c.from < x1).map((c) => extremes ? c.high : c.mean)
      : line.points.filter((p) => p[0] >= x0 && p[0] <= x1).map((p) => p[1]);
    const most = lines.flatMap(values).reduce((a, b) => Math.max(a, b), 0);
    const top = spec.top || (most > 0 ? most * 1.06 : 1);
    const y = (v) => box.bottom - (box.bottom - box.top) * v / top;
    this.view = { lines, x, y, back, box };
    const ticks = spec.xTicks ? spec.xTicks(x0, x1, width < 420 ? 4 : 8)
      : spec.log ? lengthTicks(x0, x1, box.right - box.left) : timeTicks(x0, x1, width < 420 ? 4 : 8);
    const clip = `clip-${this.number}`;
    const beyond = spec.lasting ? 5 : 0;  // for the marks of figures
    plot.setAttribute('viewBox', `0 0 ${width} ${height}`);
    plot.setAttribute('height', height);
    plot.replaceChildren(
      s('clipPath', { id: clip }, s('rect', { x: box.left - beyond, y: box.top - 4, width: box.right - box.left + 2 * beyond, height: box.bottom - box.top + 6 })),
      s('text', { class: 'unit', x: 0, y: 12 }, spec.unit),
      s('text', { class: 'unit', x: box.right, y: height - 4, 'text-anchor': 'end' }, spec.axis),
      ...valueTicks(spec.ticks || spec.limit || top, spec.show).flatMap(([v, text]) => [
        s('line', { class: v ? 'grid' : 'axis', x1: box.left, x2: box.right, y1: y(v), y2: y(v) }),
        s('text', { x: box.left - 8, y: y(v) + 4, 'text-anchor': 'end' }, text)]),
      ...ticks.flatMap(([v, text]) => [
        s('line', { class: 'grid', x1: x(v), x2: x(v), y1: box.top, y2: box.bottom }),
        s('text', { x: Math.min(x(v), box.right - 3.2 * text.length), y: box.bottom + 17, 'text-anchor': 'middle' }, text)]),
      ...(spec.limit ? [s('line', { class: 'limit', x1: box.left, x2: box.right, y1: y(spec.limit), y2: y(spec.limit) })] : []),
      s('g', { 'clip-path': `url(#${clip})` }, ...lines.flatMap((line) => this.curves(line, extremes, lines.length))),
      ...(lines.length ? [] : [s('text', { class: 'none', x: (box.left + box.right) / 2, y: (box.top + box.bottom) / 2, 'text-anchor': 'middle' }, 'Nothing is chosen in the legend.')]),
      s('g', { class: 'hover' }));
    this.note.textContent = spec.note ? spec.note(lines, extremes) : '';
    this.note.hidden = !this.note.textContent;
  }

  curves(line, extremes, many) {
    const { run, points, columns, marked } = line;
    const { x, y, box } = this.view;
    const path = (list) => list.map(([px, py], k) => `${k ? 'L' : 'M'}${px.toFixed(1)} ${py.toFixed(1)}`).join('');
    const paint = `stroke:${colour(run)}${many > 6 ? ';stroke-width:1.5' : ''}`;
    let middle;
    const out = [];
    if (columns) {
      const steps = columns.length > 0 && x(columns[0].to) - x(columns[0].from) >= 8;
      const level = (of) => columns.flatMap((c) => [[x(c.from), y(c[of])], [x(c.to), y(c[of])]]);
      middle = steps ? level('mean') : columns.map((c) => [(x(c.from) + x(c.to)) / 2, y(c.mean)]);
      if (extremes && columns.length) {
        const [high, low] = [level('high'), level('low')];
        out.push(s('path', { class: 'extent', 'data-run': run, style: `fill:${colour(run)}`, d: `${path([...high, ...low.slice().reverse()])}Z` }),
          s('path', { class: 'edge', 'data-run': run, style: paint, d: `${path(high)}${path(low)}` }));
      }
    } else {
      middle = points.map((p) => [x(p[0]), y(p[1])]);
    }
    if (many < 4 && !extremes && middle.length && columns) {
      out.push(s('path', { class: 'area', 'data-run': run, style: `fill:${colour(run)}`, d: `${path(middle)}L${middle.at(-1)[0].toFixed(1)} ${box.bottom}L${middle[0][0].toFixed(1)} ${box.bottom}Z` }));
    }
    out.push(s('path', { class: 'curve', 'data-run': run, d: path(middle), style: paint, 'stroke-dasharray': lineStyle(line).pattern }));
    if (marked) out.push(...middle.map(([cx, cy]) => s('circle', { 'data-run': run, cx: cx.toFixed(1), cy: cy.toFixed(1), r: 3.4, style: `fill:${colour(run)}` })));
    return out;
  }

  // What brushable() asks for.
  frame() { return this.view && this.view.box; }

  cursor() { return this.at === null ? null : this.view.x(this.at); }

  move(px) {
    const edge = this.plot.getBoundingClientRect();
    this.show(this.view.back(px), edge.left + px, edge.top + 30);
  }

  read(px, event) { this.show(this.view.back(px), event.clientX, event.clientY); }

  leave() {
    hideTip();
    this.at = null;
    const g = this.plot.querySelector('.hover');
    if (g) g.replaceChildren();
  }

  show(value, px, py) {
    this.at = value;
    const { spec } = this;
    const { lines, x, y, box } = this.view;
    const marks = lines.map((line) => ({ line, found: line.buckets ? bucketAt(line.buckets, value) : spec.read(line.points, value) })).filter(({ found }) => found !== null);
    this.plot.querySelector('.hover').replaceChildren(
      s('line', { class: 'cross', x1: x(value), x2: x(value), y1: box.top, y2: box.bottom }),
      ...marks.map(({ line, found }) => s('circle', { cx: x(value), cy: limit(y(found.mean), box.top - 4, box.bottom), r: 4, style: `fill:${colour(line.run)};stroke:var(--card)`, 'stroke-width': 1.5 })));
    if (marks.length > 6) marks.sort((a, b) => b.found.mean - a.found.mean);
    const text = ({ mean, low, high }) => low === undefined || spec.exact(low) === spec.exact(high) ? spec.exact(mean) : `${spec.exact(mean)} (${spec.exact(low)} to ${spec.exact(high)})`;
    showTip(px, py, spec.title(value), marks.map(({ line, found }) => [strokeOf(lineStyle(line)), line.name, text(found)]));
  }
}

// A line says itself whether it is dashed, or its run does.
const lineStyle = ({ run, name, dashed }) => dashed === undefined ? styleOf(run, name) : { paint: run, pattern: dashed ? '5 4' : '', name };

// The bucket that holds a time.
function bucketAt({ start, width, mean, low, high }, v) {
  const k = Math.min(Math.floor((v - start) / width), mean.length - 1);
  if (k < 0 || v > start + width * mean.length) return null;
  return { mean: mean[k], low: low && low[k], high: high && high[k] };
}

// Buckets as columns of a pixel or more: means of means, the lowest of the lowest, the highest of
// the highest, so that a peak of one bucket is drawn however narrow the chart is.
function columnsOf({ start, width, mean, low, high }, [from, to], pixels) {
  const each = Math.max(1, Math.ceil((to - from) / width / pixels));
  const first = Math.max(0, Math.floor((from - start) / width) - each);
  const last = Math.min(mean.length, Math.ceil((to - start) / width) + each);
  const columns = [];
  for (let k = first - first % each; k < last; k += each) {
    const end = Math.min(k + each, mean.length);
    const column = { from: start + k * width, to: start + end * width, mean: 0, low: Infinity, high: -Infinity };
    for (let b = k; b < end; ++b) {
      column.mean += mean[b] / (end - k);
      column.low = Math.min(column.low, low ? low[b] : mean[b]);
      column.high = Math.max(column.high, high ? high[b] : mean[b]);
    }
    columns.push(column);
  }
  return columns;
}
