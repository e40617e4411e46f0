"use strict";
drawings.accuracy = (width, which) => {
  const size = rem();
  const bars = data.standings[which].map((bar, place) => ({ ...bar, place }));
  const each = bars.flatMap((bar) => bar.accuracies.map((accuracy) => ({ accuracy, place: bar.place })));
  const full = bars.filter((bar) => bar.case === null && bar.name === "full");
  const row = 3.4 * size;
  const above = { y: "place", dy: -0.27 * row - 0.5 * size, fontSize: 0.9 * size, fill: "currentColor", stroke: "var(--ground)", strokeWidth: 5 };
  return plot(width, {
    height: bars.length * row + 3.6 * size,
    marginLeft: 0.5 * size,
    x: { label: "accuracy %", domain: [0, 100], nice: false },
    y: { type: "band", domain: bars.map((bar) => bar.place), axis: null, paddingInner: 0.55, paddingOuter: 0.4 },
    color: { type: "identity" },
    marks: [
      Plot.axisX({ label: "accuracy %", ticks: 5 }),
      Plot.ruleX(full, { x: (bar) => 100 * bar.accuracy, stroke: "var(--best)", strokeDasharray: "4 4" }),
      Plot.barX(bars, {
        x: (bar) => 100 * bar.accuracy, y: "place", fill: (bar) => (bar.case === null ? "var(--best)" : colour(bar.case)),
        fillOpacity: (bar) => (bar.case === null ? 0.55 : 1),
      }),
      Plot.ruleY(bars, { x1: (bar) => 100 * (bar.accuracy - bar.deviation), x2: (bar) => 100 * (bar.accuracy + bar.deviation), y: "place", stroke: "var(--ink)", strokeWidth: 2 }),
      Plot.dot(each, { x: (found) => 100 * found.accuracy, y: "place", dy: 0.38 * size, r: 0.17 * size, fill: "var(--ground)", stroke: "var(--ink)" }),
      Plot.text(bars, { ...above, x: 0, text: (bar) => shortened(bar.name, 34) + bar.size, textAnchor: "start" }),
      Plot.text(bars, { ...above, x: 100, text: "shown", textAnchor: "end", fontWeight: 600 }),
      Plot.tip(bars, Plot.pointerY({ x: (bar) => 100 * bar.accuracy, y: "place", title: (bar) => `${bar.name}\n${bar.accuracies.map((found) => fixed(100 * found, 1)).join(", ")}` })),
    ],
  });
};

drawings.classes = (width, which) => {
  const rows = [], ticks = [];
  for (const bar of data.standings[which]) {
    bar.byClass.forEach((share, label) => {
      if (share === null) return;
      if (bar.case !== null) rows.push({ case: bar.case, label, value: 100 * share });
      else if (bar.name === "full") ticks.push({ label, value: 100 * share });
    });
  }
  const least = d3.min([...rows, ...ticks], (row) => row.value);
  return byClass(width, rows, { label: "accuracy %", domain: [Math.max(0, Math.floor(least / 5) * 5 - 5), 100], order: (found) => d3.min(found, (row) => row.value), ticks });
};

drawings.extremes = (width) => {
  const rows = data.explorer.extremes.flatMap((shares, number) =>
    shares.flatMap((share, place) => (share === null ? [] : [{ case: number, label: data.explorer.classes[place].label, value: 100 * share }])));
  return byClass(width, rows, { label: "extreme values %", domain: [0, Math.max(1, d3.max(rows, (row) => row.value))], order: (found) => -d3.max(found, (row) => row.value) });
};

// Classes side by side, so that the chart is as high for thirty classes as for three.
drawings.budgets = (width) => {
  const size = rem();
  const totals = data.classNames.map((_, label) => d3.max(data.budgets.sets, (own) => own[label] ?? 0));
  const labels = d3.sort(totals.keys(), (label) => -totals[label]).slice(0, data.mostClasses).sort((a, b) => a - b);
  const kept = d3.range(data.labels.length).filter((number) => data.budgets.sets[number].length);
  const rows = kept.flatMap((number) => labels.map((label) => ({ case: number, label, count: data.budgets.sets[number][label] })));
  const longest = d3.max(labels, (label) => nameOf(label).length);
  const upright = (0.55 * longest + 0.5) * size > (width - 3.5 * size) / labels.length;
  const wide = Math.min(width, (4 + labels.length * (1 + 0.9 * kept.length)) * size);
  return plot(Math.max(wide, Math.min(width, 20 * size)), {
    height: (13 + (upright ? 0.5 * longest : 0)) * size,
    marginBottom: (upright ? 0.5 * longest + 1.5 : 2) * size,
    x: { axis: null, domain: kept, padding: 0.05 },
    y: { label: "nodes", grid: true, ticks: whole([0, d3.max(totals)], 25 * size), tickFormat: "d" },
    fx: { domain: labels, label: null, axis: "bottom", tickFormat: nameOf, tickRotate: upright ? -90 : 0, padding: 0.15 },
    color: { type: "identity" },
    marks: [
      Plot.barY(rows, { fx: "label", x: "case", y: "count", fill: (row) => colour(row.case), title: (row) => `class ${data.classNames[row.label]}\n${data.labels[row.case]}: ${row.count}`, tip: true }),
      Plot.ruleY([0]),
    ],
  });
};

