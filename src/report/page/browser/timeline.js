// The cluster over time on a canvas: how full each node was, or which job was where.
class Timeline {
  constructor(group) {
    this.group = group;
    [this.from, this.to] = reach(group);
    this.shown = 0;
    this.gantt = true;
    this.marked = null;  // the job under the pointer
    this.cursor = null;  // where the arrow keys are
    this.canvas = h('canvas', { tabindex: 0, role: 'img', 'aria-label': 'Timeline of the nodes. Arrow keys read values.' });
    this.ramp = h('div', { class: 'ramp' }, 'idle', h('i'), 'all GPUs held');
    this.hint = h('p', { class: 'hint' });
    this.side = h('div', { class: 'choice' });
    this.element = section('The cluster over time', null, this.side, this.canvas, this.ramp);
    this.element.querySelector('h2').after(this.hint);
    this.listen();
  }

  get series() { return this.group[this.shown].series; }
  get showsJobs() { return this.gantt && this.series.spans.length > 0; }

  listen() {
    const { canvas } = this;
    canvas.addEventListener('pointermove', (e) => {
      const edge = canvas.getBoundingClientRect();
      this.cursor = null;
      this.read((e.clientX - edge.left) * this.view.width / edge.width, e.clientY - edge.top, e.clientX, e.clientY);
    });
    canvas.addEventListener('pointerleave', () => this.leave());
    canvas.addEventListener('blur', () => this.leave());
    canvas.addEventListener('keydown', (e) => {
      const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[e.key];
      if (e.key === 'Escape') this.leave();
      if (!step || !this.view) return;
      e.preventDefault();
      this.walk(step);
    });
  }

  walk([right, down]) {
    const { view } = this;
    const tall = view.height / view.rows;
    const at = this.cursor || { x: (view.label + view.width) / 2, y: tall / 2 };
    const limit = (v, low, high) => Math.max(low, Math.min(high, v));
    at.x = limit(at.x + right * (view.width - view.label) / 60, view.label + 1, view.width - 8);
    at.y = limit(at.y + down * tall, tall / 2, view.height - tall / 2);
    this.cursor = at;
    const edge = this.canvas.getBoundingClientRect();
    this.read(at.x, at.y, edge.left + at.x, edge.top + at.y);
  }

  leave() {
    hideTip();
    this.cursor = null;
    if (this.marked !== null) { this.marked = null; this.draw(); }
  }

  // The buttons, which depend on the run that is shown, and then the picture.
  refresh() {
    const buttons = (label, names, is, choose) => h('div', { class: 'choice', role: 'group', 'aria-label': label }, names.map((name, i) =>
      h('button', { type: 'button', 'aria-pressed': String(is(i)), onclick: () => { choose(i); this.marked = null; this.refresh(); } }, name)));
    const names = this.group.map((run) => run.summary.policy);
    this.side.replaceChildren(...[
      names.length > 1 ? buttons('Policy', names, (i) => i === this.shown, (i) => { this.shown = i; }) : null,
      this.series.spans.length ? buttons('View', ['Jobs', 'Nodes'], (i) => this.gantt === (i === 0), (i) => { this.gantt = i === 0; }) : null,
    ].filter(Boolean));
    this.draw();
  }

  draw() {
    const jobs = this.showsJobs;
    this.ramp.style.display = jobs ? 'none' : '';
    this.hint.textContent = jobs
      ? 'Each line is a GPU, each block a job on it; jobs that share a GPU split its line. Point at a block to see where else its job ran.'
      : 'How many of each node\u2019s GPUs were held, as a mean over each moment.';
    if (!this.series.rows.length || !(this.to > this.from)) return;
    if (jobs) this.drawJobs();
    else this.drawNodes();
  }

  // Sizes the canvas, writes labels and times, and says where things go.
  frame(names, height) {
    const width = roomFor(this.canvas);
    const scale = devicePixelRatio || 1;
    this.canvas.width = width * scale;
    this.canvas.height = (height + 24) * scale;
    this.canvas.style.height = `${height + 24}px`;
    const pen = this.canvas.getContext('2d');
    pen.scale(scale, scale);
    pen.font = '12px system-ui, sans-serif';
    pen.textBaseline = 'middle';
    pen.fillStyle = css('--soft');
    const widest = names.reduce((most, name) => Math.max(most, pen.measureText(name).width), 0);
    const label = Math.min(width * .3, widest + 10);
    const x = (v) => label + (width - label - 6) * (v - this.from) / (this.to - this.from);
    const each = height / names.length;
    let last = -99;
    names.forEach((name, k) => {
      const y = Math.max(7, (k + .5) * each);
      if (y - last < 13) return;
      last = y;
      pen.fillText(name, 0, y, label - 8);
    });
    pen.textAlign = 'center';
    timeTicks(this.from, this.to, width < 420 ? 4 : 8).forEach(([v, text]) => pen.fillText(text, Math.min(x(v), width - 14), height + 14));
    return { pen, x, label, width, height, each };
  }

