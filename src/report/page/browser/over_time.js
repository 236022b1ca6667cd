const reach = (group) => {
  const from = Math.min(...group.map((r) => r.series.start));
  const to = Math.max(...group.map((r) => r.series.start + r.series.bucket * r.series.waiting.length));
  return [from, to > from ? to : from + 1];
};

const readBucket = (line, v) => {
  if (line.length < 1) return null;
  const gap = line.length > 1 ? line[1][0] - line[0][0] : 1;
  const k = Math.round((v - line[0][0]) / gap);
  return k >= 0 && k < line.length ? line[k][1] : null;
};

function overTime(group, hidden, title, hint, pick, spec) {
  const points = group.map((run) => pick(run).map((v, k) => [run.series.start + (k + .5) * run.series.bucket, v]));
  const [from, to] = reach(group);
  return section(title, hint, legend(group, hidden), chart({
    label: title, height: 250, area: true, range: [from, to], names: group.map((r) => r.summary.policy),
    lines: () => group.map((run, i) => [i, points[i]]).filter(([i]) => !hidden.has(i)),
    read: readBucket, title: (v) => `after ${clock(v, to - from)}`, ...spec,
  }));
}

function efficiency(group, hidden) {
  const most = Math.max(...group.map((run) => run.series.efficiency.reduce((a, b) => Math.max(a, b), 0)));
  if (!group.some((run) => run.series.efficiency.length)) return null;
  return overTime(group, hidden, 'Cluster efficiency', 'Work done, as the share of the GPUs that would do it one by one; a job that gains little from many GPUs counts for little.',
    (run) => run.series.efficiency, { show: (v) => `${Math.round(v * 100)} %`, exact: percent, top: Math.max(1, most) * 1.04, ticks: Math.max(1, most), limit: 1 });
}

// CPUs and memory, where jobs hold some of their own.
function hostUse(group, hidden) {
  const share = { show: (v) => `${Math.round(v * 100)} %`, exact: percent, top: 1.04, limit: 1 };
  const of = (key, title, hint) => group.some((run) => run.series[key].length) ? [overTime(group, hidden, title, hint, (run) => run.series[key], share)] : [];
  const charts = [...of('cpus', 'CPUs in use', 'Given to jobs, of all cores.'), ...of('memory', 'Memory in use', 'Given to jobs, of all host memory.')];
  return charts.length ? h('div', { class: 'pair' }, charts) : null;
}
