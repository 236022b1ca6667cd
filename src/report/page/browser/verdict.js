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
  const policies = new Map();  // by text
  const add = (text, { policy }) => policies.set(text, [...(policies.get(text) || []), policy]);
  group.forEach(({ summary: r }) => {
    if (r.status !== 'complete') add(`${r.status}${r.left ? `, ${count(r.left)} jobs left` : ''}; its figures are not those of a whole run`, r);
    r.warnings.forEach((text) => add(text, r));
  });
  return policies.size ? h('section', { class: 'warnings', 'aria-label': 'Warnings' }, h('h2', null, 'Warnings'),
    h('ul', null, [...policies].map(([text, names]) => h('li', null, `${names.length > 1 && names.length === group.length ? 'all policies' : names.join(', ')}: ${text}`)))) : null;
}
