// The charts below show the others too: these cards give way to those about deadlines.
const figures = [
  { key: 'deadline_ratio', name: 'Deadlines met', card: 'Most deadlines met', show: percent, more: true, ratio: true, whole: true },
  { key: 'avg_jct_s', name: 'Average JCT', card: 'Best average completion time', show: duration, ratio: true, common: true },
  { key: 'p50_jct_s', name: 'Median JCT', show: duration, ratio: true, spare: true, common: true },
  { key: 'p99_jct_s', name: '99th percentile', card: 'Best 99th percentile', show: duration, ratio: true, common: true },
  { key: 'makespan_s', name: 'Makespan', card: 'Shortest makespan', show: duration, ratio: true, common: true },
  { key: 'avg_wait_s', name: 'Average wait', show: duration, ratio: true, spare: true },
  { key: 'avg_queue', name: 'Jobs waiting', show: decimal, ratio: true, spare: true },
  { key: 'best_effort_avg_jct_s', name: 'Best effort JCT', show: duration, ratio: true },
  { key: 'soft_value_won', name: 'Value won', show: decimal, more: true, ratio: true, whole: true },
  { key: 'goodput', name: 'Goodput', card: 'Highest goodput', show: percent, more: true },
  { key: 'lost_gpu_h', name: 'Lost GPU h', card: 'Least work lost, GPU h', show: decimal },
  { key: 'cost', name: 'Cost', card: 'Lowest cost', show: decimal },
  { key: 'gpu_utilisation', name: 'GPU use', card: 'Highest GPU use', show: percent, more: true, arrivals: 'arrivals_gpu_utilisation' },
  { key: 'cluster_efficiency', name: 'Efficiency', show: percent, more: true, arrivals: 'arrivals_cluster_efficiency' },
];

function cards(group) {
  const known = figures.filter((f) => f.card && group.some((run) => run.summary[f.key] !== null)).slice(0, 4);
  return h('div', { class: 'cards' }, known.map((f) => {
    const value = (run) => run.summary[f.key];
    const all = group.map((run, i) => i).filter((i) => value(group[i]) !== null);
    const complete = all.filter((i) => group[i].summary.status === 'complete');
    const known = complete.length ? complete : all;
    const first = group[0].summary;
    const standing = (i) => rank(f, first, group[i].summary);
    const fair = f.common && known.every((i) => standing(i) !== null);
    const best = known.sort((a, b) => fair ? standing(b) - standing(a) : (value(group[a]) - value(group[b])) * (f.more ? -1 : 1))[0];
    const r = f.ratio && best > 0 ? fairRatio(f, first, group[best].summary) : null;
    return h('div', { class: 'card' },
      h('div', { class: 'label' }, group.length > 1 ? f.card : f.name),
      h('div', { class: 'value' }, f.show(value(group[best]))),
      h('div', { class: 'run' }, stroke(best), group[best].summary.policy, chip(r), state(group[best].summary)));
  }));
}

const kept = (r) => r.promises_broken == null ? '–' : r.promises_broken === 0 ? `all ${count(r.promises)}` : `${count(r.promises - r.promises_broken)} of ${count(r.promises)}`;

function comparison(group) {
  const due = group.some((run) => run.summary.deadline_ratio !== null);
  const shown = figures.filter((f) => !(due && f.spare) && group.some((run) => run.summary[f.key] !== null));
  const first = group[0].summary;
  const plain = [['Done', ({ summary: r }) => r.status === 'not run' ? '–' : r.completed === r.jobs && !r.left ? 'all'
    : `${count(r.completed)} of ${count(r.jobs)}: ${endsOf(r)}`, (r) => r.jobs > 0 ? r.completed / r.jobs : null, true]];
  if (group.some((run, i) => i > 0 && run.summary.common_jobs !== null && !sameJobs(first, run.summary))) {
    plain.push(['Compared over', ({ summary: r }) => r.common_jobs === null ? '–' : `${count(r.common_jobs)} jobs`, (r) => r.common_jobs, true]);
  }
  if (group.some((run) => run.summary.promises_broken !== null)) plain.push(['Promises kept', ({ summary: r }) => kept(r), (r) => r.promises > 0 ? 1 - r.promises_broken / r.promises : null, true]);
  if (!due) plain.push(['Starts', ({ summary: r }) => count(r.starts), (r) => r.starts], ['Pauses', ({ summary: r }) => count(r.preemptions), (r) => r.preemptions]);
  const smallest = (f) => Math.min(...group.map((run) => run.summary[f.key]).filter((v) => v > 0));
  const largest = (f) => Math.max(...group.map((run) => run.summary[f.key] || 0));
  const bar = (f, run, i) => {
    if (run.summary[f.key] == null) return null;
    const whole = f.show === percent ? Math.max(1, largest(f)) : largest(f);
    const width = whole > 0 ? 100 * (run.summary[f.key] || 0) / whole : 0;
    return h('div', { class: 'bar' }, h('i', { style: `width:${width}%;background:${colour(i)}` }));
  };
  const known = (v) => v === undefined ? null : v;
  const keys = [{ of: (i) => group[i].summary.policy },
    ...shown.map((f) => ({ of: (i) => known(group[i].summary[f.key]), more: f.more })),
    ...plain.map(([, , value, more]) => ({ of: (i) => known(value(group[i].summary)), more }))];
  const saved = shown.flatMap((f) => f.arrivals ? [f.key, f.arrivals] : [f.key]);
  const rows = () => [['policy', ...saved, ...plain.map(([name]) => name)],
    ...group.map((run) => [run.summary.policy, ...saved.map((key) => run.summary[key]), ...plain.map(([, , value]) => value(run.summary))])];
  // The drain of the last long jobs lowers the figure of the whole run.
  const arriving = (f, run) => f.arrivals && run.summary[f.arrivals] != null
    ? h('span', { class: 'chip same', title: 'from the first submission to the last' }, percent(run.summary[f.arrivals])) : null;
  const noted = shown.some((f) => group.some((run) => arriving(f, run))) ? ' Below GPU use and efficiency: from the first submission to the last.' : '';
  const table = h('table', { class: 'comparison' },
    h('thead', null, h('tr', null, h('th', { scope: 'col' }, 'Policy'),
      shown.map((f) => h('th', { scope: 'col' }, f.name)), plain.map(([name]) => h('th', { scope: 'col' }, name)))),
    h('tbody', null, group.map((run, i) => h('tr', null,
      h('th', { scope: 'row' }, h('div', { class: 'named' }, stroke(i), h('span', { class: run.summary.policy.length > 28 ? 'policy long' : 'policy' }, run.summary.policy)), state(run.summary)),
      shown.map((f) => h('td', null, h('div', { class: 'n' }, f.show(run.summary[f.key], largest(f), smallest(f))), bar(f, run, i),
        f.ratio && i > 0 ? chip(fairRatio(f, first, run.summary)) : arriving(f, run))),
      plain.map(([, show]) => h('td', { class: 'plain' }, show(run)))))));
  return section('Side by side', group.length > 1
    ? `Bars compare within a column; a column\u2019s name sorts by it. Times better or worse are against ${first.policy}, the first policy, over the jobs that both completed.${noted}` : noted.trim() || null,
  saveButtons('Side by side', null, rows),
  h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Comparison table' }, group.length > 1 ? sortable(table, keys) : table));
}
