function distribution(group, hidden) {
  const all = group.flatMap((run) => run.series.jct.map((p) => p[0])).filter((v) => v > 0);
  if (!all.length) return section('Completion times', null, null, h('p', { class: 'empty' }, 'No job completed.'));
  let low = all.reduce((a, b) => Math.min(a, b)); let high = all.reduce((a, b) => Math.max(a, b));
  if (high <= low) { low /= 2; high *= 2; }
  const under = (points, v) => { let found = 0; for (const p of points) { if (p[0] > v) break; found = p[1]; } return { mean: found }; };
  // A line ends at the share that is done, which is not 1 where jobs were refused or left.
  const steps = (points) => {
    const out = [[low, 0]];
    points.forEach((p, k) => {
      const x = Math.max(p[0], low);
      if (points.length < 120) out.push([x, k ? points[k - 1][1] : 0]);
      out.push([x, p[1]]);
    });
    out.push([high, points.length ? points.at(-1)[1] : 0]);
    return out;
  };
  const title = 'Completion times';
  const shown = () => group.map((run, i) => [run, i]).filter(([, i]) => !hidden.has(i));
  const chart = new Chart({
    label: title, unit: 'share of all jobs', axis: 'time from submission to completion', height: 346, log: true, range: [low, high], top: 1,
    lines: () => shown().map(([run, i]) => ({ run: i, name: run.summary.policy, points: steps(run.series.jct) })),
    read: under, show: (v) => `${Math.round(v * 100)} %`, exact: percent, title: (v) => `within ${duration(v)}`,
  });
  const rows = () => [['policy', 'completion_time_s', 'share_of_jobs'], ...shown().flatMap(([{ summary, series }]) => series.jct.map((p) => [summary.policy, ...p]))];
  return section(title, 'The share of jobs done within a time after submission. Higher and further left is better.',
    saveButtons(title, () => chart.plot, rows, () => marksOf(shown())), legend(group, hidden, true), chart.box);
}
const marksOf = (shown) => shown.length > 1 ? shown.map(([run, i]) => styleOf(i, run.summary.policy)) : [];
