const KINDS = [
  ['forward', 'Forward'], ['backward', 'Backward'], ['transfer', 'Transfer'], ['reduce', 'All-reduce'],
  ['optimizer', 'Optimizer'], ['data', 'Data wait'], ['idle', 'Idle'], ['other', 'Other'],
];
// What a timeline shows: in place of transfers, what a rank sends, receives and waits for.
const SPANS = [
  ['forward', 'Forward'], ['backward', 'Backward'], ['send', 'Send'], ['receive', 'Receive'], ['wait', 'Wait'], ['reduce', 'All-reduce'],
  ['optimizer', 'Optimizer'], ['data', 'Data wait'], ['idle', 'Idle'],
];
for (const kinds of [KINDS, SPANS]) kinds.find(([kind]) => kind === 'reduce')[1] = data.reduceName;
const NAMES = Object.fromEntries([...KINDS, ...SPANS]);

function showHead() {
  document.title = data.title + ' · Torus';
  $('title').textContent = data.title;
  $('lead').textContent = data.lead;
  $('state').hidden = data.state.kind === 'finished';
  $('state').className = 'state ' + data.state.kind;
  $('state').textContent = data.state.text;
  $('notes').hidden = data.notes.length === 0;
  for (const [name, text] of data.notes) $('notes').append(make('div', {}, make('dt', {}, name), make('dd', {}, text)));
  for (const [label, value, note] of data.cards)
    $('cards').append(make('div', {class: 'card'}, make('span', {}, label), make('b', {}, value), make('span', {}, note)));
  for (const [name, value] of Object.entries(data.settings))
    $('settings').append(make('div', {}, make('dt', {}, name), make('dd', {}, String(value))));
}

function showCurves() {
  clearCharts();
  const lastStep = data.steps.length ? data.steps[data.steps.length - 1][0] : 1;
  const loss = data.steps.map(([x, y]) => ({x, y})).filter((p) => p.y !== null);
  const tests = data.evaluations.map((e) => ({x: e.step, y: e.loss})).filter((p) => p.y !== null);
  const faint = css('forward') + '55', trend = smooth(loss);
  draw('loss', [
    line('training', trend, css('forward'), {order: 1}),
    line('each step', loss, faint, {borderWidth: 1, order: 3}),
    line(data.evaluated, tests, css('backward'), {pointRadius: 3.5, tension: 0, order: 0}),
  ], axes('step', 'loss', lastStep, {scale: {beginAtZero: true, max: ceilingOf([trend])}}), (y) => y.toFixed(4));
  const score = data.evaluations.map((e) => ({x: e.step, y: e.score})).filter((p) => p.y !== null);
  const low = smallest(score.map((p) => p.y));
  const name = data.scoreName, unit = name === 'accuracy' ? ' %' : '';
  const scale = unit ? {suggestedMax: 100, suggestedMin: Math.max(0, Math.floor((low - 8) / 10) * 10)} : {beginAtZero: true};
  draw('score', [line(data.evaluated + ' ' + name, score, css('optimizer'), {pointRadius: 4, tension: 0, clip: 6})],
    axes('step', name, lastStep, {ticks: {callback: (y) => y + unit}, scale}), (y) => y.toFixed(2) + unit);
  $('score-name').textContent = name[0].toUpperCase() + name.slice(1);
  $('loss-note').textContent = data.lossNote;
  $('score-note').textContent = data.scoreNote;
}

function tip(node, text) {
  const place = (event) => {
    const box = $('tip');
    box.textContent = text;
    box.hidden = false;
    const {width, height} = box.getBoundingClientRect();
    box.style.left = Math.max(4, Math.min(event.clientX + 12, innerWidth - width - 4)) + 'px';
    box.style.top = Math.max(4, event.clientY - height - 10) + 'px';
  };
  node.addEventListener('pointermove', place);
  node.addEventListener('pointerleave', () => { $('tip').hidden = true; });
}

// A lane a rank. Both pictures have one scale of time, `axis` seconds wide, so that they compare.
function timeline(host, picture, unit) {
  const width = host.clientWidth, narrow = width < 520;
  const longest = largest(picture.lanes.map((lane) => lane.name.length));
  const left = narrow ? 0 : 14 + 6.6 * longest, top = narrow ? 18 : 0, laneHeight = 30, gap = narrow ? 26 : 8, axis = 22;
  const pitch = laneHeight + gap, height = top + picture.lanes.length * pitch - gap + 4 + axis;
  const svg = make('svg', {viewBox: `0 0 ${width} ${height}`, height, role: 'img', 'aria-label': picture.label});
  const scale = (width - left) / picture.axis;
  picture.lanes.forEach((lane, i) => {
    const y = top + i * pitch;
    svg.append(make('text', {x: 0, y: narrow ? y - 5 : y + 19}, lane.name));
    svg.append(make('rect', {class: 'lane', x: left, y, width: picture.seconds * scale, height: laneHeight, rx: 5}));
    for (const span of lane.spans) addSpan(svg, span, left, y, laneHeight, scale, unit);
  });
  addTicks(svg, picture, left, height - axis + 14, height - axis, width, unit);
  host.replaceChildren(svg);
}

