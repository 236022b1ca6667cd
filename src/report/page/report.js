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

// Numbers and times.
const three = (v) => { const a = Math.abs(v); return v.toFixed(a < 9.995 ? 2 : a < 99.95 ? 1 : 0); };
const units = [['d', 86400, 172800], ['h', 3600, 7200], ['min', 60, 120], ['s', 1, 0]];
const unitOf = (v) => units.find((unit) => Math.abs(v) >= unit[2]);
// One unit for a whole column: that of the longest, or a smaller one in which the shortest does not vanish.
const duration = (v, longest, shortest) => {
  if (v === null || v === undefined) return '–';
  let unit = unitOf(longest || v);
  while (unit[2] > 0 && (shortest || v) < unit[1] / 10) unit = units[units.indexOf(unit) + 1];
  return `${three(v / unit[1])} ${unit[0]}`;
};
const percent = (v) => v === null || v === undefined ? '–' : `${(v * 100).toFixed(1)} %`;
const count = (v) => v === null || v === undefined ? '–' : Math.round(v).toLocaleString('en').replace(/,/g, '\u202f');
const decimal = (v) => v === null || v === undefined ? '–' : v >= 1000 ? count(v) : three(v);
const clock = (v, span) => {
  const [name, size] = unitOf(span);
  return `${+(v / size).toFixed(span / size < 20 ? 2 : 1)} ${name}`;
};

// Colours go with the place of a run in its trace; dashes distinguish what colours no longer can.
const dashes = ['', '7 3', '2 3', '9 3 2 3'];
const colour = (i) => `var(--s${i % 8})`;
const dash = (i) => dashes[(i < 8 ? i % 2 : 2 + i % 2)];
const stroke = (i) => s('svg', { viewBox: '0 0 22 8', 'aria-hidden': 'true' }, s('line', { x1: 0, x2: 22, y1: 4, y2: 4,
  style: `stroke:${colour(i)}`, 'stroke-width': 2.6, 'stroke-dasharray': dash(i) }));
const dot = (i) => h('span', { class: 'dot', style: `background:${colour(i)}` });

let theme = params.get('theme') || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
let chosenTheme = params.has('theme');
const drawings = [];
const redraw = () => drawings.forEach((draw) => draw());
const setTheme = (name) => { theme = name; root.dataset.theme = name; redraw(); };
root.dataset.theme = theme;
document.getElementById('theme').addEventListener('click', () => {
  chosenTheme = true;
  setTheme(theme === 'dark' ? 'light' : 'dark');
});
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', (e) => {
  if (!chosenTheme) setTheme(e.matches ? 'dark' : 'light');
});

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

// How many times better than the first run. Every figure compared so is better when smaller, unless said.
const ratio = (first, value, more) => {
  if (!(first > 0) || !(value > 0)) return null;
  const times = more ? value / first : first / value;
  if (Math.abs(times - 1) < 0.005) return ['same', 'same'];
  const text = (v) => v >= 1000 ? '>1000×' : `${three(v)}×`;
  return times > 1 ? [`${text(times)} better`, 'better'] : [`${text(1 / times)} worse`, 'worse'];
};
const chip = (r) => r && h('span', { class: `chip ${r[1]}` }, r[0]);

// Runs that refused or left different jobs are compared over those that both completed.
const sameJobs = (first, run) => run.common_jobs === null ? first.completed === first.jobs && run.completed === run.jobs
  : run.common_jobs === first.completed && run.common_jobs === run.completed;
