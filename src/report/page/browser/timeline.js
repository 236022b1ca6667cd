// The cluster over time on a canvas: how full each node was, or which job was where.
class Timeline {
  constructor(axis) {
    this.group = axis.group;
    this.span = axis.span;
    this.shown = 0;
    this.gantt = true;
    this.marked = null;  // the job under the pointer
    this.place = null;  // where the arrow keys are
    this.canvas = h('canvas', { tabindex: 0, role: 'img', 'aria-label': 'Timeline of the nodes', 'aria-describedby': 'keys' });
    this.ramp = h('div', { class: 'ramp' }, 'idle', h('i'), 'all GPUs held');
    this.hint = h('p', { class: 'hint' });
    this.side = h('div', { class: 'choices' });
    const title = 'The cluster over time';
    this.element = section(title, null, saveButtons(title, () => this.drawing(), () => this.rows()),
      this.side, brushable(this.canvas, this.span, this), this.ramp);
    this.element.querySelector('h2').after(this.hint);
    this.canvas.addEventListener('keydown', (e) => {
      const down = { ArrowUp: -1, ArrowDown: 1 }[e.key];
      if (!down || !this.view) return;
      e.preventDefault();
      this.walk(0, down);
    });
    this.refresh();
    drawings.push(() => this.draw());
  }

  get series() { return this.group[this.shown].series; }
  get showsJobs() { return this.gantt && this.series.spans.length > 0; }
  get from() { return this.span.shown[0]; }
  get to() { return this.span.shown[1]; }

  // What brushable() asks for.
  frame() { return this.view && { left: this.view.label, right: this.view.width - 6 }; }

  cursor() { return this.place && this.place.x; }

  move(px) { this.walk(px - (this.place ? this.place.x : (this.view.label + this.view.width) / 2), 0, px); }

  read(px, event) {
    this.place = null;
    this.find(px, event.clientY - this.canvas.getBoundingClientRect().top, event.clientX, event.clientY);
  }

  walk(right, down, px) {
    const { view } = this;
    const tall = view.height / view.rows;
    const at = this.place || { x: (view.label + view.width) / 2, y: tall / 2 };
    at.x = limit(px === undefined ? at.x + right : px, view.label + 1, view.width - 7);
    at.y = limit(at.y + down * tall, tall / 2, view.height - tall / 2);
    this.place = at;
    const edge = this.canvas.getBoundingClientRect();
    this.find(at.x, at.y, edge.left + at.x, edge.top + at.y);
  }

  leave() {
    hideTip();
    this.place = null;
    if (this.marked !== null) { this.marked = null; this.draw(); }
  }

  // The buttons, which depend on the run that is shown.
  refresh() {
    const turn = (change) => (i) => { change(i); this.marked = null; this.refresh(); this.draw(); };
    this.side.replaceChildren(...[
      choice('Policy', this.group.map((run) => run.summary.policy), this.shown, turn((i) => { this.shown = i; })),
      this.series.spans.length ? choice('View', ['Jobs', 'Nodes'], this.gantt ? 0 : 1, turn((i) => { this.gantt = i === 0; })) : null,
    ].filter(Boolean));
  }

  draw() {
    const jobs = this.showsJobs;
    this.ramp.hidden = jobs;
    if (jobs) this.hint.textContent = 'Each line is a GPU, each block a job on it; jobs that share a GPU split its line. Point at a block to see where else its job ran.';
    if (this.series.rows.length) this.paint((width, height) => {
      const scale = devicePixelRatio || 1;
      this.canvas.width = width * scale;
      this.canvas.height = height * scale;
      this.canvas.style.height = `${height}px`;
      const pen = this.canvas.getContext('2d');
      pen.scale(scale, scale);
      return pen;
    });
  }

  // `open` gives a pen for a drawing of this size.
  paint(open) {
    if (this.showsJobs) this.drawJobs(open);
    else this.drawNodes(open);
  }

  // The same as an svg element.
  drawing() {
    const view = this.view;
    let pen = null;
    this.paint((width, height) => { pen = svgPen(width, height); return pen; });
    this.view = view;
    return pen.element;
  }

  rows() {
    const { series, from, to } = this;
    const within = (a, b) => b > from && a < to;
    if (this.showsJobs) {
      return [['job', 'model', 'node', 'gpu', 'from_s', 'to_s'], ...series.spans.filter(([, , , a, b]) => within(a, b)).flatMap(([job, node, gpus, a, b]) =>
        gpus.map((gpu) => [series.jobs[job][0] || `job ${job}`, series.jobs[job][1], series.rows[node][0], gpu, a, b]))];
    }
    return [['node', 'gpus', 'from_s', 'to_s', 'gpus_held'], ...series.rows.flatMap(([name, gpus], row) => this.levels()[row].mean.map((level, k) =>
      [name, gpus, series.start + k * series.bucket, series.start + (k + 1) * series.bucket, +(level / 64 * gpus).toFixed(3)])
      .filter(([, , a, b]) => within(a, b)))];
  }

