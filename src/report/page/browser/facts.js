function facts(group) {
  const known = (v) => v !== null && v !== undefined && v !== '';
  return section('What was run', null, null, h('div', { class: 'facts' }, group.map((run, i) => {
    const r = run.summary;
    const rows = [['trace', r.trace], ['cluster', known(r.cluster) ? `${r.cluster}, ${count(r.gpus)} GPUs` : `${count(r.gpus)} GPUs`], ['semantics', r.semantics],
      ...run.settings, ['state', r.status], ['jobs', r.jobs === null ? null
        : `${count(r.jobs)}: ${count(r.completed)} completed, ${count(r.rejected)} rejected, ${count(r.failed)} failed, ${count(r.cancelled)} cancelled, ${count(r.left)} left`],
      ['promises', r.promises ? `${kept(r)} kept, ${duration(r.admitted_gpu_s)} of GPU time` : null],
      ...faultFacts(r), ['starts', count(r.starts)], ['pauses', count(r.preemptions)], ['moves', count(r.moves)], ['resizes', count(r.resizes)], ['longest queue', known(r.max_queue) ? count(r.max_queue) : null], ['events', count(r.events)],
      ['simulated in', known(r.wall_s) ? `${duration(r.wall_s)} (CPU ${duration(r.cpu_s)})` : null], ['memory', known(r.peak_mb) ? `${three(r.peak_mb)} MB` : null]];
    return h('div', null, h('h3', null, dot(i), ' ', r.policy),
      h('dl', null, rows.filter(([, v]) => known(v)).flatMap(([k, v]) => [h('dt', null, k), h('dd', null, v)])));
  })));
}
