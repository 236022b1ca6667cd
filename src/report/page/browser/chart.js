// One chart of lines over x. `lines` gives [run index, points]; the cross-hair goes by pointer or arrow keys.
function chart(spec) {
  const plot = s('svg', { class: 'plot', tabindex: 0, role: 'img', 'aria-label': `${spec.label}. Arrow keys read values.` });
  let at = null;
  let frame = null;
  const draw = () => {
    const width = roomFor(plot);
    const height = spec.height;
    const box = { left: 46, right: width - 12, top: 12, bottom: height - 26 };
    const lines = spec.lines();
    const [x0, x1] = spec.range;
    const top = spec.top || Math.max(1e-9, ...lines.flatMap(([, points]) => points.map((p) => p[1]))) * 1.06;
    const along = spec.log ? (v) => Math.log(v / x0) / Math.log(x1 / x0) : (v) => (v - x0) / (x1 - x0);
    const x = (v) => box.left + (box.right - box.left) * along(v);
    const y = (v) => box.bottom - (box.bottom - box.top) * v / top;
    const back = (px) => {
      const part = Math.max(0, Math.min(1, (px - box.left) / (box.right - box.left)));
      return spec.log ? x0 * (x1 / x0) ** part : x0 + (x1 - x0) * part;
    };
    frame = { lines, x, y, back, box };
    const ticks = spec.log ? lengthTicks(x0, x1, box.right - box.left) : timeTicks(x0, x1, width < 420 ? 4 : 8);
    plot.setAttribute('viewBox', `0 0 ${width} ${height}`);
    plot.setAttribute('height', height);
    plot.replaceChildren(
      ...valueTicks(spec.ticks || spec.limit || top, spec.show).flatMap(([v, text]) => [
        s('line', { class: v ? 'grid' : 'axis', x1: box.left, x2: box.right, y1: y(v), y2: y(v) }),
        s('text', { x: box.left - 8, y: y(v) + 4, 'text-anchor': 'end' }, text)]),
      ...ticks.flatMap(([v, text]) => [
        s('line', { class: 'grid', x1: x(v), x2: x(v), y1: box.top, y2: box.bottom }),
        s('text', { x: Math.min(x(v), box.right - 8), y: height - 8, 'text-anchor': 'middle' }, text)]),
      ...(spec.limit ? [s('line', { class: 'limit', x1: box.left, x2: box.right, y1: y(spec.limit), y2: y(spec.limit) })] : []),
      ...lines.flatMap(([i, points]) => {
        const path = points.map((p, k) => `${k ? 'L' : 'M'}${x(p[0]).toFixed(1)} ${y(p[1]).toFixed(1)}`).join('');
        const area = spec.area && lines.length < 4 && points.length
          ? [s('path', { class: 'area', style: `fill:${colour(i)}`, d: `${path}L${x(points.at(-1)[0]).toFixed(1)} ${box.bottom}L${x(points[0][0]).toFixed(1)} ${box.bottom}Z` })] : [];
        return [...area, s('path', { class: 'curve', d: path, style: `stroke:${colour(i)}`, 'stroke-dasharray': dash(i) })];
      }),
      s('g', { class: 'hover' }));
  };
  const read = (value, px, py) => {
    at = value;
    const { lines, x, y, box } = frame;
    const marks = lines.map(([i, points]) => [i, spec.read(points, value)]).filter(([, v]) => v !== null);
    plot.querySelector('.hover').replaceChildren(
      s('line', { class: 'cross', x1: x(value), x2: x(value), y1: box.top, y2: box.bottom }),
      ...marks.map(([i, v]) => s('circle', { cx: x(value), cy: y(v), r: 4, style: `fill:${colour(i)};stroke:var(--card)`, 'stroke-width': 1.5 })));
    showTip(px, py, spec.title(value), marks.map(([i, v]) => [dot(i), spec.names[i], spec.exact(v)]));
  };
  const leave = () => { hideTip(); at = null; const g = plot.querySelector('.hover'); if (g) g.replaceChildren(); };
  plot.addEventListener('pointermove', (e) => {
    const edge = plot.getBoundingClientRect();
    read(frame.back((e.clientX - edge.left) * plot.viewBox.baseVal.width / edge.width), e.clientX, e.clientY);
  });
  plot.addEventListener('pointerleave', leave);
  plot.addEventListener('blur', leave);
  plot.addEventListener('keydown', (e) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
    if (e.key === 'Escape') leave();
    if (!step) return;
    e.preventDefault();
    const { box, x, back } = frame;
    const px = Math.max(box.left, Math.min(box.right, (at === null ? (box.left + box.right) / 2 : x(at)) + step * (box.right - box.left) / 60));
    const edge = plot.getBoundingClientRect();
    read(back(px), edge.left + px * edge.width / plot.viewBox.baseVal.width, edge.top + 30);
  });
  drawings.push(draw);
  return plot;
}
