"use strict";
// Class and feature that are looked at, and the curves of them.
const chosen = { place: 0, feature: 0 };

function unpacked(text, row, length) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  return Array.from({ length }, (_, column) => view.getFloat32(4 * (row * length + column), true));
}

function explorerStatistics() {
  const own = data.explorer.classes[chosen.place];
  const row = own.features.indexOf(chosen.feature);
  return own.cases.flatMap((found, number) => (found ? [{ number, statistic: found.statistic[row] }] : []));
}

function curves() {
  const own = data.explorer.classes[chosen.place];
  const row = own.features.indexOf(chosen.feature);
  return {
    real: unpacked(own.real, row, own.steps),
    best: Object.entries(own.best).map(([size, text]) => unpacked(text, row, Number(size))),
    sets: own.cases.map((found) => found && unpacked(found.own, row, found.size)),
  };
}

// An empirical distribution function: up by an equal share at each value, from one end of the axis to the other.
function steps(values, [low, high]) {
  const points = values.map((x, place) => ({ x, y: (place + 1) / values.length }));
  return [{ x: low, y: 0 }, { x: values[0], y: 0 }, ...points, { x: high, y: 1 }];
}

drawings.ecdf = (width) => {
  const { real, best, sets } = curves();
  const [least, most] = d3.extent([...real, ...best.flat(), ...sets.flatMap((own) => own ?? [])]);
  const room = 0.04 * (most - least || 1);
  const ends = [least - room, most + room];
  const line = (values, name, options) => Plot.line(steps(values, ends), { x: "x", y: "y", curve: "step-after", className: name, ...options });
  const share = (values, x) => `${fixed((100 * d3.bisectRight(values, x)) / values.length, 1)} %`;
  const said = (x) => [
    `at or below ${shortly(x)}`, `real: ${share(real, x)}`, ...sets.flatMap((values, number) => (values ? [`${data.labels[number]}: ${share(values, x)}`] : [])),
  ];
  return plot(width, {
    height: Math.max(17 * rem(), Math.min(width * 0.45, 28 * rem())),
    x: { label: "value of the latent feature", domain: ends },
    y: { label: "share of records at or below", domain: [0, 1], grid: true, tickFormat: ".0%" },
    marks: [
      line(real, "ecdf-real", { stroke: "var(--real)", strokeWidth: 5, strokeOpacity: 0.4 }),
      ...best.map((values) => line(values, "ecdf-best", { stroke: "var(--best)", strokeWidth: 1.5, strokeDasharray: "2 3" })),
      best.length > 1 ? Plot.text(best, { x: (values) => values[0], y: (values) => 1 / values.length, text: (values) => `${values.length} optimal`, textAnchor: "end", dx: -4, fill: "var(--quiet)", stroke: "var(--ground)", strokeWidth: 4 }) : null,
      ...sets.flatMap((values, number) => (values ? [line(values, `ecdf-case-${number}`, { stroke: colour(number), strokeWidth: 2.2, strokeDasharray: dash(number) })] : [])),
      Plot.tip(steps(real, ends), Plot.pointerX({ x: "x", y: "y", title: ({ x }) => said(x).join("\n") })),
    ],
  });
};

function cells(tag, texts) {
  const row = document.createElement("tr");
  for (const text of texts) {
    const cell = document.createElement(tag);
    cell.textContent = text;
    row.append(cell);
  }
  return row;
}

function describe() {
  const own = data.explorer.classes[chosen.place];
  const statistics = explorerStatistics();
  const said = statistics.map(({ number, statistic }) => `${fixed(statistic, 4)} by ${data.labels[number]}`).join(", ");
  const drawn = own.steps < own.records ? `, drawn as ${own.steps} quantiles` : "";
  document.getElementById("ecdf-words").textContent =
    `Class ${data.classNames[own.label]}, feature ${chosen.feature}: Cramér-von Mises statistic ${said}. ` +
    `${own.records.toLocaleString("en")} real record${own.records === 1 ? "" : "s"}${drawn}.`;
  const { real, best, sets } = curves();
  const quartiles = [0, 0.25, 0.5, 0.75, 1].map((level) => shortly(d3.quantileSorted(real, level)));
  const rows = [cells("th", ["curve", "records", "CvM", "values"]), cells("td", ["real", own.records, "", `smallest, quartiles and largest: ${quartiles.join(", ")}`])];
  for (const values of best) rows.push(cells("td", ["optimal points", values.length, "", values.map(shortly).join(", ")]));
  for (const { number, statistic } of statistics) rows.push(cells("td", [data.labels[number], sets[number].length, fixed(statistic, 4), sets[number].map(shortly).join(", ")]));
  document.getElementById("ecdf-table").replaceChildren(...rows);
}

function options(select, entries) {
  select.replaceChildren(...entries.map(([value, text]) => new Option(text, value)));
}

function startExplorer() {
  const [ofClass, pick, feature] = ["class", "pick", "feature"].map((id) => document.getElementById(id));
  const place = document.getElementById("ecdf");
  place.dataset.chart = "ecdf";
  options(ofClass, data.explorer.classes.map((own, number) => [number, data.classNames[own.label]]));
  options(pick, [["typical", "most typical"], ...data.explorer.means.flatMap((mean, number) => (mean === null ? [] : [[number, `worst matched by ${data.labels[number]}`]])), ["own", "chosen by its number"]]);

  function show() {
    draw(place);
    drawAll("histogram");
    describe();
  }
  function choose() {
    const own = data.explorer.classes[ofClass.value];
    chosen.place = Number(ofClass.value);
    options(feature, own.features.map((number) => [number, number]));
    const worst = own.cases[pick.value]?.worst;
    const same = own.features.includes(chosen.feature) ? chosen.feature : own.typical;
    chosen.feature = worst ?? (pick.value === "own" ? same : own.typical);
    feature.value = chosen.feature;
    show();
  }
  ofClass.addEventListener("change", choose);
  pick.addEventListener("change", choose);
  feature.addEventListener("change", () => {
    chosen.feature = Number(feature.value);
    pick.value = "own";
    show();
  });
  document.getElementById("explorer").addEventListener("submit", (event) => event.preventDefault());
  choose();
}