function addSpan(svg, [begin, end, kind, name, title], left, y, laneHeight, scale, unit) {
  const x = left + begin * scale, w = Math.max(0.6, (end - begin) * scale);
  const inset = {send: 7, receive: 7, data: 7, wait: 12}[kind] || 0;
  const rect = make('rect', {x: x + (w > 4 ? 0.5 : 0), y: y + inset, width: w > 4 ? w - 1 : w, height: laneHeight - 2 * inset,
    rx: w > 8 ? 4 : 0, fill: `var(--${kind})`});
  tip(rect, `${title || NAMES[kind]} ${name || ''} · ${unit(end - begin)}`);
  svg.append(rect);
  if (name && w > 9 * name.length + 4)
    svg.append(make('text', {class: 'cell', x: x + w / 2, y: y + laneHeight / 2 + 4, 'text-anchor': 'middle'}, name));
}

function addTicks(svg, picture, left, textY, lineY, width, unit) {
  const ticks = width < 520 ? 3 : 6;
  for (let i = 0; i <= ticks; ++i) {
    const x = left + (width - left) * i / ticks;
    svg.append(make('line', {x1: x, x2: x, y1: lineY - 4, y2: lineY}));
    svg.append(make('text', {x, y: textY, 'text-anchor': i === 0 ? 'start' : i === ticks ? 'end' : 'middle'},
      i === 0 ? '0' : unit(picture.axis * i / ticks)));
  }
}

function showTimelines() {
  const drawn = new Set(['idle', ...[...data.measured.lanes, ...data.ideal.lanes].flatMap((lane) => lane.spans.map((span) => span[2]))]);
  $('legend').replaceChildren(...SPANS.filter(([kind]) => drawn.has(kind)).map(([kind, name]) =>
    make('span', {}, make('i', {style: `background: var(--${kind})`}), name)));
  $('measured-note').textContent = data.measured.note;
  $('ideal-note').textContent = data.ideal.note;
  for (const id of ['measured', 'ideal']) if (data[id].lanes.length) timeline($(id), data[id], short);
}

function bar(head, value, parts, whole, foot, thin) {
  const box = make('div', {}, make('div', {class: 'bar-head'}, make('span', {}, head), make('span', {}, value)));
  for (const row of parts) {
    const track = make('div', {class: thin ? 'bar thin' : 'bar'});
    for (const [kind, amount, title] of row) {
      const part = make('div', {style: `width: ${100 * amount / whole}%; background: var(--${kind})`});
      tip(part, title);
      track.append(part);
    }
    box.append(track);
  }
  if (foot) box.append(make('div', {class: 'bar-foot'}, ...foot.map((text) => make('span', {}, text))));
  return box;
}

function showSplit() {
  for (const rank of data.ranks) {
    const parts = KINDS.map(([kind, name]) => [kind, rank.seconds[kind] || 0, `${name} · ${duration(rank.seconds[kind] || 0)}`]);
    const total = parts.reduce((sum, [, seconds]) => sum + seconds, 0) || 1;
    const foot = parts.filter(([, s]) => s / total >= 0.0005).map(([kind, s]) => `${NAMES[kind]} ${percent(s / total)}`);
    $('split').append(bar(rank.name, duration(total), [parts], total, foot));
  }
  const [titles, ...rows] = data.steps_table;
  table('steps-table', [titles, ...rows.map(([name, ...times]) => [name, ...times.map(milliseconds)])]);
}

function showPredictions() {
  $('predicted-part').hidden = data.predictions.length === 0;
  table('predictions', [['', 'Predicted', 'Measured'], ...data.predictions]);
}

function showLinks() {
  $('links-note').textContent = data.linksNote;
  const most = largest(data.links.map((l) => l.float32));
  for (const link of data.links) {
    const kind = {activations: 'forward', gradients: 'backward'}[link.what] || 'reduce';
    const ratio = link.sent < link.float32 ? `, ${(link.float32 / link.sent).toFixed(2)} times less` : '';
    $('links').append(bar(`rank ${link.from} → ${link.to} · ${link.what}`, `${bytes(link.sent)} of ${bytes(link.float32)}${ratio}`,
      [[[kind, link.sent, `sent ${bytes(link.sent)}`]], [['other', link.float32, `float32 ${bytes(link.float32)}`]]], most, null, true));
  }
}

// A cell a pair of ranks, the darker the more bytes.
function showMatrix() {
  const size = data.matrix.length, most = largest(data.matrix.flat(), 0);
  if (most === 0) return;
  const rows = data.matrix.map((row, from) => [`from ${from}`, ...row.map((sent) => sent === 0 ? '–' : bytes(sent))]);
  table('matrix', [['total bytes', ...data.matrix.map((_, to) => `to ${to}`)], ...rows]);
  $('matrix').querySelectorAll('td').forEach((cell, i) => {
    const share = data.matrix[Math.floor(i / size)][i % size] / most;
    cell.style.background = `color-mix(in srgb, var(--forward) ${Math.round(35 * share)}%, transparent)`;
  });
}

function showMemory() {
  $('memory-note').textContent = data.ranks.length > 1 ? 'Tensors of all ranks, and of each.' : 'Tensors.';
  const most = largest(data.memory.map((item) => item.parts.reduce((sum, [, size]) => sum + size, 0)));
  for (const item of data.memory) $('memory').append(bar(item.name, item.value, [item.parts], most,
    item.parts.length > 1 ? item.parts.map(([, , title]) => title) : null, true));
}

showHead();
showCurves();
showTimelines();
showSplit();
showPredictions();
showLinks();
showMatrix();
showMemory();
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', showCurves);
let width = innerWidth;
addEventListener('resize', () => { if (innerWidth !== width) { width = innerWidth; showTimelines(); } });