const fairRatio = (f, first, run) => {
  if (first[f.key] === null || run[f.key] === null) return null;
  if (f.whole || sameJobs(first, run)) return ratio(first[f.key], run[f.key], f.more);
  return f.common ? ratio(run[`first_common_${f.key}`], run[`common_${f.key}`], f.more) : null;
};
// How a figure stands to that of the first run, for ranking: above 1 is better.
const rank = (f, first, run) => {
  // The jobs that an interrupted run has completed are the short ones.
  if (first.status !== 'complete' || run.status !== 'complete') return null;
  if (first === run) return 1;
  const common = f.common && !sameJobs(first, run);
  const a = common ? run[`first_common_${f.key}`] : first[f.key];
  const b = common ? run[`common_${f.key}`] : run[f.key];
  if (a === null || b === null || !(a > 0) || !(b > 0)) return null;
  return f.more ? b / a : a / b;
};
const endsOf = (r) => {
  const ends = [['refused', r.rejected], ['failed', r.failed], ['cancelled', r.cancelled], ['left', r.left]]
    .filter(([, n]) => n > 0).map(([what, n]) => `${what} ${count(n)}`);
  return ends.length ? ends.join(', ') : 'completed all';
};
const state = (r) => r.status === 'complete' ? null : h('span', { class: 'chip worse' }, r.status);

// The charts below show the others too: these cards give way to those about deadlines.
const figures = [
  { key: 'deadline_ratio', name: 'Deadlines met', card: 'Most deadlines met', show: percent, more: true, ratio: true, whole: true },
  { key: 'avg_jct_s', name: 'Average JCT', card: 'Best average completion time', show: duration, ratio: true, common: true },
  { key: 'p50_jct_s', name: 'Median JCT', show: duration, ratio: true, spare: true, common: true },
  { key: 'p99_jct_s', name: '99th percentile', card: 'Best 99th percentile', show: duration, ratio: true, common: true },
  { key: 'makespan_s', name: 'Makespan', card: 'Shortest makespan', show: duration, ratio: true, common: true },
  { key: 'avg_wait_s', name: 'Average wait', show: duration, ratio: true, spare: true },
  { key: 'avg_queue', name: 'Jobs waiting', show: decimal, ratio: true, spare: true },
  { key: 'best_effort_avg_jct_s', name: 'Best effort JCT', show: duration, ratio: true },
  { key: 'soft_value_won', name: 'Value won', show: decimal, more: true, ratio: true, whole: true },
  { key: 'goodput', name: 'Goodput', card: 'Highest goodput', show: percent, more: true },
  { key: 'lost_gpu_h', name: 'Lost GPU h', card: 'Least work lost, GPU h', show: decimal },
  { key: 'cost', name: 'Cost', card: 'Lowest cost', show: decimal },
  { key: 'gpu_utilisation', name: 'GPU use', card: 'Highest GPU use', show: percent, more: true },
  { key: 'cluster_efficiency', name: 'Efficiency', show: percent, more: true },
  { key: 'arrivals_gpu_utilisation', name: 'GPU use, arrivals', show: percent, more: true, spare: true },
  { key: 'arrivals_cluster_efficiency', name: 'Efficiency, arrivals', show: percent, more: true, spare: true },
];

function cards(group) {
  const known = figures.filter((f) => f.card && group.some((run) => run.summary[f.key] !== null)).slice(0, 4);
  return h('div', { class: 'cards' }, known.map((f) => {
    const value = (run) => run.summary[f.key];
    const all = group.map((run, i) => i).filter((i) => value(group[i]) !== null);
    const complete = all.filter((i) => group[i].summary.status === 'complete');
    const known = complete.length ? complete : all;
    const first = group[0].summary;
    const standing = (i) => rank(f, first, group[i].summary);
    const fair = f.common && known.every((i) => standing(i) !== null);
    const best = known.sort((a, b) => fair ? standing(b) - standing(a) : (value(group[a]) - value(group[b])) * (f.more ? -1 : 1))[0];
    const r = f.ratio && best > 0 ? fairRatio(f, first, group[best].summary) : null;
    return h('div', { class: 'card' },
      h('div', { class: 'label' }, group.length > 1 ? f.card : f.name),
      h('div', { class: 'value' }, f.show(value(group[best]))),
      h('div', { class: 'run' }, dot(best), group[best].summary.policy, chip(r), state(group[best].summary)));
  }));
}

const kept = (r) => r.promises_broken == null ? '–' : r.promises_broken === 0 ? `all ${count(r.promises)}` : `${count(r.promises - r.promises_broken)} of ${count(r.promises)}`;

