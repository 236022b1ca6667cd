// Lets readers choose a span in a chart: drag, or Shift with the arrow keys and then Enter; + and -
// zoom, Escape or a double click goes back. Without a span, values are read only. `chart` has
//   frame()        { left, right } of the axis in px of the element, or null
//   read(px, event) and leave()    the cross-hair
//   cursor()       px of the cross-hair or null; move(px) puts it there
function brushable(element, span, chart) {
  const mark = h('div', { class: 'brush', hidden: '' });
  let from = null;  // px at which the marking began
  let to = null;
  let dragging = false;
  const valueAt = (px) => {
    const { left, right } = chart.frame();
    return span.shown[0] + (span.shown[1] - span.shown[0]) * limit((px - left) / (right - left), 0, 1);
  };
  const draw = () => {
    mark.hidden = from === null || to === null || Math.abs(to - from) < 4;
    if (mark.hidden) return;
    const { left, right } = chart.frame();
    const [a, b] = [Math.min(from, to), Math.max(from, to)].map((px) => limit(px, left, right));
    mark.style.left = `${a}px`;
    mark.style.width = `${b - a}px`;
  };
  const clear = () => { from = null; to = null; dragging = false; draw(); };
  const accept = () => {
    const [a, b] = [valueAt(from), valueAt(to)].sort((x, y) => x - y);
    clear();
    chart.leave();
    span.choose(a, b);
  };
  const pxOf = (event) => {
    const edge = element.getBoundingClientRect();
    return event.clientX - edge.left;
  };
  element.addEventListener('pointerdown', (e) => {
    if (e.button || !span || !chart.frame()) return;
    clear();
    from = pxOf(e);
    dragging = true;
    element.setPointerCapture(e.pointerId);
  });
  element.addEventListener('pointermove', (e) => {
    if (!chart.frame()) return;
    if (dragging) { to = pxOf(e); draw(); }
    chart.read(pxOf(e), e);
  });
  element.addEventListener('pointerup', (e) => {
    if (!dragging) return;
    dragging = false;
    if (to !== null && !mark.hidden) accept();
    else { clear(); chart.read(pxOf(e), e); }
  });
  element.addEventListener('pointercancel', () => { clear(); chart.leave(); });
  element.addEventListener('pointerleave', (e) => { if (e.pointerType !== 'touch' && !dragging) chart.leave(); });
  element.addEventListener('dblclick', () => { clear(); if (span) span.reset(); });
  element.addEventListener('blur', () => { clear(); chart.leave(); });
  element.addEventListener('keydown', (e) => {
    if (!chart.frame() || e.ctrlKey || e.metaKey || e.altKey) return;
    const { left, right } = chart.frame();
    const at = chart.cursor();
    const put = (px) => {
      if (e.shiftKey && span) {
        if (from === null) from = at === null ? (left + right) / 2 : at;
        to = limit(px, left, right);
      } else {
        from = null; to = null;
      }
      chart.move(limit(px, left, right));
      draw();
    };
    const centre = at === null ? (left + right) / 2 : at;
    const step = (right - left) / 60;
    const acts = {
      ArrowLeft: () => put(centre - step),
      ArrowRight: () => put(centre + step),
      Home: () => put(left),
      End: () => put(right),
      Enter: () => { if (!mark.hidden) accept(); },
      '+': () => span.zoom(.5, valueAt(centre)),
      '=': () => span.zoom(.5, valueAt(centre)),
      '-': () => span.zoom(2, valueAt(centre)),
      Escape: () => { if (!span || !mark.hidden || at !== null) { clear(); chart.leave(); } else span.reset(); },
    };
    if (!acts[e.key] || (!span && '+=-'.includes(e.key))) return;
    e.preventDefault();
    acts[e.key]();
  });
  return h('div', { class: 'plot-box' }, element, mark);
}
