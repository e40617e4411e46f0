"use strict";
// Differences of pairs, and the charts of a study; there a case is a value of the axis that is compared.
drawings.forest = (width) => {
  const size = rem(), row = 1.5 * size;
  const rows = [], heads = [];
  for (const { group, rows: own } of data.forest) {
    heads.push({ group, place: heads.length + rows.length });
    for (const each of own) rows.push({ ...each, place: heads.length + rows.length });
  }
  const ends = rows.flatMap(({ mean, interval, bootstrap }) => [0, mean, ...(interval ?? []), ...(bootstrap ?? [])]);
  const above = { y: "place", fontSize: 0.85 * size, fill: "currentColor", stroke: "var(--ground)", strokeWidth: 4 };
  const across = (ends) => ({ x1: (each) => ends(each)[0], x2: (each) => ends(each)[1], y: "place", stroke: (each) => colour(each.case) });
  return plot(width, {
    height: (rows.length + heads.length) * row + 5.6 * size,
    marginTop: 3 * size, marginLeft: 0.5 * size, marginRight: Math.min(9 * size, 0.4 * width),
    x: { label: `points of accuracy over ${shortened(data.against)}`, domain: d3.extent(ends), nice: true, grid: true, axis: "both", ticks: Math.max(2, width / (8 * size)) },
    y: { type: "band", domain: d3.range(rows.length + heads.length), axis: null },
    color: { type: "identity" },
    marks: [
      Plot.ruleX([0], { stroke: "var(--ink)", strokeDasharray: "4 4" }),
      Plot.ruleY(rows.filter((each) => each.bootstrap), { ...across((each) => each.bootstrap), strokeWidth: 1, dy: 0.4 * size }),
      Plot.ruleY(rows.filter((each) => each.interval), { ...across((each) => each.interval), strokeWidth: 3 }),
      ...data.labels.map((_, number) =>
        Plot.dot(rows.filter((each) => each.case === number), { x: "mean", y: "place", symbol: symbol(number), fill: colour(number), stroke: colour(number), r: 0.32 * size })),
      Plot.text(heads, { ...above, frameAnchor: "left", text: (head) => shortened(head.group, Math.floor(width / (0.5 * size))), textAnchor: "start", fontWeight: 600 }),
      Plot.text(rows, { ...above, frameAnchor: "right", dx: 0.4 * size, text: "shown", textAnchor: "start" }),
      Plot.tip(rows, Plot.pointerY({ x: "mean", y: "place", maxRadius: Infinity, title: (each) => `${data.labels[each.case]}: ${each.shown}\n${each.pairs} pairs: ${each.verdict}` })),
    ],
  });
};

// Accuracies with their deviations against a positive number on a logarithmic axis, a mark or a line a case.
function accuracies(width, which, { name, label, joined, ticks }) {
  const size = rem();
  const points = d3.sort(data.panels[which].points.filter((point) => point[name] > 0), (point) => point[name]);
  const [least, most] = d3.extent(points, (point) => point[name]);
  const spreads = points.filter((point) => point.deviation !== null);
  return plot(width, {
    height: Math.max(14 * size, Math.min(width * 0.55, 22 * size)),
    x: { type: "log", label, domain: least < most ? [least, most] : [least / 2, most * 2], inset: 0.8 * size, ticks: ticks?.(points) ?? 4, tickFormat: d3.format("~r") },
    y: { label: "accuracy %", grid: true, nice: true, inset: 0.3 * size },
    color: { type: "identity" },
    marks: [
      Plot.ruleX(spreads, { x: name, y1: (point) => point.accuracy - point.deviation, y2: (point) => point.accuracy + point.deviation, stroke: (point) => colour(point.case), strokeOpacity: 0.6 }),
      ...data.labels.flatMap((_, number) => {
        const own = points.filter((point) => point.case === number);
        return [
          joined ? Plot.line(own, { x: name, y: "accuracy", stroke: colour(number), strokeDasharray: dash(number), strokeWidth: 2 }) : null,
          Plot.dot(own, { x: name, y: "accuracy", symbol: symbol(number), fill: colour(number), stroke: colour(number), r: 0.3 * size }),
        ];
      }),
      Plot.tip(points, Plot.pointer({ x: name, y: "accuracy", maxRadius: Infinity, title: (point) => `${data.labels[point.case]}: ${point.shown} %\n${label} ${grouped.format(point[name])}` })),
    ],
  });
}

drawings.seconds = (width, which) => accuracies(width, which, { name: "seconds", label: "seconds" });
drawings.sizes = (width, which) => accuracies(width, which, {
  name: "budget", label: data.panels[which].unit, joined: true, ticks: (points) => [...new Set(points.map((point) => point.budget))],
});

// A row a difference: its pairs, their mean and its intervals.
drawings.pairs = (width, which) => {
  const size = rem();
  const rows = data.differences[which].map((row, place) => ({ ...row, place }));
  const each = rows.flatMap(({ each: differences, place }) => differences.map((points) => ({ points, place })));
  const ends = rows.flatMap(({ interval, bootstrap }) => [0, ...(interval ?? []), ...(bootstrap ?? [])]);
  const across = (name, dy, strokeWidth) => Plot.ruleY(rows.filter((row) => row[name]), { x1: (row) => row[name][0], x2: (row) => row[name][1], y: "place", dy, stroke: "var(--accent)", strokeWidth });
  const above = { y: "place", dy: -1.2 * size, fontSize: 0.9 * size, fill: "currentColor", stroke: "var(--ground)", strokeWidth: 4 };
  return plot(Math.min(width, 46 * size), {
    height: rows.length * 4 * size + 3.6 * size, marginLeft: size,
    x: { label: "points of accuracy", domain: d3.extent([...ends, ...each.map(({ points }) => points)]), nice: true, grid: true, ticks: Math.max(2, width / (8 * size)) },
    y: { type: "band", domain: rows.map((row) => row.place), axis: null },
    marks: [
      Plot.ruleX([0], { stroke: "var(--ink)", strokeDasharray: "4 4" }),
      across("bootstrap", 0.55 * size, 1), across("interval", 0, 3),
      Plot.dot(each, { x: "points", y: "place", dy: 1.1 * size, r: 0.22 * size, stroke: "var(--ink)", className: "pair-each" }),
      Plot.dot(rows, { x: "mean", y: "place", r: 0.34 * size, fill: "var(--accent)" }),
      Plot.text(rows, { ...above, frameAnchor: "left", text: (row) => shortened(row.name, 44), textAnchor: "start" }),
      Plot.text(rows, { ...above, frameAnchor: "right", text: "shown", textAnchor: "end", fontWeight: 600 }),
    ],
  });
};
