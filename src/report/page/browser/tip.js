const showTip = (x, y, title, lines) => {
  tip.replaceChildren(h('b', null, title), ...lines.map(([mark, label, value]) =>
    h('div', null, mark, h('span', null, label), h('span', null, value))));
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const left = x + 16 + box.width > innerWidth - 6 ? x - box.width - 16 : x + 16;
  tip.style.left = `${Math.max(6, Math.min(left, innerWidth - box.width - 6))}px`;
  tip.style.top = `${Math.max(6, Math.min(y + 14, innerHeight - box.height - 6))}px`;
};
const hideTip = () => { tip.hidden = true; };
