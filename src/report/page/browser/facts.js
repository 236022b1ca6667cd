function factsOf({ summary: r, settings }) {
  const known = (v) => v !== null && v !== undefined && v !== '';
  const rows = [['trace', r.trace], ['cluster', known(r.cluster) ? `${r.cluster}, ${count(r.gpus)} GPUs` : `${count(r.gpus)} GPUs`], ['semantics', r.semantics],
    ...settings, ['state', r.status], ['jobs', r.jobs === null ? null
      : `${count(r.jobs)}: ${count(r.completed)} completed, ${count(r.rejected)} rejected, ${count(r.failed)} failed, ${count(r.cancelled)} cancelled, ${count(r.left)} left`],
    ['promises', r.promises ? `${kept(r)} kept, ${duration(r.admitted_gpu_s)} of GPU time` : null],
    ...faultFacts(r), ['starts', count(r.starts)], ['pauses', count(r.preemptions)], ['moves', count(r.moves)], ['resizes', count(r.resizes)], ['longest queue', known(r.max_queue) ? count(r.max_queue) : null], ['events', count(r.events)],
    ['simulated in', known(r.wall_s) ? `${duration(r.wall_s)} (CPU ${duration(r.cpu_s)})` : null], ['memory', known(r.peak_mb) ? `${three(r.peak_mb)} MB` : null]];
  return rows.filter(([, v]) => known(v));
}

// What all runs have in common stands once, above what each has of its own.
function facts(group) {
  const each = group.map(factsOf);
  const common = group.length < 2 ? [] : each[0].filter(([k, v]) => each.every((rows) => rows.some(([k2, v2]) => k2 === k && v2 === v)));
  const list = (rows) => h('dl', null, rows.flatMap(([k, v]) => [h('dt', null, k), h('dd', null, v)]));
  const own = (rows) => list(rows.filter(([k]) => !common.some(([k2]) => k2 === k)));
  const many = group.length > 6;
  const name = (run, i) => [stroke(i), ' ', run.summary.policy];
  return section('What was run', null, null,
    common.length ? h('div', { class: 'common' }, h('h3', null, 'All runs'), list(common)) : null,
    h('div', { class: 'facts' }, group.map((run, i) => many ? h('details', null, h('summary', null, name(run, i)), own(each[i]))
      : h('div', null, h('h3', null, name(run, i)), own(each[i])))));
}
