// The style of a series goes with the place of its run in its trace. No two of the first 192 look
// the same, and series of one dash have colours that colour-blind readers distinguish.
const colourCount = 24;
const dashes = ['', '7 3', '2 3', '9 3 2 3', '16 4', '9 3 2 3 2 3', '4 2', '16 3 4 3'];
const colour = (i) => `var(--s${i % colourCount})`;
const dash = (i) => dashes[(i + Math.floor(i / colourCount)) % dashes.length];
// An entry of a legend, and its mark.
const styleOf = (i, name) => ({ paint: i, pattern: dash(i), name });
const strokeOf = ({ paint, pattern }) => s('svg', { class: 'stroke', viewBox: '0 0 34 8', 'aria-hidden': 'true' }, s('line', { x1: 0, x2: 34, y1: 4, y2: 4,
  style: `stroke:${colour(paint)}`, 'stroke-width': 2.6, 'stroke-dasharray': pattern }));
const stroke = (i) => strokeOf(styleOf(i));