function comparison(group) {
  const due = group.some((run) => run.summary.deadline_ratio !== null);
  const shown = figures.filter((f) => !(due && f.spare) && group.some((run) => run.summary[f.key] !== null));
  const first = group[0].summary;
  const plain = [['Done', ({ summary: r }) => r.status === 'not run' ? '–' : r.completed === r.jobs && !r.left ? 'all'
    : `${count(r.completed)} of ${count(r.jobs)}: ${endsOf(r)}`]];
  if (group.some((run, i) => i > 0 && run.summary.common_jobs !== null && !sameJobs(first, run.summary))) {
    plain.push(['Compared over', ({ summary: r }) => r.common_jobs === null ? '–' : `${count(r.common_jobs)} jobs`]);
  }
  if (group.some((run) => run.summary.promises_broken !== null)) plain.push(['Promises kept', ({ summary: r }) => kept(r)]);
  if (!due) plain.push(['Starts', (run) => count(run.summary.starts)], ['Pauses', (run) => count(run.summary.preemptions)]);
  const smallest = (f) => Math.min(...group.map((run) => run.summary[f.key]).filter((v) => v > 0));
  const largest = (f) => Math.max(...group.map((run) => run.summary[f.key] || 0));
  const bar = (f, run, i) => {
    if (run.summary[f.key] == null) return null;
    const whole = f.show === percent ? Math.max(1, largest(f)) : largest(f);
    const width = whole > 0 ? 100 * (run.summary[f.key] || 0) / whole : 0;
    return h('div', { class: 'bar' }, h('i', { style: `width:${width}%;background:${colour(i)}` }));
  };
  return section('Side by side', group.length > 1
    ? `Bars compare within a column. Times better or worse are against ${first.policy}, the first policy, over the jobs that both completed.` : null, null,
  h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Comparison table' }, h('table', null,
    h('thead', null, h('tr', null, h('th', { scope: 'col' }, 'Policy'),
      shown.map((f) => h('th', { scope: 'col' }, f.name)), plain.map(([name]) => h('th', { scope: 'col' }, name)))),
    h('tbody', null, group.map((run, i) => h('tr', null,
      h('th', { scope: 'row' }, dot(i), run.summary.policy, ' ', state(run.summary)),
      shown.map((f) => h('td', null, h('div', { class: 'n' }, f.show(run.summary[f.key], largest(f), smallest(f))), bar(f, run, i),
        f.ratio && i > 0 ? chip(fairRatio(f, first, run.summary)) : null)),
      plain.map(([, show]) => h('td', { class: 'plain' }, show(run)))))))));
}

function section(title, hint, side, ...content) {
  return h('section', { 'aria-label': title },
    h('div', { class: 'head' }, h('div', null, h('h2', null, title), hint && h('p', { class: 'hint' }, hint)), side), content);
}

// A legend whose buttons hide and show the runs of one group, in every chart at once.
function legend(group, hidden) {
  if (group.length < 2) return null;
  return h('div', { class: 'legend', role: 'group', 'aria-label': 'Policies shown' }, group.map((run, i) => h('button', {
    type: 'button', 'aria-pressed': String(!hidden.has(i)), 'data-run': i,
    onclick: () => {
      if (!hidden.delete(i)) hidden.add(i);
      main.querySelectorAll(`.legend [data-run="${i}"]`).forEach((b) => b.setAttribute('aria-pressed', String(!hidden.has(i))));
      redraw();
    },
  }, stroke(i), run.summary.policy)));
}

