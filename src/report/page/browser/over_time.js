// Charts over the time of the runs. They share a span, which readers choose in any of them.
const reach = (group) => {
  const from = Math.min(...group.map((r) => r.series.start));
  const to = Math.max(...group.map((r) => r.series.start + r.series.bucket * r.series.waiting.length));
  return [from, to > from ? to : from + 1];
};

// The time axis of a group of runs, and whether the charts show the lowest and highest values.
class TimeAxis {
  constructor(group, hidden) {
    this.group = group;
    this.hidden = hidden;
    this.span = new Span('span', reach(group), 4 * Math.max(...group.map((run) => run.series.bucket)));
    this.span.listeners.push(redraw);
    this.extremesWanted = null;  // null: as long as there is space for them
  }

  extremesShown() { return this.extremesWanted === null ? this.group.length - this.hidden.size <= 3 : this.extremesWanted; }

  bar() {
    const extremes = h('button', { type: 'button', class: 'extremes', onclick: () => { this.extremesWanted = !this.extremesShown(); redraw(); } }, 'Lowest and highest');
    drawings.push(() => extremes.setAttribute('aria-pressed', String(this.extremesShown())));
    const text = ({ shown: [from, to], whole, narrowed }) => narrowed ? `${moment(from, this.span)} to ${moment(to, this.span)}, ${duration(to - from)} of ${duration(whole[1] - whole[0])}`
      : `Whole run, ${duration(to - from)}`;
    return spanBar(this.span, text, extremes);
  }
}

const share = { show: (v) => `${Math.round(v * 100)} %`, exact: percent };
const number = { show: (v) => v >= 10000 ? `${v / 1000}k` : `${+v.toFixed(2)}`, exact: decimal };

// `of(run)` gives what is drawn: { mean, low, high }, or nothing.
function overTime(axis, title, hint, unit, of, spec) {
  const { group, hidden, span } = axis;
  const buckets = group.map((run) => ({ start: run.series.start, width: run.series.bucket, ...of(run) }));
  const shown = () => group.map((run, i) => [run, i]).filter(([, i]) => !hidden.has(i) && buckets[i].mean);
  const bounded = buckets.some((each) => each.low);
  const chart = new Chart({
    label: title, unit, axis: 'time', height: 266, span, extremes: () => bounded && axis.extremesShown(),
    lines: () => shown().map(([run, i]) => ({ run: i, name: run.summary.policy, buckets: buckets[i] })),
    title: (v) => `at ${moment(v, span)}`,
    note: (lines, extremes) => bounded && lines.length ? noteOn(lines, extremes, span, spec.exact) : '', ...spec,
  });
  return section(title, hint, saveButtons(title, () => chart.plot, () => rowsOf(shown(), buckets, span), () => marksOf(shown()), () => chart.note.textContent),
    legend(group, hidden, false), chart.box, chart.note);
}

// What a line is the mean of, and how high the peaks are that it does not show.
function noteOn(lines, extremes, { shown: [from, to] }, exact) {
  const widths = lines.flatMap(({ columns }) => columns.slice(0, 1).map((c) => c.to - c.from));
  if (!widths.length) return '';
  const mean = `Lines are means of ${duration(Math.max(...widths))}`;
  if (extremes) return `${mean}; the shaded areas reach from the lowest to the highest value.`;
  const peaks = lines.map((line) => [line.name, Math.max(...line.columns.filter((c) => c.to > from && c.from < to).map((c) => c.high))]);
  const [name, peak] = peaks.reduce((a, b) => b[1] > a[1] ? b : a);
  return `${mean}; the highest value is ${exact(peak)} (${name}).`;
}

function rowsOf(shown, buckets, { shown: [from, to] }) {
  const rows = [['policy', 'from_s', 'to_s', 'mean', 'lowest', 'highest']];
  shown.forEach(([run, i]) => {
    const { start, width, mean, low, high } = buckets[i];
    mean.forEach((v, k) => {
      const at = start + k * width;
      if (at + width > from && at < to) rows.push([run.summary.policy, +at.toFixed(6), +(at + width).toFixed(6), v, low ? low[k] : null, high ? high[k] : null]);
    });
  });
  return rows;
}

const seriesOf = (run, key) => run.series[key].length ? { mean: run.series[key], low: run.series.bounds[key][0], high: run.series.bounds[key][1] } : {};
const partsOf = ({ mean, low, high }, whole) => mean ? { mean: mean.map((v) => v / whole), low: low.map((v) => v / whole), high: high.map((v) => v / whole) } : {};

function efficiency(axis) {
  const most = Math.max(1, ...axis.group.map((run) => run.series.bounds.efficiency[1].reduce((a, b) => Math.max(a, b), 0)));
  return overTime(axis, 'Cluster efficiency', 'Work done, as the share of the GPUs that would do it one by one; a job that gains little from many GPUs counts for little.', 'share of all GPUs',
    (run) => seriesOf(run, 'efficiency'), { ...share, top: most * 1.04, ticks: most, limit: 1 });
}

function timeCharts(axis) {
  const { group } = axis;
  const gpus = group[0].summary.gpus || 1;
  const has = (key) => group.some((run) => run.series[key].length);
  const part = { ...share, top: 1.04, limit: 1 };
  const charts = [
    ['Jobs waiting', has('waiting'), 'no job was submitted', () => overTime(axis, 'Jobs waiting', 'Submitted or paused, holding no GPU.', 'jobs', (run) => seriesOf(run, 'waiting'), number)],
    ['GPUs in use', has('held'), 'no job was submitted', () => overTime(axis, 'GPUs in use', 'Held by at least one job.', 'share of all GPUs', (run) => partsOf(seriesOf(run, 'held'), gpus), part)],
    ['GPUs up', has('up'), 'no node was lost', () => nodeChart(axis)],
    ['CPUs in use', has('cpus'), 'no job holds CPUs of its own', () => overTime(axis, 'CPUs in use', 'Given to jobs.', 'share of all cores', (run) => seriesOf(run, 'cpus'), part)],
    ['Memory in use', has('memory'), 'no job holds memory of its own', () => overTime(axis, 'Memory in use', 'Given to jobs.', 'share of all host memory', (run) => seriesOf(run, 'memory'), part)],
    ['Cluster efficiency', has('efficiency'), 'no job has run, or some states no speed', () => efficiency(axis)],
    ['Deadlines met', group.some(hasDeadlines), 'no job has a deadline', () => deadlinesMet(axis)],
    ['Jobs with deadlines', group.some(hasDeadlines), null, () => new Fates(axis).element],
    ['The cluster over time', has('rows'), 'its nodes were not recorded', () => new Timeline(axis).element],
  ];
  const missing = charts.filter(([, known, why]) => !known && why);
  const drawn = charts.filter(([, known]) => known).map(([, , , draw]) => draw());
  const cluster = has('rows') ? drawn.pop() : null;
  return [...(has('waiting') ? [axis.bar(), h('p', { class: 'hint' }, 'Drag in a chart over time to choose a span; a double click shows the whole run. The link of this page carries the span. Cards and table stay those of the whole run.')] : []),
    h('div', { class: 'pair' }, drawn), cluster,
    missing.length ? h('p', { class: 'missing hint' }, `Not drawn: ${missing.map(([name, , why]) => `${name} (${why})`).join(', ')}.`) : null];
}
