// Colours go with the place of a run in its trace; dashes distinguish what colours no longer can.
const dashes = ['', '7 3', '2 3', '9 3 2 3'];
const colour = (i) => `var(--s${i % 8})`;
const dash = (i) => dashes[(i < 8 ? i % 2 : 2 + i % 2)];
const stroke = (i) => s('svg', { viewBox: '0 0 22 8', 'aria-hidden': 'true' }, s('line', { x1: 0, x2: 22, y1: 4, y2: 4,
  style: `stroke:${colour(i)}`, 'stroke-width': 2.6, 'stroke-dasharray': dash(i) }));
const dot = (i) => h('span', { class: 'dot', style: `background:${colour(i)}` });
