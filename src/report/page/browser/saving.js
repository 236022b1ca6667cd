// Charts and their data as files.
function saveFile(name, type, text) {
  const link = h('a', { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

const fileName = (title) => title.toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '').slice(0, 60) || 'chart';

// After RFC 4180. A text that a spreadsheet would take for a formula gets a ' in front.
const csvCell = (v) => {
  if (v === null || v === undefined) return '';
  if (typeof v === 'number') return Number.isFinite(v) ? String(v) : '';
  const text = /^[=+\-@\t\r]/.test(v) ? `'${v}` : v;
  return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
};
const csvText = (rows) => rows.map((row) => `${row.map(csvCell).join(',')}\r\n`).join('');

// `drawing()` gives an svg element on the page, or one that svgPen() drew; `rows()` gives the lines of the CSV.
function saveButtons(title, drawing, rows, marks = () => [], note = () => '') {
  const button = (kind, act) => h('button', { type: 'button', 'aria-label': `Download ${title} as ${kind}`, title: `Download as ${kind}`, onclick: act }, kind);
  return h('div', { class: 'save' },
    drawing && button('SVG', () => saveFile(`${fileName(title)}.svg`, 'image/svg+xml', standalone(drawing(), title, marks(), note()))),
    rows && button('CSV', () => saveFile(`${fileName(title)}.csv`, 'text/csv', csvText(rows()))));
}

// What a style sheet says about an element, as attributes that every program reads.
const drawn = { fill: 'rgb(0, 0, 0)', stroke: 'none', 'stroke-width': '1px', 'stroke-dasharray': 'none', 'stroke-linejoin': 'miter',
  opacity: '1', 'fill-opacity': '1', 'stroke-opacity': '1', 'font-size': '', 'font-weight': '400', 'text-anchor': 'start' };
function withAttributes(node, model) {
  const style = getComputedStyle(model);
  for (const [name, usual] of Object.entries(drawn)) {
    const value = style.getPropertyValue(name);
    const isText = name.startsWith('font') || name === 'text-anchor';
    if (value === usual || (isText && model.tagName !== 'text')) continue;
    const [, r, g, b, alpha] = /^rgba\((\d+), (\d+), (\d+), ([\d.]+)\)$/.exec(value) || [];
    node.setAttribute(name, alpha === undefined ? value.replace(/px/g, '') : `rgb(${r}, ${g}, ${b})`);
    if (alpha !== undefined && (name === 'fill' || name === 'stroke')) node.setAttribute(`${name}-opacity`, alpha);
  }
  ['style', 'class', 'tabindex', 'pointer-events', 'role'].forEach((name) => node.removeAttribute(name));
}

// XML has no place for these.
const xmlSafe = (text) => text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '?');

// A drawing as a file of its own: its styles, a title, and below it a legend of `marks` and a note.
function standalone(plot, title, marks, note) {
  const [, , width, height] = plot.getAttribute('viewBox').split(' ').map(Number);
  const copy = plot.cloneNode(true);
  const models = [...plot.querySelectorAll('*')];
  [...copy.querySelectorAll('*')].forEach((node, k) => { if (models[k].isConnected) withAttributes(node, models[k]); });
  copy.querySelectorAll('.hover, metadata').forEach((node) => node.remove());
  const ink = css('--ink');
  const text = (x, y, size, weight, words) => s('text', { x, y, fill: ink, 'font-size': size, 'font-weight': weight }, words);
  const lines = [];
  let x = 16;
  let row = 0;
  marks.forEach(({ paint, pattern, name }) => {
    const wide = 56 + 7.4 * name.length;
    if (x + wide > width && x > 16) { x = 16; row += 1; }
    lines.push(s('line', { x1: x, x2: x + 34, y1: 4, y2: 4, transform: `translate(0 ${height + 44 + row * 20})`,
      stroke: css(`--s${paint % colourCount}`), 'stroke-width': 2.6, 'stroke-dasharray': pattern || null }),
    text(x + 42, height + 52 + row * 20, 12, 400, name));
    x += wide;
  });
  const end = height + 44 + (marks.length ? (row + 1) * 20 + 8 : 0);
  const tall = end + (note ? 22 : 0);
  const out = s('svg', { viewBox: `0 0 ${width + 32} ${tall}`, width: width + 32, height: tall, 'font-family': 'system-ui, "Noto Sans", "DejaVu Sans", Arial, sans-serif' },
    s('title', null, title), s('rect', { width: width + 32, height: tall, fill: css('--card') }), text(16, 24, 15, 600, title),
    s('g', { transform: 'translate(16 36)' }, ...copy.childNodes), ...lines, ...(note ? [text(16, end + 8, 12, 400, note)] : []));
  return xmlSafe(`<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(out)}\n`);
}
