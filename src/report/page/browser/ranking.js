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
