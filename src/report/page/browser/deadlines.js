// What became of the jobs with deadlines, and why jobs were refused.
const fates = [
  { key: 'asked', name: 'submitted', paint: 7 },
  { key: 'promised', name: 'admitted', paint: 0 },
  { key: 'met', name: 'met', paint: 2 },
  { key: 'missed', name: 'missed or refused', paint: 1 },
];

const hasDeadlines = (run) => run.series.deadlines !== null;

const whole = { show: number.show, exact: (v) => count(v) };

function deadlinesMet(axis) {
  return overTime(axis, 'Deadlines met', 'Jobs done by their deadline, from the beginning.', 'jobs',
    (run) => hasDeadlines(run) ? { mean: run.series.deadlines.met } : {}, whole);
}

// All fates of one run in a chart; readers choose the run.
class Fates {
  constructor(axis) {
    const { group, span } = axis;
    this.group = group;
    const promises = group.map((run) => hasDeadlines(run) ? run.summary.promises || 0 : -1);
    this.shown = promises.indexOf(Math.max(...promises));
    this.side = h('div', { class: 'choices' });
    const title = 'Jobs with deadlines';
    const buckets = () => {
      const { start, bucket, deadlines } = this.group[this.shown].series;
      return fates.map((fate) => ({ start, width: bucket, mean: deadlines[fate.key] }));
    };
    const chart = new Chart({ label: title, unit: 'jobs', axis: 'time', height: 250, span, title: (v) => `at ${moment(v, span)}`, ...whole,
      lines: () => buckets().map((each, k) => ({ run: fates[k].paint, name: fates[k].name, buckets: each })) });
    const marks = () => fates.map((fate) => styleOf(fate.paint, fate.name));
    const rows = () => rowsOf(fates.map((fate, k) => [{ summary: { policy: fate.name } }, k]), buckets(), span)
      .map(([name, from, to, mean], k) => k ? [this.group[this.shown].summary.policy, name, from, to, mean] : ['policy', 'jobs', 'from_s', 'to_s', 'mean']);
    this.element = section(title, 'From the beginning. Missed: late, or ended otherwise.', saveButtons(title, () => chart.plot, rows, marks),
      this.side, chart.box, h('div', { class: 'marks' }, marks().map((mark) => h('span', null, strokeOf(mark), mark.name))));
    this.buttons();
  }

  buttons() {
    const chosen = choice('Policy', this.group.map((run) => run.summary.policy), this.shown,
      (i) => { this.shown = i; this.buttons(); redraw(); }, (i) => !hasDeadlines(this.group[i]));
    this.side.replaceChildren(...[chosen].filter(Boolean));
  }
}

// The first refusals of each run, folded away.
function refusals(group) {
  const refused = group.map((run, i) => [run, i]).filter(([run]) => run.series.refusals.length);
  if (!refused.length) return null;
  return section('Refused jobs', 'Why each was refused, as it was decided then. Open a policy to read the first of them.', null, ...refused.map(([run, i]) => {
    const [, to] = reach([run]);
    const { refusals: list } = run.series;
    const more = run.summary.rejected - list.length;
    return h('details', { open: refused.length === 1 ? '' : null },
      h('summary', null, stroke(i), ' ', run.summary.policy, h('span', { class: 'chip same' }, `${count(run.summary.rejected)} refused`)),
      h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': `Refused under ${run.summary.policy}` }, sortable(h('table', { class: 'reasons' },
        h('thead', null, h('tr', null, ['Job', 'When', 'Asked for', 'Reason'].map((name) => h('th', { scope: 'col' }, name)))),
        h('tbody', null, list.map(([name, gpus, at, reason]) => h('tr', null, h('td', null, name), h('td', { class: 'plain' }, `after ${clock(at, to)}`),
          h('td', { class: 'plain' }, gpus ? `${count(gpus)} GPU${gpus > 1 ? 's' : ''}` : '–'), h('td', null, reason))))),
        [{ of: (k) => list[k][0] }, { of: (k) => list[k][2] }, { of: (k) => list[k][1] || null, more: true }, { of: (k) => list[k][3] }])),
      more > 0 ? h('p', { class: 'hint' }, `and ${count(more)} more, which the event log lists.`) : null);
  }));
}