  drawNodes() {
    const { series } = this;
    const { rows } = series;
    const high = Math.max(3, Math.min(22, Math.floor(520 / rows.length)));
    const view = this.frame(rows.map((row) => row[0]), Math.max(40, rows.length * high));
    const { pen, x, each } = view;
    const shades = shadesOf([0, 1, 2].map((k) => css(`--heat-${k}`).split(',').map(Number)));
    const gap = each > 7 ? 1.5 : each > 4 ? .5 : 0;
    rows.forEach(([, , cells], k) => {
      for (let b = 0; b < cells.length;) {
        const first = b;
        while (b < cells.length && cells[b] === cells[first]) ++b;
        const left = x(series.start + first * series.bucket);
        pen.fillStyle = shades[cells.charCodeAt(first) - 48];
        pen.fillRect(left, k * each, Math.min(x(this.to), x(series.start + b * series.bucket)) - left + .4, each - gap);
      }
    });
    this.view = { ...view, rows: rows.length };
  }

  drawJobs() {
    const { series } = this;
    series.lines = series.lines || linesOf(series);
    const { lines, starts } = series.lines;
    const high = Math.max(4, Math.min(16, Math.floor(620 / Math.max(1, lines.length))));
    const view = this.frame(series.rows.map((row) => row[0]), lines.length * high);
    const { pen, x, label, height } = view;
    const line = height / Math.max(1, lines.length);
    const paints = Array.from({ length: 8 }, (_, k) => css(`--s${k}`));
    const card = css('--card');
    pen.fillStyle = `rgb(${css('--heat-0')})`;
    pen.fillRect(label, 0, x(this.to) - label, height);
    lines.forEach((blocks, l) => blocks.forEach((block) => {
      const left = x(block.from);
      const wide = Math.max(.8, x(block.to) - left);
      const tall = line / block.lanes;
      const top = l * line + block.lane * tall;
      pen.globalAlpha = this.marked === null ? .88 : block.job === this.marked ? 1 : .16;
      pen.fillStyle = paints[block.job % 8];
      pen.fillRect(left, top, wide, tall - .4);
      pen.fillStyle = card;
      if (wide > 3) pen.fillRect(left + wide - .7, top, .7, tall);
    }));
    pen.globalAlpha = 1;
    pen.fillStyle = card;
    starts.forEach((first) => first && pen.fillRect(label, first * line - .8, x(this.to) - label, 1.6));
    this.view = { ...view, line, lines, starts, rows: lines.length };
  }

  read(x, y, px, py) {
    const { view } = this;
    if (!view) return;
    const v = this.from + (this.to - this.from) * (x - view.label) / (view.width - view.label - 6);
    if (x < view.label || v > this.to || y < 0 || y >= view.height) this.leave();
    else if (this.showsJobs) this.readJob(v, y, px, py);
    else this.readNode(v, y, px, py);
  }

  readNode(v, y, px, py) {
    const { series } = this;
    const [name, gpus, cells] = series.rows[Math.floor(y / this.view.each)];
    const b = Math.floor((v - series.start) / series.bucket);
    const level = b >= 0 && b < cells.length ? (cells.charCodeAt(b) - 48) / 64 : 0;
    showTip(px, py, name, [[null, this.when(v), ''], [null, 'GPUs held', `${+(level * gpus).toFixed(1)} of ${gpus}`]]);
  }

  readJob(v, y, px, py) {
    const { lines, starts, line } = this.view;
    const l = Math.floor(y / line);
    const part = y / line - l;
    const block = lines[l].find((b) => v >= b.from && v <= b.to && part * b.lanes >= b.lane && part * b.lanes <= b.lane + 1);
    const job = block ? block.job : null;
    if (job !== this.marked) { this.marked = job; this.draw(); }
    const node = starts.findLastIndex((first) => first <= l);
    const where = `${this.series.rows[node][0]}, GPU ${l - starts[node]}`;
    if (!block) { showTip(px, py, where, [[null, this.when(v), 'idle']]); return; }
    const [name, model, gpus] = this.series.jobs[job];
    const span = this.to - this.from;
    showTip(px, py, name || `job ${job}`, [...(model ? [[null, 'model', model]] : []), [null, 'GPUs asked for', `${gpus}`], [null, where, ''],
      [null, 'from', clock(block.from, span)], [null, 'to', clock(block.to, span)], [null, 'for', duration(block.to - block.from)]]);
  }

  when(v) { return `after ${clock(v, this.to - this.from)}`; }
}

function shadesOf(stops) {
  return Array.from({ length: 65 }, (_, k) => {
    const [a, b, part] = k < 32 ? [stops[0], stops[1], k / 32] : [stops[1], stops[2], k / 32 - 1];
    return `rgb(${a.map((c, i) => Math.round(c + (b[i] - c) * part)).join(',')})`;
  });
}

// The spans by GPU. Jobs that share one get a lane each, as many as are there at once.
function linesOf(series) {
  const starts = [];
  const lines = [];
  series.rows.forEach(([, gpus]) => { starts.push(lines.length); for (let g = 0; g < gpus; ++g) lines.push([]); });
  series.spans.forEach(([job, node, gpus, from, to]) => gpus.forEach((gpu) => lines[starts[node] + gpu].push({ job, from, to })));
  lines.forEach((blocks) => {
    blocks.sort((a, b) => a.from - b.from);
    let ends = [];
    let together = [];
    const close = () => { together.forEach((b) => { b.lanes = ends.length; }); together = []; ends = []; };
    blocks.forEach((block) => {
      if (ends.every((end) => end <= block.from)) close();
      let lane = ends.findIndex((end) => end <= block.from);
      if (lane < 0) lane = ends.push(0) - 1;
      ends[lane] = block.to;
      block.lane = lane;
      together.push(block);
    });
    close();
  });
  return { lines, starts };
}