const niceStep = (span, parts) => {
  const raw = span / parts;
  const power = 10 ** Math.floor(Math.log10(raw));
  return power * [1, 2, 2.5, 5, 10].find((m) => m * power >= raw * 0.999);
};
function timeTicks(from, to, parts) {
  const [name, size] = unitOf(to - from);
  const step = niceStep((to - from) / size, parts);
  const ticks = [];
  for (let v = Math.ceil(from / size / step) * step; v <= to / size + 1e-9; v += step) ticks.push([v * size, `${+v.toFixed(6)} ${name}`]);
  return ticks;
}
function lengthTicks(from, to, width) {
  const all = [[.001, '1 ms'], [.01, '10 ms'], [.1, '0.1 s'], [1, '1 s'], [3, '3 s'], [10, '10 s'], [30, '30 s'], [60, '1 min'],
    [180, '3 min'], [600, '10 min'], [1800, '30 min'], [3600, '1 h'], [10800, '3 h'], [36000, '10 h'], [86400, '1 d'], [259200, '3 d'],
    [864000, '10 d'], [2592000, '30 d'], [8640000, '100 d'], [86400000, '1000 d']];
  const kept = [];
  for (const tick of all) {
    if (tick[0] < from || tick[0] > to) continue;
    const gap = kept.length ? Math.log(tick[0] / kept.at(-1)[0]) / Math.log(to / from) * width : Infinity;
    if (gap > 56) kept.push(tick);
  }
  return kept;
}
function valueTicks(top, show) {
  const step = niceStep(top, 4);
  const ticks = [];
  for (let v = 0; v <= top + step * 1e-6; v += step) ticks.push([v, show(v)]);
  return ticks;
}

function roomFor(node) {
  const style = getComputedStyle(node.parentElement);
  return Math.max(240, node.parentElement.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight));
}

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

function distribution(group, hidden) {
  const all = group.flatMap((run) => run.series.jct.map((p) => p[0])).filter((v) => v > 0);
  if (!all.length) return section('Completion times', null, null, h('p', { class: 'empty' }, 'No job completed.'));
  let low = all.reduce((a, b) => Math.min(a, b)); let high = all.reduce((a, b) => Math.max(a, b));
  if (high <= low) { low /= 2; high *= 2; }
  const under = (points, v) => { let found = 0; for (const p of points) { if (p[0] > v) break; found = p[1]; } return found; };
  // A line ends at the share that is done, which is not 1 where jobs were refused or left.
  const steps = (points) => {
    const out = [[low, 0]];
    points.forEach((p, k) => {
      const x = Math.max(p[0], low);
      if (points.length < 120) out.push([x, k ? points[k - 1][1] : 0]);
      out.push([x, p[1]]);
    });
    out.push([high, points.length ? points.at(-1)[1] : 0]);
    return out;
  };
  return section('Completion times', 'The share of jobs done within a time after submission. Higher and further left is better.',
    legend(group, hidden), chart({
      label: 'Distribution of job completion times', height: 330, log: true, range: [low, high], top: 1, names: group.map((r) => r.summary.policy),
      lines: () => group.map((run, i) => [i, steps(run.series.jct)]).filter(([i]) => !hidden.has(i)),
      read: (points, v) => under(points, v), show: (v) => `${Math.round(v * 100)} %`, exact: percent, title: (v) => `within ${duration(v)}`,
    }));
}

const reach = (group) => {
  const from = Math.min(...group.map((r) => r.series.start));
  const to = Math.max(...group.map((r) => r.series.start + r.series.bucket * r.series.waiting.length));
  return [from, to > from ? to : from + 1];
};

const readBucket = (line, v) => {
  if (line.length < 1) return null;
  const gap = line.length > 1 ? line[1][0] - line[0][0] : 1;
  const k = Math.round((v - line[0][0]) / gap);
  return k >= 0 && k < line.length ? line[k][1] : null;
};

function overTime(group, hidden, title, hint, pick, spec) {
  const points = group.map((run) => pick(run).map((v, k) => [run.series.start + (k + .5) * run.series.bucket, v]));
  const [from, to] = reach(group);
  return section(title, hint, legend(group, hidden), chart({
    label: title, height: 250, area: true, range: [from, to], names: group.map((r) => r.summary.policy),
    lines: () => group.map((run, i) => [i, points[i]]).filter(([i]) => !hidden.has(i)),
    read: readBucket, title: (v) => `after ${clock(v, to - from)}`, ...spec,
  }));
}

