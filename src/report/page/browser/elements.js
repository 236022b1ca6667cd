const runs = JSON.parse(document.getElementById('data').textContent);
// Runs of the same jobs have them once.
runs.forEach(({ series }) => { if (typeof series.jobs === 'number') series.jobs = runs[series.jobs].series.jobs; });
const root = document.documentElement;
const main = document.getElementById('main');
const tip = document.getElementById('tip');
const params = new URLSearchParams(location.search);

// Elements. Text from the data only ever becomes text nodes.
const make = (create) => (tag, attributes, ...children) => {
  const node = create(tag);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
};
const h = make((tag) => document.createElement(tag));
const svgSpace = document.querySelector('.mark').namespaceURI;
const s = make((tag) => document.createElementNS(svgSpace, tag));
const css = (name) => getComputedStyle(root).getPropertyValue(name).trim();
const limit = (v, low, high) => Math.max(low, Math.min(high, v));

// One of several: buttons where they are few, a list where they are many. `chosen` is their number.
function choice(label, names, chosen, choose, missing = () => false) {
  if (names.length < 2) return null;
  if (names.length <= 6) {
    return h('div', { class: 'choice', role: 'group', 'aria-label': label }, names.map((name, i) => h('button', {
      type: 'button', 'aria-pressed': String(i === chosen), disabled: missing(i) ? '' : null, onclick: () => choose(i) }, name)));
  }
  const list = h('select', { 'aria-label': label, onchange: () => choose(Number(list.value)) },
    names.map((name, i) => h('option', { value: i, selected: i === chosen ? '' : null, disabled: missing(i) ? '' : null }, name)));
  return list;
}
