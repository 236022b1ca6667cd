// The cluster over time on a canvas: how full each node was, or which job was where.
function timeline(group) {
  const [from, to] = reach(group);
  let shown = 0;
  let gantt = group[0].series.spans.length > 0;
  let marked = null;
  let cell = null;
  let view = null;
  const canvas = h('canvas', { tabindex: 0, role: 'img', 'aria-label': 'Timeline of the nodes. Arrow keys read values.' });
  const ramp = h('div', { class: 'ramp' }, 'idle', h('i'), 'all GPUs held');
  const hint = h('p', { class: 'hint' });
  const buttons = (label, names, is, choose) => h('div', { class: 'choice', role: 'group', 'aria-label': label }, names.map((name, i) =>
    h('button', { type: 'button', 'aria-pressed': String(is(i)), onclick: () => { choose(i); refresh(); } }, name)));
  const side = h('div', { class: 'choice' });
  const refresh = () => {
    const spans = group[shown].series.spans.length > 0;
    side.replaceChildren(...[group.length > 1 ? buttons('Policy', group.map((r) => r.summary.policy), (i) => i === shown, (i) => { shown = i; marked = null; }) : null,
      spans ? buttons('View', ['Jobs', 'Nodes'], (i) => gantt === (i === 0), (i) => { gantt = i === 0; marked = null; }) : null].filter(Boolean));
    draw();
  };
  const mix = (stops, v) => {
    const [a, b, part] = v < .5 ? [stops[0], stops[1], v * 2] : [stops[1], stops[2], v * 2 - 1];
    return `rgb(${a.map((c, k) => Math.round(c + (b[k] - c) * part)).join(',')})`;
  };
  const prepare = (rows, height) => {
    const width = roomFor(canvas);
    const scale = devicePixelRatio || 1;
    canvas.width = width * scale; canvas.height = (height + 24) * scale;
    canvas.style.height = `${height + 24}px`;
    const pen = canvas.getContext('2d');
    pen.scale(scale, scale);
    pen.font = '12px system-ui, sans-serif';
    pen.textBaseline = 'middle';
    const label = Math.min(width * .3, Math.max(...rows.map((r) => pen.measureText(r).width)) + 10);
    const x = (v) => label + (width - label - 6) * (v - from) / (to - from);
    pen.fillStyle = css('--soft');
    let last = -99;
    const each = height / rows.length;
    rows.forEach((name, k) => {
      const y = Math.max(7, (k + .5) * each);
      if (y - last < 13) return;
      last = y;
      pen.fillText(name, 0, y, label - 8);
    });
    pen.textAlign = 'center';
    timeTicks(from, to, width < 420 ? 4 : 8).forEach(([v, text]) => pen.fillText(text, Math.min(x(v), width - 14), height + 14));
    pen.textAlign = 'left';
    return { pen, x, label, width, height, each };
  };
  const drawHeat = (series) => {
    const rows = series.rows;
    const high = Math.max(3, Math.min(22, Math.floor(520 / Math.max(1, rows.length))));
    const p = prepare(rows.map((r) => r[0]), Math.max(40, rows.length * high));
    const stops = [0, 1, 2].map((k) => css(`--heat-${k}`).split(',').map(Number));
    const shades = Array.from({ length: 65 }, (_, k) => mix(stops, k / 64));
    const gap = p.each > 7 ? 1.5 : p.each > 4 ? .5 : 0;
    rows.forEach(([, , cells], k) => {
      for (let b = 0; b < cells.length;) {
        const level = cells.charCodeAt(b) - 48;
        const first = b;
        while (b < cells.length && cells.charCodeAt(b) - 48 === level) ++b;
        const left = p.x(series.start + first * series.bucket);
        p.pen.fillStyle = shades[level];
        p.pen.fillRect(left, k * p.each, Math.min(p.x(to), p.x(series.start + b * series.bucket)) - left + .4, p.each - gap);
      }
    });
    view = { ...p, rows: rows.length };
  };
  // Jobs that share a GPU get a lane each, as many as are there at once.
  const lanes = (series) => {
    const nodes = series.rows.length;
    const starts = []; let lines = 0; const sizes = series.rows.map((r) => r[1]);
    for (let n = 0; n < nodes; ++n) { starts.push(lines); lines += sizes[n]; }
    const byLine = Array.from({ length: lines }, () => []);
    series.spans.forEach((span, k) => span[2].forEach((gpu) => byLine[starts[span[1]] + gpu].push({ k, from: span[3], to: span[4], job: span[0] })));
    byLine.forEach((list) => {
      list.sort((a, b) => a.from - b.from);
      let ends = []; let open = [];
      const close = () => { open.forEach((item) => { item.lanes = ends.length; }); open = []; ends = []; };
      list.forEach((item) => {
        if (ends.every((end) => end <= item.from)) close();
        let lane = ends.findIndex((end) => end <= item.from);
        if (lane < 0) { lane = ends.length; ends.push(0); }
        ends[lane] = item.to; item.lane = lane; open.push(item);
      });
      close();
    });
    return { byLine, starts };
  };
  const drawJobs = (series) => {
    series.lanes = series.lanes || lanes(series);
    const { byLine, starts } = series.lanes;
    const high = Math.max(4, Math.min(16, Math.floor(620 / Math.max(1, byLine.length))));
    const p = prepare(series.rows.map((r) => r[0]), byLine.length * high);
    const line = p.height / Math.max(1, byLine.length);
    const paints = Array.from({ length: 8 }, (_, k) => css(`--s${k}`));
    const card = css('--card');
    p.pen.fillStyle = `rgb(${css('--heat-0')})`;
    p.pen.fillRect(p.label, 0, p.x(to) - p.label, p.height);
    byLine.forEach((list, l) => list.forEach((item) => {
      const left = p.x(item.from);
      const wide = Math.max(.8, p.x(item.to) - left);
      const tall = line / item.lanes;
      p.pen.globalAlpha = marked === null ? .88 : item.job === marked ? 1 : .16;
      p.pen.fillStyle = paints[item.job % 8];
      p.pen.fillRect(left, l * line + item.lane * tall, wide, tall - .4);
      p.pen.fillStyle = card;
      if (wide > 3) p.pen.fillRect(left + wide - .7, l * line + item.lane * tall, .7, tall);
    }));
    p.pen.globalAlpha = 1;
    p.pen.fillStyle = card;
    starts.forEach((first) => first && p.pen.fillRect(p.label, first * line - .8, p.x(to) - p.label, 1.6));
    view = { ...p, line, byLine, starts, rows: byLine.length };
  };
  const draw = () => {
    const series = group[shown].series;
    const jobs = gantt && series.spans.length > 0;
    ramp.hidden = jobs;
    ramp.style.display = jobs ? 'none' : '';
    hint.textContent = jobs ? 'Each line is a GPU, each block a job on it; jobs that share a GPU split its line. Point at a block to see where else its job ran.'
      : 'How many of each node\u2019s GPUs were held, as a mean over each moment.';
    if (series.rows.length && to > from) (jobs ? drawJobs : drawHeat)(series);
  };
  const read = (x, y, px, py) => {
    const series = group[shown].series;
    const v = from + (to - from) * (x - view.label) / (view.width - view.label - 6);
    if (x < view.label || v > to || y < 0 || y >= view.height) return leave();
    if (!(gantt && series.spans.length)) {
      const [name, gpus, cells] = series.rows[Math.floor(y / view.each)];
      const b = Math.floor((v - series.start) / series.bucket);
      const level = b >= 0 && b < cells.length ? (cells.charCodeAt(b) - 48) / 64 : 0;
      return showTip(px, py, name, [[null, `after ${clock(v, to - from)}`, ''], [null, 'GPUs held', `${+(level * gpus).toFixed(1)} of ${gpus}`]]);
    }
    const l = Math.floor(y / view.line);
    const lane = y / view.line - l;
    const item = view.byLine[l].find((i) => v >= i.from && v <= i.to && lane >= i.lane / i.lanes && lane <= (i.lane + 1) / i.lanes);
    const job = item ? item.job : null;
    if (job !== marked) { marked = job; draw(); }
    let node = view.starts.length - 1;
    while (view.starts[node] > l) --node;
    const where = `${series.rows[node][0]}, GPU ${l - view.starts[node]}`;
    if (!item) return showTip(px, py, where, [[null, `after ${clock(v, to - from)}`, 'idle']]);
    const [name, model, gpus] = series.jobs[job];
    showTip(px, py, name || `job ${job}`, [...(model ? [[null, 'model', model]] : []), [null, 'GPUs asked for', `${gpus}`], [null, where, ''],
      [null, 'from', clock(item.from, to - from)], [null, 'to', clock(item.to, to - from)], [null, 'for', duration(item.to - item.from)]]);
  };
  const leave = () => { hideTip(); cell = null; if (marked !== null) { marked = null; draw(); } };
  canvas.addEventListener('pointermove', (e) => {
    const edge = canvas.getBoundingClientRect();
    read((e.clientX - edge.left) * view.width / edge.width, e.clientY - edge.top, e.clientX, e.clientY);
  });
  canvas.addEventListener('pointerleave', leave);
  canvas.addEventListener('blur', leave);
  canvas.addEventListener('keydown', (e) => {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[e.key];
    if (e.key === 'Escape') leave();
    if (!step) return;
    e.preventDefault();
    const tall = view.height / view.rows;
    cell = cell || { x: (view.label + view.width) / 2, y: tall / 2 };
    cell.x = Math.max(view.label + 1, Math.min(view.width - 8, cell.x + step[0] * (view.width - view.label) / 60));
    cell.y = Math.max(tall / 2, Math.min(view.height - tall / 2, cell.y + step[1] * tall));
    const kept = cell;
    const edge = canvas.getBoundingClientRect();
    read(cell.x, cell.y, edge.left + cell.x, edge.top + cell.y);
    cell = kept;
  });
  drawings.push(draw);
  queueMicrotask(refresh);
  const block = section('The cluster over time', null, side, canvas, ramp);
  block.querySelector('h2').after(hint);
  return block;
}
