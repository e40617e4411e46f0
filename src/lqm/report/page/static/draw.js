"use strict";
// Every chart is a function of its width; it is drawn anew when that changes.
const data = JSON.parse(document.getElementById("data").textContent);
const drawings = {};
const CASES = 8;
const DASHES = ["", "8 3", "2 3", "10 3 2 3", "14 4", "5 5", "1 4", "10 3 2 3 2 3"];
const MOST_MARKS = 30;
const SYMBOLS = ["circle", "square", "triangle", "diamond", "times", "plus", "star", "asterisk"];

// From the ninth run on colours come again, with the next dash and mark.
const form = (number) => (number + Math.floor(number / CASES)) % CASES;
const colour = (number) => `var(--case-${number % CASES})`;
const dash = (number) => DASHES[form(number)];
const symbol = (number) => SYMBOLS[form(number)];
const rem = () => parseFloat(getComputedStyle(document.documentElement).fontSize);
// As Python rounds: what lies in the middle goes to the even digit.
const formats = d3.range(5).map((digits) => new Intl.NumberFormat("en", { minimumFractionDigits: digits, maximumFractionDigits: digits, roundingMode: "halfEven", useGrouping: false }));
const fixed = (value, digits) => formats[digits].format(value);
const shortly = d3.format(".4~g");
const grouped = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
const shortened = (text, most = 16) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

function plot(width, options) {
  const size = rem();
  const style = { fontSize: `${0.8 * size}px`, background: "none", overflow: "visible", color: "var(--ink)" };
  const margins = { marginLeft: 3 * size, marginRight: size, marginTop: 1.8 * size, marginBottom: 2.6 * size };
  const made = Plot.plot({ width, ...margins, ...options, style });
  made.ariaHidden = "true"; // what it shows is said by the place that it is drawn in
  return made;
}

function draw(place) {
  const [name, argument] = place.dataset.chart.split(/:(.*)/s);
  const width = place.clientWidth;
  if (width > 0) place.replaceChildren(drawings[name](width, argument));
}

function drawAll(name) {
  for (const place of document.querySelectorAll("[data-chart]")) {
    if (!name || place.dataset.chart.split(":")[0] === name) draw(place);
  }
}

const nameOf = (label) => shortened(data.classNames[label]);
// The width of the names of classes beside an axis.
const roomFor = (labels) => Math.max(2, 0.5 * d3.max(labels, (label) => nameOf(label).length) + 1) * rem();

// One mark a class and case; the worst classes come first.
function byClass(width, rows, { label, domain, order, ticks = [] }) {
  const full = new Map(ticks.map((tick) => [tick.label, tick.value]));
  const size = rem();
  const worst = d3.rollups(rows, order, (row) => row.label).sort((a, b) => a[1] - b[1]);
  const labels = worst.slice(0, data.mostClasses).map(([found]) => found);
  const shown = d3.group(rows, (row) => row.label);
  const said = (label) => [
    `class ${data.classNames[label]}`,
    ...d3.sort(shown.get(label), (row) => row.case).map((row) => `${data.labels[row.case]}: ${fixed(row.value, 2)} %`),
    ...(full.has(label) ? [`all real data: ${fixed(full.get(label), 2)} %`] : []),
  ];
  return plot(width, {
    height: labels.length * 1.7 * size + 4 * size,
    marginLeft: roomFor(labels),
    x: { label, domain, grid: true, insetLeft: 0.5 * size },
    y: { type: "band", domain: labels, label: null, tickFormat: nameOf, tickSize: 0 },
    marks: [
      Plot.tickX(ticks, { x: "value", y: "label", stroke: "var(--best)", strokeWidth: 4 }),
      ...data.labels.map((_, number) =>
        Plot.dot(rows.filter((row) => row.case === number), {
          x: "value", y: "label", symbol: symbol(number), fill: colour(number), stroke: colour(number), fillOpacity: 0.6, r: 0.3 * size,
        })),
      Plot.tip(rows, Plot.pointerY({ x: "value", y: "label", title: (row) => said(row.label).join("\n") })),
    ],
  });
}

function whole(values, width) {
  return d3.ticks(...d3.extent(values), Math.max(2, width / (5 * rem()))).filter(Number.isInteger);
}

// 1, 2 and 5 times the powers of ten; where these are fewer than three, ticks as on a plain axis.
function logTicks(series) {
  const [least, most] = d3.extent(series.flatMap(({ points }) => points.map((point) => point.y)));
  const powers = d3.range(Math.floor(Math.log10(least)), Math.ceil(Math.log10(most)) + 1);
  const found = powers.flatMap((power) => [1, 2, 5].map((digit) => digit * 10 ** power)).filter((tick) => tick >= least && tick <= most);
  return found.length >= 3 ? found : d3.ticks(least, most, 4);
}

// What all runs have at about the same x, in one box.
function tipOfAll(series, x, say) {
  const at = (point) => `${x} ${grouped.format(point.x)}`;
  const said = (place) => series.filter(({ points }) => points.length).map((own) => {
    const point = own.points[d3.bisector((found) => found.x).center(own.points, place)];
    return `${data.labels[own.number]}${point.x === place ? "" : ` (${at(point)})`}: ${say(point)}`;
  });
  const all = series.flatMap(({ points }) => points);
  return Plot.tip(all, Plot.pointerX({ x: "x", y: "y", maxRadius: Infinity, title: (point) => [at(point), ...said(point.x)].join("\n") }));
}

function lines(width, series, { x, y, domain, type, ticks, zero, named = [], say = ({ y }) => shortly(y) }) {
  const marks = series.flatMap(({ number, points }) => [
    Plot.areaY(points.filter((point) => point.low !== undefined), { x: "x", y1: "low", y2: "high", fill: colour(number), fillOpacity: 0.15 }),
    Plot.line(points, { x: "x", y: "y", stroke: colour(number), strokeDasharray: dash(number), strokeWidth: 2 }),
    points.length <= MOST_MARKS ? Plot.dot(points, { x: "x", y: "y", symbol: symbol(number), fill: colour(number), stroke: colour(number) }) : null,
  ]);
  // What bounds the others is named at its line too.
  const bounds = series.flatMap(({ number, points }) => (named[number] && points.length ? [{ ...points.at(-1), words: named[number] }] : []));
  return plot(width, {
    height: Math.max(14 * rem(), Math.min(width * 0.55, 22 * rem())),
    x: { label: x, ticks: ticks ?? whole(series.flatMap(({ points }) => points.map((point) => point.x)), width), tickFormat: ",d" },
    y: { label: y, grid: true, domain, type, zero, tickFormat: type === "log" ? (value) => d3.format("~g")(value) : undefined, ticks: type === "log" ? logTicks(series) : undefined },
    marks: [zero ? Plot.ruleY([0]) : null, ...marks, ...bounds.map((bound) => Plot.text([bound], { x: "x", y: "y", text: "words", textAnchor: "end", dx: -0.5 * rem(), dy: (bound.y > 50 ? -0.8 : 0.9) * rem(), fill: "var(--ink)", stroke: "var(--ground)", strokeWidth: 4, className: "bound" })), tipOfAll(series, x, say)],
  });
}
