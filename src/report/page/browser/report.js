let shownAxis = null;
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
  const axis = new TimeAxis(group, hidden);
  main.replaceChildren(...[warnings(group), cards(group), comparison(group), distribution(group, hidden),
    h('div', { class: 'times' }, timeCharts(axis).filter(Boolean)), refusals(group), facts(group)].filter(Boolean),
    h('footer', null, 'JCT, job completion time: from submission to completion, over completed jobs. GPU use counts a shared GPU once; efficiency counts the work done on it, ',
      'so interleaved jobs can exceed the use. Made by orrery; this page holds all its data and loads nothing.'));
  shownAxis = axis;
  redraw();
}

const groups = new Map();
runs.forEach((run) => groups.set(run.summary.trace, [...(groups.get(run.summary.trace) || []), run]));
const traces = [...groups.keys()];
const nav = document.getElementById('traces');
let shownTrace = null;
const choose = (name) => {
  shownTrace = name;
  nav.replaceChildren(...traces.map((t) => h('button', { type: 'button', 'aria-pressed': String(t === name), onclick: () => {
    setFragment({ trace: t === traces[0] ? null : t, span: null });
    choose(t);
  } }, t)));
  show(groups.get(name));
};
const linked = () => groups.has(fragment().get('trace')) ? fragment().get('trace') : traces[0];
nav.hidden = traces.length < 2;
if (traces.length) choose(linked());
else redraw();
if (!traces.length && !document.querySelector('.figures > *')) main.append(h('p', { class: 'empty' }, 'No runs.'));
let width = innerWidth;
addEventListener('resize', () => { if (innerWidth !== width) { width = innerWidth; redraw(); } });
addEventListener('hashchange', () => {
  if (traces.length && linked() !== shownTrace) choose(linked());
  [...(shownAxis ? [shownAxis.span] : []), ...figureSpans].forEach((span) => { span.read(); span.changed(); });
});
