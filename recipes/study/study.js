// Draws the plots of a study's page; the figures themselves stand in its tables.
const COLORS = ['forward', 'backward', 'optimizer', 'transfer', 'data', 'reduce', 'other'];
const colorOf = (i) => css(COLORS[i % COLORS.length]);

// A number of an axis or a tooltip.
const figure = (x) => x === 0 ? '0' : Math.abs(x) >= 1e6 || Math.abs(x) < 1e-4 ? x.toExponential(1)
  : Number(x.toPrecision(4)).toLocaleString('en-US', {maximumFractionDigits: 6});

// Error bars: half as long as a point's `error` in each direction of the axis of its value.
const errorBars = {id: 'errorBars', afterDatasetsDraw(chart) {
  const context = chart.ctx, flat = chart.options.indexAxis === 'y', axis = flat ? chart.scales.x : chart.scales.y;
  // To a point at `along` the axis of the values, and `across` it.
  const at = (draw, along, across) => flat ? draw.call(context, along, across) : draw.call(context, across, along);
  chart.data.datasets.forEach((dataset, d) => {
    if (!chart.isDatasetVisible(d)) return;
    chart.getDatasetMeta(d).data.forEach((element, i) => {
      const error = dataset.errors[i], value = dataset.heights[i];
      if (!(error > 0)) return;
      const low = axis.getPixelForValue(axis.type === 'logarithmic' ? Math.max(value - error, axis.min) : value - error);
      const high = axis.getPixelForValue(value + error), middle = flat ? element.y : element.x;
      context.save();
      context.strokeStyle = css('ink');
      context.lineWidth = 1;
      context.beginPath();
      for (const end of [low, high]) {
        at(context.moveTo, end, middle - 4);
        at(context.lineTo, end, middle + 4);
      }
      at(context.moveTo, low, middle);
      at(context.lineTo, high, middle);
      context.stroke();
      context.restore();
    });
  });
}};

function datasetOf(plot, series, i) {
  const bars = plot.kind === 'bars', color = colorOf(i), line = plot.kind === 'lines' || series.line;
  const by = new Map(series.points.map((point) => [point[0], point]));
  const points = bars ? plot.categories.map((unused, c) => by.get(c) || [c, null, 0]) : series.points;
  return {label: series.name, data: bars ? points.map((p) => p[1]) : points.map((p) => ({x: p[0], y: p[1]})),
    errors: points.map((p) => p[2]), heights: points.map((p) => p[1]), borderColor: color, backgroundColor: color,
    borderWidth: bars ? 0 : 2, showLine: line, pointRadius: bars || series.line ? 0 : 3, tension: 0};
}

// What a logarithmic axis spans: the values, out to the next 1, 2 or 5 times a power of ten.
function logRange(values) {
  const positive = values.filter((x) => x > 0);
  if (positive.length === 0) return {};
  const low = Math.min(...positive), high = Math.max(...positive);
  const steps = (x) => [1, 2, 5, 10].map((step) => step * 10 ** Math.floor(Math.log10(x)));
  return {min: Math.max(...steps(low).filter((x) => x <= low)), max: Math.min(...steps(high).filter((x) => x >= high))};
}

// The label of a value on a logarithmic axis: of 1, 2 and 5 times each power of ten, of each power, or of every n-th one,
// as many as have room; none otherwise.
function logLabel(scale, x) {
  const power = Math.floor(Math.log10(x) + 1e-9), step = Number((x / 10 ** power).toPrecision(3));
  const length = scale.isHorizontal() ? scale.width : scale.height, room = scale.isHorizontal() ? 45 : 16;
  const decade = length / Math.max(0.1, Math.log10(scale.max / scale.min));
  const has = decade > 4 * room ? [1, 2, 5].includes(step) : step === 1 && power % Math.ceil(room / decade) === 0;
  if (!has) return null;
  return x >= 1e6 ? `${step}e${power}` : figure(x);
}

function scaleOf(axis, grid, values) {
  return {type: axis.log ? 'logarithmic' : 'linear', title: {display: true, text: axis.name, color: css('soft')},
    ticks: {color: css('soft'), font: {size: 11}, maxTicksLimit: 8, maxRotation: 0, autoSkip: !axis.log,
      callback(x) { return axis.log ? logLabel(this, x) : figure(x); }},
    grid: {color: css('line'), drawBorder: false, display: grid}, ...(axis.log ? logRange(values) : {})};
}

// A category over several lines, parted behind commas.
function linesOf(category, width) {
  const lines = [];
  for (const part of category.split(/(?<=,) /)) {
    const last = lines.length - 1;
    if (last >= 0 && lines[last].length + part.length < width) lines[last] += ' ' + part;
    else lines.push(part);
  }
  return lines;
}

// Bars lie where their names are too long to stand side by side.
function liesFlat(plot, width) {
  const longest = Math.max(0, ...plot.categories.map((category) => category.length));
  return plot.kind === 'bars' && 6.5 * longest + 10 > (width - 60) / plot.categories.length;
}

function drawPlot(plot, i) {
  const box = $('plot-' + i).parentNode, width = box.clientWidth, flat = liesFlat(plot, width), bars = plot.kind === 'bars';
  const labels = plot.categories.map((category) => flat ? linesOf(category, width < 560 ? 22 : 64) : category);
  const lines = Math.max(1, ...labels.map((label) => flat ? label.length : 1));
  const legend = width < 560 ? 20 * Math.max(0, plot.series.length - 2) : 0;  // lines of the legend beyond the first two
  if (flat) box.style.height = `${80 + legend + labels.length * Math.max(14 * plot.series.length + 8, 14 * lines + 6)}px`;
  else box.style.height = legend > 0 ? `${220 + legend}px` : '';
  const valuesOf = (k) => plot.series.flatMap((series) => series.points.map((point) => point[k]));
  const names = {...scaleOf(plot.x, false, []), type: 'category',
    ticks: {color: css('soft'), font: {size: 11}, autoSkip: false, maxRotation: 0}};
  const values = {...scaleOf(plot.y, true, valuesOf(1)), beginAtZero: bars};
  const scales = flat ? {x: values, y: names} : {x: bars ? names : scaleOf(plot.x, false, valuesOf(0)), y: values};
  charts.push(new Chart($('plot-' + i), {type: bars ? 'bar' : 'scatter', plugins: [errorBars],
    data: {labels, datasets: plot.series.map((series, s) => datasetOf(plot, series, s))},
    options: {animation: false, maintainAspectRatio: false, responsive: true, indexAxis: flat ? 'y' : 'x', scales,
      layout: {padding: {top: 6, right: 6}},
      plugins: {
        legend: legendOf('plot-' + i, plot.series.length > 1, 8),
        tooltip: {callbacks: {
          title: (items) => bars ? plot.categories[items[0].dataIndex] : '',
          label: (item) => item.dataset.label + ': ' + (bars ? '' : figure(item.parsed.x) + ', ') + figure(flat ? item.parsed.x : item.parsed.y)}},
      }}}));
}

function drawAll() {
  clearCharts();
  data.plots.forEach(drawPlot);
}

drawAll();
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', drawAll);
let drawnAt = innerWidth;
addEventListener('resize', () => { if (innerWidth !== drawnAt) { drawnAt = innerWidth; drawAll(); } });
