const COLORS = ['forward', 'backward', 'optimizer', 'transfer', 'data', 'reduce', 'other'];
const colorOf = (i) => css(COLORS[i % COLORS.length]);

function showTables() {
  document.title = data.title + ' · Torus';
  $('title').textContent = data.title;
  const names = data.runs.map((run) => run.name);
  table('figures', [['', ...names], ['Model and data', ...data.runs.map((run) => run.title)],
    ...data.runs[0].cards.map(([label], i) => [label, ...data.runs.map((run) => run.cards[i][1])])]);
  table('times', [['ms per step, mean of the ranks', ...names],
    ...data.runs[0].times.map(([title], i) => [title, ...data.runs.map((run) => milliseconds(run.times[i][1]))])]);
  table('differences', [['', ...names], ...data.differences]);
}

function showCurves() {
  clearCharts();
  const last = Math.max(1, ...data.runs.map((run) => run.steps.length ? run.steps[run.steps.length - 1][0] : 1));
  const losses = data.runs.map((run) => smooth(run.steps.filter(([, y]) => y !== null).map(([x, y]) => ({x, y}))));
  // A single wild step leaves the picture rather than flatten it.
  const ceiling = 1.3 * Math.max(0.01, ...losses.flat().map((p) => p.y));
  draw('loss', losses.map((points, i) => line(data.runs[i].name, points, colorOf(i))),
    axes('step', 'loss', last, {scale: {beginAtZero: true, max: Number(ceiling.toPrecision(2))}}), (y) => y.toFixed(4));
  const name = data.runs[0].scoreName, unit = name === 'accuracy' ? ' %' : '';
  draw('score', data.runs.map((run, i) => line(run.name, run.evaluations.map((e) => ({x: e.step, y: e.score})), colorOf(i),
    {pointRadius: 4, tension: 0, clip: 6})), axes('step', name, last, {ticks: {callback: (y) => y + unit}}), (y) => y.toFixed(2) + unit);
  $('score-name').textContent = name[0].toUpperCase() + name.slice(1);
}

showTables();
showCurves();
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', showCurves);
