const runs = JSON.parse(document.getElementById('data').textContent);
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
