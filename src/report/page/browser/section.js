function section(title, hint, side, ...content) {
  return h('section', { 'aria-label': title },
    h('div', { class: 'head' }, h('div', null, h('h2', null, title), hint && h('p', { class: 'hint' }, hint)), side), content.filter((each) => each !== null));
}

// A legend whose buttons hide and show the runs of one group, in every chart at once. To point at
// one brings its line forward.
function legend(group, hidden, open) {
  if (group.length < 2) return null;
  const refresh = () => {
    main.querySelectorAll('.legend [data-run]').forEach((b) => b.setAttribute('aria-pressed', String(!hidden.has(Number(b.dataset.run)))));
    redraw();
  };
  const bring = (i) => main.querySelectorAll('.plot [data-run]').forEach((line) => line.classList.toggle('behind', i !== null && line.dataset.run !== String(i)));
  const buttons = group.map((run, i) => h('button', {
    type: 'button', 'aria-pressed': String(!hidden.has(i)), 'data-run': i,
    onclick: () => { if (!hidden.delete(i)) hidden.add(i); refresh(); },
    onpointerenter: () => bring(i), onpointerleave: () => bring(null), onfocus: () => bring(i), onblur: () => bring(null),
  }, stroke(i), run.summary.policy));
  const all = (name, hide) => h('button', { type: 'button', class: 'all', onclick: () => { group.forEach((_, i) => hide ? hidden.add(i) : hidden.delete(i)); refresh(); } }, name);
  const list = h('div', { class: 'legend', role: 'group', 'aria-label': 'Policies shown' }, buttons,
    open && group.length > 4 ? [all('All', false), all('None', true)] : []);
  if (group.length <= (open ? 8 : 4)) return list;
  return h('details', { class: 'legend-fold', open: open ? '' : null }, h('summary', null, `Legend, ${group.length} policies`), list);
}

function roomFor(node) {
  const style = getComputedStyle(node.parentElement);
  return Math.max(240, node.parentElement.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight));
}
