// Nodes that come and go: the GPUs of those that are there.
function nodeChart(group, hidden) {
  if (!group.some((run) => run.series.up.length)) return null;
  const all = group[0].summary.gpus || 1;
  const up = (run) => run.series.up.length ? run.series.up : run.series.held.map(() => all);
  return overTime(group, hidden, 'GPUs up', 'Of the nodes that are there, of all GPUs. Lost nodes take their jobs with them; what was not saved is done again.',
    (run) => up(run).map((v) => v / all), { show: (v) => `${Math.round(v * 100)} %`, exact: percent, top: 1.04, limit: 1 });
}

// What the losses cost each run, for its facts.
const faultFacts = (r) => r.lost_gpu_h == null ? [] : [
  ['nodes lost', `${count(r.nodes_lost)}, ${count(r.node_downtime_h)} node hours`],
  ['restarts', `${count(r.fault_restarts)} by lost nodes, ${decimal(r.lost_gpu_h)} GPU hours of work done again`],
  ['cost', r.cost === r.cost_on_demand ? decimal(r.cost) : `${decimal(r.cost)}; the same on-demand ${decimal(r.cost_on_demand)}`]];
