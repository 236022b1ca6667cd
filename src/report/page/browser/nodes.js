// Nodes that come and go: the GPUs of those that are there.
function nodeChart(axis) {
  const all = axis.group[0].summary.gpus || 1;
  const up = (run) => run.series.up.length ? partsOf(seriesOf(run, 'up'), all)
    : { mean: run.series.held.map(() => 1), low: run.series.held.map(() => 1), high: run.series.held.map(() => 1) };
  return overTime(axis, 'GPUs up', 'Of the nodes that are there. Lost nodes take their jobs with them; what was not saved is done again.', 'share of all GPUs',
    up, { ...share, top: 1.04, limit: 1 });
}

// What the losses cost each run, for its facts.
const faultFacts = (r) => r.lost_gpu_h == null ? [] : [
  ['nodes lost', `${count(r.nodes_lost)}, ${count(r.node_downtime_h)} node hours`],
  ['restarts', `${count(r.fault_restarts)} by lost nodes, ${decimal(r.lost_gpu_h)} GPU hours of work done again`],
  ['cost', r.cost === r.cost_on_demand ? decimal(r.cost) : `${decimal(r.cost)}; the same on-demand ${decimal(r.cost_on_demand)}`]];
