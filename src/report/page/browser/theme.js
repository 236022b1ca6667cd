let theme = params.get('theme') || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
let chosenTheme = params.has('theme');
const drawings = [];  // of the runs of one trace
const lastingDrawings = [];
const redraw = () => [...lastingDrawings, ...drawings].forEach((draw) => draw());
const setTheme = (name) => { theme = name; root.dataset.theme = name; redraw(); };
root.dataset.theme = theme;
document.getElementById('theme').addEventListener('click', () => {
  chosenTheme = true;
  setTheme(theme === 'dark' ? 'light' : 'dark');
});
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', (e) => {
  if (!chosenTheme) setTheme(e.matches ? 'dark' : 'light');
});

const screenTheme = { name: theme };
addEventListener('beforeprint', () => { screenTheme.name = theme; setTheme('light'); });
addEventListener('afterprint', () => setTheme(screenTheme.name));
