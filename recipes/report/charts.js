// What both pages share: units, nodes, curves.
'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const $ = (id) => document.getElementById(id);
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
const percent = (x, digits = 1) => (100 * x).toFixed(digits) + ' %';
const scaled = (x, step, units) => {
  let u = 0;
  while (x >= step && u < units.length - 1) { x /= step; ++u; }
  return (u === 0 ? Math.round(x) : x.toPrecision(3)) + ' ' + units[u];
};
const bytes = (x) => scaled(x, 1024, ['B', 'KiB', 'MiB', 'GiB', 'TiB']);
const count = (x) => Math.round(x).toLocaleString('en-US');
const duration = (s) => s < 90 ? s.toFixed(1) + ' s' : s < 5400 ? Math.floor(s / 60) + ' min ' + Math.round(s % 60) + ' s'
  : Math.floor(s / 3600) + ' h ' + Math.round(s % 3600 / 60) + ' min';
const short = (s) => s === 0 ? '0' : s < 0.9995 ? Number((1000 * s).toPrecision(3)) + ' ms' : s.toPrecision(3) + ' s';

// Text goes in as text: nothing of a run is ever read as markup.
function make(tag, attributes = {}, ...children) {
  const svg = ['svg', 'rect', 'text', 'line', 'g'].includes(tag);
  const node = svg ? document.createElementNS('http://www.w3.org/2000/svg', tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

// The first row and the first column are headings.
function table(id, rows) {
  $(id).replaceChildren(...rows.map((row, r) =>
    make('tr', {}, ...row.map((cell, c) => make(r === 0 || c === 0 ? 'th' : 'td', {}, String(cell))))));
}

const milliseconds = (x) => x.toFixed(x < 9.995 ? 2 : x < 99.95 ? 1 : 0);

// Of any number of values: a call with as many arguments would overflow the stack.
const largest = (values, least = -Infinity) => values.reduce((a, b) => Math.max(a, b), least);
const smallest = (values) => values.reduce((a, b) => Math.min(a, b), Infinity);

// The top of an axis of losses. A wild step, or a curve that diverges, leaves the picture rather than
// flatten the others: each may ask for twice what it began with.
function ceilingOf(curves) {
  const tops = curves.filter((curve) => curve.length).map((curve) => {
    const sorted = curve.map((p) => p.y).sort((a, b) => a - b);
    return Math.min(sorted[sorted.length - 1], 2 * Math.max(curve[0].y, sorted[Math.floor(sorted.length / 4)]));
  });
  return Number((1.3 * largest(tops, 0.01)).toPrecision(2));
}

// Exponential mean over a fifteenth of the run, ten steps at most, corrected for its start.
function smooth(points) {
  const keep = 1 - 1 / Math.max(1, Math.min(10, points.length / 15));
  let mean = 0, weight = 0;
  return points.map(({x, y}) => {
    mean = keep * mean + (1 - keep) * y;
    weight = keep * weight + (1 - keep);
    return {x, y: mean / weight};
  });
}

function line(label, points, color, more = {}) {
  return {label, data: points, borderColor: color, backgroundColor: color, borderWidth: 2, pointRadius: 0,
    pointHitRadius: 8, tension: 0.2, clip: {left: 6, top: 0, right: 6, bottom: 6}, ...more};
}

function axes(xTitle, yTitle, last, yMore = {}, xTicks = {}) {
  const tick = {color: css('soft'), font: {size: 11}}, grid = {color: css('line'), drawBorder: false};
  return {
    x: {type: 'linear', min: 0, max: last, title: {display: true, text: xTitle, color: css('soft')}, ticks: {...tick, maxRotation: 0, maxTicksLimit: 7, ...xTicks}, grid: {display: false}},
    y: {title: {display: false, text: yTitle}, ticks: {...tick, maxTicksLimit: 7, includeBounds: false, ...yMore.ticks}, grid, ...yMore.scale},
  };
}

// A legend whose names are cut to the width of the chart; a wider one would leave it no room.
function legendOf(id, shown, boxHeight, more) {
  const most = Math.max(8, Math.floor(($(id).parentNode.clientWidth - 40) / 6.6));
  const cut = (text) => text.length > most ? text.slice(0, most - 1) + '…' : text;
  const named = (chart) => Chart.defaults.plugins.legend.labels.generateLabels(chart)
    .map((item) => ({...item, text: cut(item.text), pointStyle: 'line', lineWidth: 3}));
  return {display: shown, align: 'end',
    labels: {color: css('soft'), boxWidth: 12, boxHeight, font: {size: 12}, generateLabels: named, ...more}};
}

let charts = [];
function clearCharts() {
  charts.forEach((chart) => chart.destroy());
  charts = [];
}

function draw(id, datasets, scales, label, where = (x) => 'step ' + count(x), legend = {}) {
  charts.push(new Chart($(id), {type: 'line', data: {datasets}, options: {
    animation: false, layout: {padding: {top: 6, right: 6}}, maintainAspectRatio: false, responsive: true, scales, interaction: {mode: 'nearest', axis: 'x', intersect: false},
    plugins: {
      legend: legendOf(id, datasets.length > 1, 2, legend),
      tooltip: {callbacks: {title: (items) => where(items[0].parsed.x), label: (i) => i.dataset.label + ': ' + label(i.parsed.y)}},
    }}}));
}