function efficiency(group, hidden) {
  const most = Math.max(...group.map((run) => run.series.efficiency.reduce((a, b) => Math.max(a, b), 0)));
  if (!group.some((run) => run.series.efficiency.length)) return null;
  return overTime(group, hidden, 'Cluster efficiency', 'Work done, as the share of the GPUs that would do it one by one; a job that gains little from many GPUs counts for little.',
    (run) => run.series.efficiency, { show: (v) => `${Math.round(v * 100)} %`, exact: percent, top: Math.max(1, most) * 1.04, ticks: Math.max(1, most), limit: 1 });
}

// CPUs and memory, where jobs hold some of their own.
function hostUse(group, hidden) {
  const share = { show: (v) => `${Math.round(v * 100)} %`, exact: percent, top: 1.04, limit: 1 };
  const of = (key, title, hint) => group.some((run) => run.series[key].length) ? [overTime(group, hidden, title, hint, (run) => run.series[key], share)] : [];
  const charts = [...of('cpus', 'CPUs in use', 'Given to jobs, of all cores.'), ...of('memory', 'Memory in use', 'Given to jobs, of all host memory.')];
  return charts.length ? h('div', { class: 'pair' }, charts) : null;
}

function facts(group) {
  const known = (v) => v !== null && v !== undefined && v !== '';
  return section('What was run', null, null, h('div', { class: 'facts' }, group.map((run, i) => {
    const r = run.summary;
    const rows = [['trace', r.trace], ['cluster', known(r.cluster) ? `${r.cluster}, ${count(r.gpus)} GPUs` : `${count(r.gpus)} GPUs`], ['semantics', r.semantics],
      ...run.settings, ['state', r.status], ['jobs', r.jobs === null ? null
        : `${count(r.jobs)}: ${count(r.completed)} completed, ${count(r.rejected)} rejected, ${count(r.failed)} failed, ${count(r.cancelled)} cancelled, ${count(r.left)} left`],
      ['promises', r.promises ? `${kept(r)} kept, ${duration(r.admitted_gpu_s)} of GPU time` : null],
      ...faultFacts(r), ['starts', count(r.starts)], ['pauses', count(r.preemptions)], ['moves', count(r.moves)], ['resizes', count(r.resizes)], ['longest queue', known(r.max_queue) ? count(r.max_queue) : null], ['events', count(r.events)],
      ['simulated in', known(r.wall_s) ? `${duration(r.wall_s)} (CPU ${duration(r.cpu_s)})` : null], ['memory', known(r.peak_mb) ? `${three(r.peak_mb)} MB` : null]];
    return h('div', null, h('h3', null, dot(i), ' ', r.policy),
      h('dl', null, rows.filter(([, v]) => known(v)).flatMap(([k, v]) => [h('dt', null, k), h('dd', null, v)])));
  })));
}

function deadlineVerdict(group) {
  const known = group.filter((run) => run.summary.deadline_ratio !== null);
  if (group.length < 2 || known.length < 2) return '';
  const best = known.reduce((a, b) => b.summary.deadline_ratio > a.summary.deadline_ratio ? b : a);
  const worst = known.reduce((a, b) => b.summary.deadline_ratio < a.summary.deadline_ratio ? b : a);
  const other = best === group[0] ? worst : group[0];
  if (best.summary.deadlines_met === other.summary.deadlines_met) return 'All of them meet as many deadlines. ';
  return `${best.summary.policy} meets ${percent(best.summary.deadline_ratio)} of the deadlines, ${other.summary.policy} ${percent(other.summary.deadline_ratio)}. `;
}

function verdict(group) {
  const first = group[0].summary;
  const f = figures.find((one) => one.key === 'avg_jct_s');
  const standing = (run) => rank(f, first, run);
  const known = group.map((run) => run.summary).filter((run) => standing(run) !== null);
  if (group.length < 2 || known.length < 2) return '';
  // The one that differs most from the first, which every ratio is against.
  const best = known.reduce((a, b) => standing(b) > standing(a) ? b : a);
  const run = best === first ? known.reduce((a, b) => standing(b) < standing(a) ? b : a) : best;
  const times = best === first ? 1 / standing(run) : standing(run);
  if (!(times >= 1.005)) return 'On average, jobs complete equally soon under all of them.';
  const [sooner, later] = best === first ? [first, run] : [run, first];
  const text = `complete ${three(times)} times sooner under ${sooner.policy} than under ${later.policy}`;
  if (sameJobs(first, run)) return `On average, jobs ${text}.`;
  return `On average, the ${count(run.common_jobs)} jobs that both completed ${text} (${first.policy}: ${endsOf(first)}; ${run.policy}: ${endsOf(run)}).`;
}

