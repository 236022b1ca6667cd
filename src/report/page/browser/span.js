// The part of an axis that charts show: one object for all charts that share the axis.
class Span {
  constructor(key, [from, to], least) {
    this.key = key;
    this.whole = [from, to];
    this.least = Math.min(least, to - from);
    this.listeners = [];
    this.read();
  }

  get narrowed() { return this.shown !== this.whole; }

  // From the address; what is not a span there means the whole.
  read() {
    const parts = /^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)$/.exec(fragment().get(this.key) || '');
    this.shown = parts ? this.within(Number(parts[1]), Number(parts[2])) : this.whole;
  }

  within(from, to) {
    const [low, high] = this.whole;
    if (!(from < to) || from >= high || to <= low) return this.whole;
    const width = limit(to - from, this.least, high - low);
    if (width > (high - low) * .999) return this.whole;
    const first = limit((from + to - width) / 2, low, high - width);
    return [first, first + width];
  }

  choose(from, to) {
    this.shown = this.within(from, to);
    setFragment({ [this.key]: this.narrowed ? this.shown.map((v) => +v.toFixed(3)).join('-') : null });
    this.changed();
  }

  reset() { this.choose(...this.whole); }

  // Half or twice as much, about `centre`.
  zoom(times, centre) {
    const [from, to] = this.shown;
    const about = centre === null ? (from + to) / 2 : centre;
    const [low, high] = this.whole;
    const width = Math.min((to - from) * times, high - low);
    const first = limit(about - (about - from) * times, low, high - width);
    this.choose(first, first + width);
  }

  move(part) {
    const [from, to] = this.shown;
    const by = limit((to - from) * part, this.whole[0] - from, this.whole[1] - to);
    this.choose(from + by, to + by);
  }

  changed() { this.listeners.forEach((listener) => listener()); }
}

// Says which span is shown and changes it, for readers without a pointer too.
function spanBar(span, text, ...more) {
  const where = h('span', { class: 'where', role: 'status' });
  const button = (name, label, act) => h('button', { type: 'button', 'aria-label': label, title: label, onclick: act }, name);
  const earlier = button('←', 'Earlier', () => span.move(-.5));
  const later = button('→', 'Later', () => span.move(.5));
  const outer = button('−', 'Zoom out', () => span.zoom(2, null));
  const inner = button('+', 'Zoom in', () => span.zoom(.5, null));
  const whole = button('Whole', 'Show the whole span', () => span.reset());
  const refresh = () => {
    where.textContent = text(span);
    const [from, to] = span.shown;
    earlier.disabled = !(from > span.whole[0]);
    later.disabled = !(to < span.whole[1]);
    outer.disabled = !span.narrowed;
    whole.disabled = !span.narrowed;
    inner.disabled = to - from <= span.least * 1.001;
  };
  span.listeners.push(refresh);
  refresh();
  return h('div', { class: 'span-bar', role: 'group', 'aria-label': 'Span that the charts show' }, where,
    h('span', { class: 'steps' }, inner, outer, earlier, later, whole), ...more);
}
