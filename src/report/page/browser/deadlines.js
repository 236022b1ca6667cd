// What became of the jobs with deadlines, and why jobs were refused.
const fates = [
  { key: 'asked', name: 'submitted', paint: 7 },
  { key: 'promised', name: 'admitted', paint: 0 },
  { key: 'met', name: 'met', paint: 2 },
  { key: 'missed', name: 'missed or refused', paint: 1 },
];

const hasDeadlines = (run) => run.series.deadlines !== null;

function deadlineCharts(group, hidden) {
  if (!group.some(hasDeadlines)) return null;
  const whole = { show: (v) => v >= 10000 ? `${v / 1000}k` : `${+v.toFixed(2)}`, exact: (v) => count(v) };
  return h('div', { class: 'pair' },
    overTime(group, hidden, 'Deadlines met', 'Jobs done by their deadline, from the beginning.',
      (run) => hasDeadlines(run) ? run.series.deadlines.met : [], { ...whole, area: false }),
    new Fates(group, whole).element);
}

// All fates of one run in a chart; buttons choose the run.
class Fates {
  constructor(group, spec) {
    this.group = group;
    const promises = group.map((run) => hasDeadlines(run) ? run.summary.promises || 0 : -1);
    this.shown = promises.indexOf(Math.max(...promises));
    this.side = h('div', { class: 'choice' });
    const marks = h('div', { class: 'marks' }, fates.map((fate) => h('span', null, stroke(fate.paint), fate.name)));
    this.element = section('Jobs with deadlines', 'From the beginning. Missed: late, or ended otherwise.', this.side,
      this.plot(spec), marks);
    this.buttons();
  }

  plot(spec) {
    const [from, to] = reach(this.group);
    const points = this.group.map(({ series }) => fates.map((fate) =>
      series.deadlines ? series.deadlines[fate.key].map((v, k) => [series.start + (k + .5) * series.bucket, v]) : []));
    const names = {};
    fates.forEach((fate) => { names[fate.paint] = fate.name; });
    return chart({ label: 'Jobs with deadlines', height: 222, range: [from, to], names,
      lines: () => fates.map((fate, k) => [fate.paint, points[this.shown][k]]), read: readBucket, title: (v) => `after ${clock(v, to - from)}`, ...spec });
  }

  buttons() {
    if (this.group.length < 2) return;
    this.side.replaceChildren(h('div', { class: 'choice', role: 'group', 'aria-label': 'Policy' }, this.group.map((run, i) => h('button', { type: 'button', 'aria-pressed': String(i === this.shown), disabled: hasDeadlines(run) ? null : '',
      onclick: () => { this.shown = i; this.buttons(); redraw(); } }, run.summary.policy))));
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
      h('summary', null, dot(i), ' ', run.summary.policy, h('span', { class: 'chip same' }, `${count(run.summary.rejected)} refused`)),
      h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': `Refused under ${run.summary.policy}` }, h('table', { class: 'reasons' },
        h('thead', null, h('tr', null, ['Job', 'When', 'Asked for', 'Reason'].map((name) => h('th', { scope: 'col' }, name)))),
        h('tbody', null, list.map(([name, gpus, at, reason]) => h('tr', null, h('td', null, name), h('td', { class: 'plain' }, `after ${clock(at, to)}`),
          h('td', { class: 'plain' }, gpus ? `${count(gpus)} GPU${gpus > 1 ? 's' : ''}` : '–'), h('td', null, reason)))))),
      more > 0 ? h('p', { class: 'hint' }, `and ${count(more)} more, which the event log lists.`) : null);
  }));
}
