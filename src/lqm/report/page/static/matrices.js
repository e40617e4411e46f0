"use strict";
// Matrices as heat maps, by shares of one colour that leave text readable on a light and on a dark ground.
const shade = (share) => 0.06 + 0.5 * share;

drawings.confusion = (width, which) => {
  const [way, number] = which.split(",").map(Number);
  const found = data.confusion[way][number];
  return found.matrix ? matrixOfClasses(width, found) : pairsOfClasses(width, found);
};

function matrixOfClasses(width, { matrix, case: number }) {
  const size = rem();
  const labels = d3.range(matrix.length);
  const cells = matrix.flatMap((row, label) => row.flatMap((share, named) => (share === null ? [] : [{ label, named, share }])));
  const wrong = cells.filter((cell) => cell.label !== cell.named);
  const most = d3.max(wrong, (cell) => cell.share) || 1;
  const long = d3.max(labels, (label) => nameOf(label).length) > 2;
  const room = roomFor(labels), left = room + 1.2 * size, below = (long ? room : 1.2 * size) + 1.5 * size;
  const side = Math.min((width - left - 0.5 * size) / labels.length, 3 * size);
  return plot(left + 0.5 * size + side * labels.length, {
    height: side * labels.length + below + 0.5 * size, marginLeft: left, marginTop: 0.5 * size, marginRight: 0.5 * size, marginBottom: below,
    x: { type: "band", domain: labels, label: "taken for", labelAnchor: "center", labelArrow: "none", labelOffset: below - 0.2 * size, tickFormat: nameOf, tickSize: 0, tickRotate: long ? -90 : 0, padding: 0.04 },
    y: { type: "band", domain: labels, label: "class", labelAnchor: "center", labelArrow: "none", labelOffset: left - 0.2 * size, tickFormat: nameOf, tickSize: 0, padding: 0.04 },
    marks: [
      Plot.cell(cells.filter((cell) => cell.label === cell.named), { x: "named", y: "label", fill: "var(--best)", fillOpacity: 0.18, rx: 2 }),
      Plot.cell(wrong, { x: "named", y: "label", fill: colour(number), fillOpacity: (cell) => (cell.share ? shade(cell.share / most) : 0.03), rx: 2 }),
      side > 1.35 * size ? Plot.text(cells.filter((cell) => cell.share >= 0.005), { x: "named", y: "label", text: (cell) => fixed(100 * cell.share, 0), fill: "var(--ink)", fontSize: 0.75 * size }) : null,
      Plot.tip(cells, Plot.pointer({ x: "named", y: "label", anchor: "bottom", title: (cell) => `class ${data.classNames[cell.label]}\ntaken for ${data.classNames[cell.named]}: ${fixed(100 * cell.share, 1)} %` })),
    ],
  });
}

function pairsOfClasses(width, { pairs, case: number }) {
  const size = rem();
  const rows = pairs.map(([label, named, share], place) => ({ place, words: `${nameOf(label)} → ${nameOf(named)}`, share: 100 * share }));
  return plot(width, {
    height: rows.length * 2.2 * size + 4 * size, marginLeft: 0.5 * size, marginTop: 0.5 * size,
    x: { label: "% of the class", grid: true, zero: true, nice: true, ticks: 4 },
    y: { type: "band", domain: d3.range(rows.length), axis: null, paddingInner: 0.6, paddingOuter: 0.5 },
    marks: [
      Plot.barX(rows, { x: "share", y: "place", fill: colour(number), dy: 0.4 * size }),
      Plot.text(rows, { x: 0, y: "place", text: (row) => `${row.words}  ${fixed(row.share, 1)} %`, textAnchor: "start", dy: -0.65 * size, fill: "var(--ink)", stroke: "var(--ground)", strokeWidth: 3, fontSize: 0.8 * size }),
    ],
  });
}

// Of a stream: the accuracy on each task after each task.
drawings.matrix = (width, which) => {
  const size = rem();
  const cells = data.matrices[which].flatMap((row, after) => row.map((accuracy, task) => ({ after, task, value: 100 * accuracy })));
  const tasks = d3.range(data.tasks.length);
  const left = 3.2 * size, below = 3 * size;
  const side = Math.min((width - left - 0.5 * size) / tasks.length, 3.6 * size);
  return plot(left + 0.5 * size + side * tasks.length, {
    height: side * tasks.length + below + 0.5 * size, marginLeft: left, marginTop: 0.5 * size, marginRight: 0.5 * size, marginBottom: below,
    x: { type: "band", domain: tasks, label: "accuracy on task", labelAnchor: "center", labelArrow: "none", labelOffset: below - 0.3 * size, tickSize: 0, padding: 0.04 },
    y: { type: "band", domain: tasks, label: "after task", labelAnchor: "center", labelArrow: "none", labelOffset: left - 0.3 * size, tickSize: 0, padding: 0.04 },
    marks: [
      Plot.cell(cells, { x: "task", y: "after", fill: colour(Number(which)), fillOpacity: (cell) => shade(cell.value / 100), rx: 3 }),
      side > 1.5 * size ? Plot.text(cells, { x: "task", y: "after", text: (cell) => fixed(cell.value, 0), fill: "var(--ink)", fontSize: Math.min(0.85 * size, 0.42 * side) }) : null,
      Plot.tip(cells, Plot.pointer({ x: "task", y: "after", anchor: "bottom", title: (cell) => `task ${cell.task} after task ${cell.after}: ${fixed(cell.value, 1)} %` })),
    ],
  });
};
