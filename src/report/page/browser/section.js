function section(title, hint, side, ...content) {
  return h('section', { 'aria-label': title },
    h('div', { class: 'head' }, h('div', null, h('h2', null, title), hint && h('p', { class: 'hint' }, hint)), side), content);
}

// A legend whose buttons hide and show the runs of one group, in every chart at once.
function legend(group, hidden) {
  if (group.length < 2) return null;
  return h('div', { class: 'legend', role: 'group', 'aria-label': 'Policies shown' }, group.map((run, i) => h('button', {
    type: 'button', 'aria-pressed': String(!hidden.has(i)), 'data-run': i,
    onclick: () => {
      if (!hidden.delete(i)) hidden.add(i);
      main.querySelectorAll(`.legend [data-run="${i}"]`).forEach((b) => b.setAttribute('aria-pressed', String(!hidden.has(i))));
      redraw();
    },
  }, stroke(i), run.summary.policy)));
}

function roomFor(node) {
  const style = getComputedStyle(node.parentElement);
  return Math.max(240, node.parentElement.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight));
}
