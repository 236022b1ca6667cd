// What a link to this page carries after the '#': the trace, and the span of time that is shown.
const fragment = () => new URLSearchParams(location.hash.slice(1));
function setFragment(values) {
  const all = fragment();
  Object.entries(values).forEach(([key, value]) => { if (value === null) all.delete(key); else all.set(key, value); });
  const address = `${location.href.split('#')[0]}${String(all) ? `#${all}` : ''}`;
  try {
    history.replaceState(null, '', address);
  } catch {
    location.hash = String(all);  // where a page may not rewrite its address
  }
}