// What makes the figures less than they seem: missing data, ignored deadlines, runs cut short.
function warnings(group) {
  const lines = group.flatMap(({ summary: r }) => [
    ...(r.status === 'complete' ? [] : [`${r.policy}: ${r.status}${r.left ? `, ${count(r.left)} jobs left` : ''}; its figures are not those of a whole run`]),
    ...r.warnings.map((text) => `${r.policy}: ${text}`)]);
  return lines.length ? h('section', { class: 'warnings', 'aria-label': 'Warnings' }, h('h2', null, 'Warnings'), h('ul', null, lines.map((text) => h('li', null, text)))) : null;
}

function show(group) {
  drawings.length = 0;
  hideTip();
  const hidden = new Set();
  const first = group[0].summary;
  const names = group.map((run) => run.summary.policy);
  document.getElementById('title').textContent = names.length > 4 ? `${names.length} policies on ${first.trace}` : `${names.join(' · ')} on ${first.trace}`;
  document.title = `Orrery: ${names.join(', ')} on ${first.trace}`;
  document.getElementById('subtitle').textContent = [`${count(Math.max(...group.map((run) => run.summary.jobs || 0)))} jobs`, `${count(first.gpus)} GPUs`, first.cluster && `cluster ${first.cluster}`,
    first.semantics && `${first.semantics} semantics`].filter(Boolean).join('  ·  ');
  document.getElementById('verdict').textContent = deadlineVerdict(group) + verdict(group);
  const gpus = first.gpus || 1;
  const timeline = new Timeline(group);
  main.replaceChildren(...[warnings(group)].filter(Boolean), cards(group), comparison(group), distribution(group, hidden),
    h('div', { class: 'pair' },
      overTime(group, hidden, 'Jobs waiting', 'Submitted or paused, holding no GPU.', (run) => run.series.waiting, { show: (v) => v >= 10000 ? `${v / 1000}k` : `${+v.toFixed(2)}`, exact: decimal }),
      overTime(group, hidden, 'GPUs in use', 'Held by at least one job, of all GPUs.', (run) => run.series.held.map((v) => v / gpus),
        { show: (v) => `${Math.round(v * 100)} %`, exact: percent, top: 1.04, limit: 1 })),
    ...[nodeChart(group, hidden), hostUse(group, hidden), efficiency(group, hidden), deadlineCharts(group, hidden), timeline.element, refusals(group)].filter(Boolean), facts(group),
    h('footer', null, 'JCT, job completion time: from submission to completion, over completed jobs. GPU use counts a shared GPU once; efficiency counts the work done on it, ',
      'so interleaved jobs can exceed the use. Made by orrery; this page holds all its data and loads nothing.'));
  redraw();
  timeline.refresh();
  drawings.push(() => timeline.draw());
}

const groups = new Map();
runs.forEach((run) => groups.set(run.summary.trace, [...(groups.get(run.summary.trace) || []), run]));
const traces = [...groups.keys()];
const nav = document.getElementById('traces');
const choose = (name) => {
  nav.replaceChildren(...traces.map((t) => h('button', { type: 'button', 'aria-pressed': String(t === name), onclick: () => choose(t) }, t)));
  show(groups.get(name));
};
nav.hidden = traces.length < 2;
if (traces.length) choose(traces[0]);
else if (!document.querySelector('.figures > *')) main.append(h('p', { class: 'empty' }, 'No runs.'));
let width = innerWidth;
addEventListener('resize', () => { if (innerWidth !== width) { width = innerWidth; redraw(); } });
const screenTheme = { name: theme };
addEventListener('beforeprint', () => { screenTheme.name = theme; setTheme('light'); });
addEventListener('afterprint', () => setTheme(screenTheme.name));