  // Opens a drawing, writes labels and times, and says where things go.
  frameOf(names, height, open) {
    const width = roomFor(this.canvas.parentElement);
    const pen = open(width, height + 24);
    pen.font = '12px system-ui, sans-serif';
    pen.textBaseline = 'middle';
    pen.fillStyle = css('--soft');
    const widest = names.reduce((most, name) => Math.max(most, pen.measureText(name).width), 0);
    const label = Math.min(width * .3, widest + 10);
    const x = (v) => label + (width - label - 6) * (limit(v, this.from, this.to) - this.from) / (this.to - this.from);
    const each = height / names.length;
    let last = -99;
    names.forEach((name, k) => {
      const y = Math.max(7, (k + .5) * each);
      if (y - last < 13) return;
      last = y;
      let text = name;
      while (text.length > 1 && pen.measureText(text).width > label - 8) text = `${text.slice(0, text.endsWith('…') ? -2 : -1)}…`;
      pen.fillText(text, 0, y);
    });
    pen.textAlign = 'center';
    timeTicks(this.from, this.to, width < 420 ? 4 : 8).forEach(([v, text]) => pen.fillText(text, Math.min(x(v), width - 3.4 * text.length), height + 14));
    return { pen, x, label, width, height, each };
  }

  drawNodes(open) {
    const { rows } = this.series;
    const high = Math.max(3, Math.min(22, Math.floor(520 / rows.length)));
    const view = this.frameOf(rows.map((row) => row[0]), Math.max(40, rows.length * high), open);
    const { pen, x, each, label, width } = view;
    const shades = shadesOf([0, 1, 2].map((k) => css(`--heat-${k}`).split(',').map(Number)));
    const gap = each > 7 ? 1.5 : each > 4 ? .5 : 0;
    const buckets = this.levels();
    let mean = 0;
    rows.forEach((_, k) => {
      const columns = columnsOf(buckets[k], this.span.shown, width - label - 6).filter((c) => c.to > this.from && c.from < this.to);
      columns.forEach((column) => { mean = Math.max(mean, column.to - column.from); });
      for (let c = 0; c < columns.length;) {
        const first = c;
        const shade = Math.round(columns[first].mean);
        while (c < columns.length && Math.round(columns[c].mean) === shade) ++c;
        const left = x(columns[first].from);
        pen.fillStyle = shades[shade];
        pen.fillRect(left, k * each, x(columns[c - 1].to) - left + .4, each - gap);
      }
    });
    this.hint.textContent = `How many of each node\u2019s GPUs were held, as means of ${duration(mean)}.`;
    this.view = { ...view, rows: rows.length };
  }

  // Of each row, what its letters say: from 0 to 64.
  levels() {
    const { series } = this;
    series.levels = series.levels || series.rows.map(([, , cells]) => ({ start: series.start, width: series.bucket, mean: Array.from(cells, (cell) => cell.charCodeAt(0) - 48) }));
    return series.levels;
  }

  drawJobs(open) {
    const { series } = this;
    series.lines = series.lines || linesOf(series);
    const { lines, starts } = series.lines;
    const high = Math.max(4, Math.min(16, Math.floor(620 / Math.max(1, lines.length))));
    const view = this.frameOf(series.rows.map((row) => row[0]), lines.length * high, open);
    const { pen, x, label, height } = view;
    const line = height / Math.max(1, lines.length);
    const paints = Array.from({ length: 8 }, (_, k) => css(`--s${k}`));
    const card = css('--card');
    pen.fillStyle = `rgb(${css('--heat-0')})`;
    pen.fillRect(label, 0, x(this.to) - label, height);
    lines.forEach((blocks, l) => blocks.forEach((block) => {
      if (block.to <= this.from || block.from >= this.to) return;
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

  find(x, y, px, py) {
    const { view } = this;
    if (!view) return;
    const v = this.from + (this.to - this.from) * (x - view.label) / (view.width - view.label - 6);
    if (x < view.label || v > this.to || y < 0 || y >= view.height) this.leave();
    else if (this.showsJobs) this.readJob(v, y, px, py);
    else this.readNode(v, y, px, py);
  }

  readNode(v, y, px, py) {
    const row = Math.floor(y / this.view.each);
    const [name, gpus] = this.series.rows[row];
    const found = bucketAt(this.levels()[row], v);
    showTip(px, py, name, [[null, this.when(v), ''], [null, 'GPUs held', `${+((found ? found.mean : 0) / 64 * gpus).toFixed(1)} of ${gpus}`]]);
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
    const at = (v) => moment(v, this.span);
    showTip(px, py, name || `job ${job}`, [...(model ? [[null, 'model', model]] : []), [null, 'GPUs asked for', `${gpus}`], [null, where, ''],
      [null, 'from', at(block.from)], [null, 'to', at(block.to)], [null, 'for', duration(block.to - block.from)]]);
  }

  when(v) { return `at ${moment(v, this.span)}`; }
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

// What the timeline asks of a canvas, drawn as SVG.
function svgPen(width, height) {
  const element = s('svg', { viewBox: `0 0 ${width} ${height}`, width, height });
  const ruler = document.createElement('canvas').getContext('2d');
  return {
    element, globalAlpha: 1, fillStyle: '', textAlign: 'start',
    set font(value) { ruler.font = value; },
    measureText: (text) => ruler.measureText(text),
    fillRect(x, y, wide, tall) {
      element.append(s('rect', { x: x.toFixed(2), y: y.toFixed(2), width: wide.toFixed(2), height: tall.toFixed(2), fill: this.fillStyle, 'fill-opacity': this.globalAlpha < 1 ? this.globalAlpha : null }));
    },
    fillText(text, x, y) {
      element.append(s('text', { x: x.toFixed(1), y: (y + 4).toFixed(1), fill: this.fillStyle, 'font-size': 12, 'text-anchor': this.textAlign === 'center' ? 'middle' : null }, text));
    },
  };
}