drawings.histogram = (width) => {
  const size = rem();
  const { edges, shares } = data.explorer.histogram;
  const known = d3.range(shares.length).filter((number) => shares[number]);
  const bars = known.flatMap((number) => shares[number].map((share, place) => ({ number, share: 100 * share, low: edges[place], high: edges[place + 1] })));
  const means = known.map((number) => ({ number, mean: data.explorer.means[number] }));
  return plot(width, {
    height: known.length * 7 * size + 5.5 * size, marginBottom: 3.8 * size,
    x: { label: "Cramér-von Mises statistic", tickPadding: 0.9 * size, labelOffset: 3.5 * size },
    y: { label: "features %", grid: true, ticks: 3 },
    fy: { axis: null, padding: 0.25 },
    color: { type: "identity" },
    marks: [
      Plot.rectY(bars, { fy: "number", x1: "low", x2: "high", y: "share", fill: (bar) => colour(bar.number), fillOpacity: 0.75, inset: 0.5 }),
      Plot.ruleX(means, { fy: "number", x: "mean", stroke: "var(--ink)", strokeWidth: 2 }),
      Plot.text(means, { fy: "number", frameAnchor: "top-right", text: (row) => `${shortened(data.labels[row.number], 30)}: mean ${fixed(row.mean, 3)}`, fill: "currentColor", stroke: "var(--ground)", strokeWidth: 4, fontSize: 0.85 * size }),
      Plot.dot(explorerStatistics(), { fy: "number", x: "statistic", y: 0, dy: 0.45 * size, symbol: "triangle", r: 0.32 * size, fill: (row) => colour(row.number), stroke: "var(--ink)" }),
      Plot.tip(bars, Plot.pointerX({ fy: "number", x: (bar) => (bar.low + bar.high) / 2, y: "share", title: (bar) => `${data.labels[bar.number]}\n${fixed(bar.low, 3)} to ${fixed(bar.high, 3)}: ${fixed(bar.share, 1)} % of the features` })),
    ],
  });
};

drawings.curve = (width, name) => {
  const series = data.learning.curves.flatMap((metrics, number) =>
    metrics[name] ? [{ number, points: metrics[name].steps.map((step, place) => ({ x: step, y: metrics[name].values[place] })) }] : []);
  const positive = series.every(({ points }) => points.every((point) => point.y > 0));
  return lines(width, series, { x: "step", y: name, type: name === "loss" && positive ? "log" : "linear" });
};

const withSpread = ({ y, deviation }) => fixed(y, 1) + (deviation === null ? "" : ` ± ${fixed(100 * deviation, 1)}`);
const spread = (x, { mean, deviation }) => ({ x, y: 100 * mean, low: 100 * (mean - deviation), high: 100 * (mean + deviation), deviation });

drawings.evaluations = (width, protocol) => {
  const series = data.learning.evaluations[protocol].map((found, number) => ({ number, points: found.map((line) => spread(line.step, { mean: line.accuracy, deviation: line.deviation })) }));
  return lines(width, series, { x: "step", y: "accuracy %", say: withSpread });
};

function overTasks(found) {
  return found.map((spreads, number) => ({ number, points: spreads.flatMap((own, task) => (own ? [spread(task, own)] : [])) }));
}

drawings.average = (width) => lines(width, overTasks(data.average), { x: "after task", y: "AA %", domain: [0, 100], say: withSpread, ticks: d3.range(data.tasks.length), named: data.bounds });
drawings.transfer = (width) => lines(width, overTasks(data.transfer), { x: "after task", y: "BWT", zero: true, say: withSpread, ticks: d3.range(1, data.tasks.length) });
