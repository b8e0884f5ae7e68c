// Draws the plots of a study's page; the figures themselves stand in its tables.
const COLORS = ['forward', 'backward', 'optimizer', 'transfer', 'data', 'reduce', 'other'];
const colorOf = (i) => css(COLORS[i % COLORS.length]);

// A number of an axis or a tooltip.
const figure = (x) => x === 0 ? '0' : Math.abs(x) >= 1e6 || Math.abs(x) < 1e-4 ? x.toExponential(1)
  : Number(x.toPrecision(4)).toLocaleString('en-US', {maximumFractionDigits: 6});

// Error bars: half as high as a point's `error` in each direction.
const errorBars = {id: 'errorBars', afterDatasetsDraw(chart) {
  const context = chart.ctx, y = chart.scales.y;
  chart.data.datasets.forEach((dataset, d) => {
    if (!chart.isDatasetVisible(d)) return;
    chart.getDatasetMeta(d).data.forEach((element, i) => {
      const error = dataset.errors[i], value = dataset.heights[i];
      if (!(error > 0)) return;
      const low = y.getPixelForValue(y.type === 'logarithmic' ? Math.max(value - error, y.min) : value - error);
      const high = y.getPixelForValue(value + error);
      context.save();
      context.strokeStyle = css('ink');
      context.lineWidth = 1;
      context.beginPath();
      for (const end of [low, high]) {
        context.moveTo(element.x - 4, end);
        context.lineTo(element.x + 4, end);
      }
      context.moveTo(element.x, low);
      context.lineTo(element.x, high);
      context.stroke();
      context.restore();
    });
  });
}};

function datasetOf(plot, series, i) {
  const bars = plot.kind === 'bars', color = colorOf(i);
  const by = new Map(series.points.map((point) => [point[0], point]));
  const points = bars ? plot.categories.map((unused, c) => by.get(c) || [c, null, 0]) : series.points;
  return {label: series.name, data: bars ? points.map((p) => p[1]) : points.map((p) => ({x: p[0], y: p[1]})),
    errors: points.map((p) => p[2]), heights: points.map((p) => p[1]), borderColor: color, backgroundColor: color,
    borderWidth: bars ? 0 : 2, showLine: plot.kind === 'lines', pointRadius: bars ? 0 : 3, tension: 0};
}

function scaleOf(axis, vertical) {
  return {type: axis.log ? 'logarithmic' : 'linear', title: {display: true, text: axis.name, color: css('soft')},
    ticks: {color: css('soft'), font: {size: 11}, maxTicksLimit: 8, callback: (x) => figure(x)},
    grid: {color: css('line'), drawBorder: false, display: vertical}};
}

function drawPlot(plot, i) {
  const bars = plot.kind === 'bars';
  const x = bars ? {...scaleOf(plot.x, false), type: 'category', ticks: {color: css('soft'), font: {size: 11}}} : scaleOf(plot.x, false);
  const scales = {x, y: {...scaleOf(plot.y, true), beginAtZero: bars}};
  charts.push(new Chart($('plot-' + i), {type: bars ? 'bar' : 'scatter', plugins: [errorBars],
    data: {labels: plot.categories, datasets: plot.series.map((series, s) => datasetOf(plot, series, s))},
    options: {animation: false, maintainAspectRatio: false, responsive: true, scales, layout: {padding: {top: 6, right: 6}},
      plugins: {
        legend: {display: plot.series.length > 1, align: 'end', labels: {color: css('soft'), boxWidth: 12, boxHeight: 8, font: {size: 12}}},
        tooltip: {callbacks: {label: (item) => item.dataset.label + ': ' + (bars ? '' : figure(item.parsed.x) + ', ') + figure(item.parsed.y)}},
      }}}));
}

function drawAll() {
  clearCharts();
  data.plots.forEach(drawPlot);
}

drawAll();
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', drawAll);
