const showTip = (x, y, title, lines) => {
  const most = 14;
  tip.replaceChildren(h('b', null, title), ...lines.slice(0, most).map(([mark, label, value]) =>
    h('div', null, mark, h('span', null, label), h('span', null, value))),
  ...(lines.length > most ? [h('div', null, `and ${lines.length - most} lower ones`)] : []));
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const left = x + 16 + box.width > innerWidth - 6 ? x - box.width - 16 : x + 16;
  tip.style.left = `${Math.max(6, Math.min(left, innerWidth - box.width - 6))}px`;
  tip.style.top = `${Math.max(6, Math.min(y + 14, innerHeight - box.height - 6))}px`;
};
const hideTip = () => { tip.hidden = true; };
addEventListener('pointerdown', (e) => { if (!e.target.closest('.plot, canvas')) hideTip(); });
