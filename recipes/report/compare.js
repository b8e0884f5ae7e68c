// Curves that lie on each other stay apart: each has its colour, its dashes and its marks, and those
// below are wider.
const COLORS = ['forward', 'backward', 'optimizer', 'transfer', 'data', 'reduce', 'other'];
const DASHES = [[], [7, 4], [2, 3], [9, 3, 2, 3]];
const MARKS = ['circle', 'rectRot', 'triangle', 'rect', 'star'];

// What curves are drawn over: the heading, and where a step and an evaluation lie.
const AXES = [
  {id: 'steps', name: 'steps', step: ([step]) => step, evaluation: (e) => e.step, text: count},
  {id: 'seconds', name: 'seconds of training', step: ([, , seconds]) => seconds, evaluation: (e) => e.seconds, text: short},
  {id: 'bytes', name: 'bytes sent', step: ([, , , sent]) => sent, evaluation: (e) => e.bytes, text: bytes,
    note: 'What all ranks sent, at the mean of the run.', tick: (last) => ({stepSize: 2 ** Math.ceil(Math.log2(last / 6))})},
];
const ticksOf = (axis, last) => ({callback: axis.text, ...(axis.tick ? axis.tick(last) : {})});

function showTables() {
  document.title = data.title + ' · Torus';
  $('title').textContent = data.title;
  const names = data.runs.map((run) => run.name);
  const shown = (value, text) => value === null ? '–' : text(value);
  table('figures', [['', ...names], ...data.figures.map((row) => row.map((value) => shown(value, String)))]);
  table('times', [['ms per step, mean of the ranks', ...names],
    ...data.times.map(([title, ...times]) => [title, ...times.map((time) => shown(time, milliseconds))])]);
  table('differences', [['', ...names], ...data.differences]);
}

function curve(i, points, more = {}) {
  const color = css(COLORS[i % COLORS.length]), below = data.runs.length - 1 - i;
  return line(data.runs[i].name, points, color, {borderDash: DASHES[i % DASHES.length], order: below,
    borderWidth: Math.min(6, 2 + 1.5 * below), pointStyle: MARKS[i % MARKS.length], ...more});
}

// Each run by its line, in the order of the tables.
const LEGEND = {usePointStyle: true, pointStyleWidth: 34, sort: (a, b) => a.datasetIndex - b.datasetIndex};

function drawLosses(axis, last) {
  const curves = data.runs.map((run) => smooth(run.steps.map((point) => ({x: axis.step(point), y: point[1]})).filter((p) => p.x !== null)));
  draw('loss-' + axis.id, curves.map((points, i) => curve(i, points)),
    axes(axis.name, 'loss', last, {scale: {beginAtZero: true, max: ceilingOf(curves)}}, ticksOf(axis, last)), (y) => y.toFixed(4), axis.text, LEGEND);
}

// Runs of other scores have no curve in this picture.
function drawScores(axis, name, last) {
  const unit = name === 'accuracy' ? ' %' : '';
  const curves = data.runs.flatMap((run, i) => {
    if (run.scoreName !== name) return [];
    const points = run.evaluations.map((e) => ({x: axis.evaluation(e), y: e.score})).filter((p) => p.x !== null && p.y !== null);
    return [curve(i, points, {pointRadius: points.length === 1 ? 8 : 5, tension: 0, clip: 9})];
  });
  draw(name + '-' + axis.id, curves, axes(axis.name, name, last, {ticks: {callback: (y) => y + unit}}, ticksOf(axis, last)),
    (y) => y.toFixed(2) + unit, axis.text, LEGEND);
}

const scores = [...new Set(data.runs.map((run) => run.scoreName))];
// Without the bytes of runs that sent none.
const axesShown = AXES.filter((axis) => data.runs.some((run) => run.steps.some((point) => axis.step(point) > 0)));

function addCharts() {
  const chart = (id, title, note, label) => make('article', {}, make('h2', {}, title), make('p', {class: 'note'}, note),
    make('div', {class: 'chart'}, make('canvas', {id, role: 'img', 'aria-label': label})));
  for (const axis of axesShown) {
    const more = axis.note ? ' ' + axis.note : '';
    $('curves').append(make('section', {class: 'pair'},
      chart('loss-' + axis.id, 'Training loss over ' + axis.name, 'Running mean over the steps.' + more, 'Loss of each run over ' + axis.name),
      ...scores.map((name) => chart(name + '-' + axis.id, name[0].toUpperCase() + name.slice(1) + ' over ' + axis.name, 'On the test set.' + more,
        `The test set's ${name} of each run over ${axis.name}`))));
  }
}

function showCurves() {
  clearCharts();
  for (const axis of axesShown) {
    const last = largest(data.runs.flatMap((run) => [...run.steps.map(axis.step), ...run.evaluations.map(axis.evaluation)]), 0) || 1;
    drawLosses(axis, last);
    for (const name of scores) drawScores(axis, name, last);
  }
}

showTables();
addCharts();
showCurves();
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', showCurves);
