function show(group) {
  drawings.length = 0;
  hideTip();
  const hidden = new Set();
  const first = group[0].summary;
  const names = group.map((run) => run.summary.policy);
  document.getElementById('title').textContent = names.length > 4 ? `${names.length} policies on ${first.trace}` : `${names.join(' · ')} on ${first.trace}`;
  document.title = `Orrery: ${names.join(', ')} on ${first.trace}`;
  document.getElementById('subtitle').textContent = [`${count(Math.max(...group.map((run) => run.summary.jobs || 0)))} jobs`, `${count(first.gpus)} GPUs`, first.cluster && `cluster ${first.cluster}`,
    first.semantics && `${first.semantics} semantics`].filter(Boolean).join('  ·  ');
  document.getElementById('verdict').textContent = deadlineVerdict(group) + verdict(group);
  const gpus = first.gpus || 1;
  const timeline = new Timeline(group);
  main.replaceChildren(...[warnings(group)].filter(Boolean), cards(group), comparison(group), distribution(group, hidden),
    h('div', { class: 'pair' },
      overTime(group, hidden, 'Jobs waiting', 'Submitted or paused, holding no GPU.', (run) => run.series.waiting, { show: (v) => v >= 10000 ? `${v / 1000}k` : `${+v.toFixed(2)}`, exact: decimal }),
      overTime(group, hidden, 'GPUs in use', 'Held by at least one job, of all GPUs.', (run) => run.series.held.map((v) => v / gpus),
        { show: (v) => `${Math.round(v * 100)} %`, exact: percent, top: 1.04, limit: 1 })),
    ...[nodeChart(group, hidden), hostUse(group, hidden), efficiency(group, hidden), deadlineCharts(group, hidden), timeline.element, refusals(group)].filter(Boolean), facts(group),
    h('footer', null, 'JCT, job completion time: from submission to completion, over completed jobs. GPU use counts a shared GPU once; efficiency counts the work done on it, ',
      'so interleaved jobs can exceed the use. Made by orrery; this page holds all its data and loads nothing.'));
  redraw();
  timeline.refresh();
  drawings.push(() => timeline.draw());
}

const groups = new Map();
runs.forEach((run) => groups.set(run.summary.trace, [...(groups.get(run.summary.trace) || []), run]));
const traces = [...groups.keys()];
const nav = document.getElementById('traces');
const choose = (name) => {
  nav.replaceChildren(...traces.map((t) => h('button', { type: 'button', 'aria-pressed': String(t === name), onclick: () => choose(t) }, t)));
  show(groups.get(name));
};
nav.hidden = traces.length < 2;
if (traces.length) choose(traces[0]);
else if (!document.querySelector('.figures > *')) main.append(h('p', { class: 'empty' }, 'No runs.'));
let width = innerWidth;
addEventListener('resize', () => { if (innerWidth !== width) { width = innerWidth; redraw(); } });
