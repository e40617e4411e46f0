"use strict";
// Maps of latent features along two principal components.
const mapped = { place: 0 };

// The class and the two coordinates of each record.
function pointsOf({ counts, points }) {
  const values = unpacked(points, 0, 2 * d3.sum(counts, ([, count]) => count));
  let next = 0;
  return counts.flatMap(([label, count]) => d3.range(count).map(() => ({ label, x: values[next++], y: values[next++] })));
}

drawings.map = (width, which) => {
  const size = rem();
  const found = which === "all" ? data.maps.all : data.maps.classes[mapped.place];
  const real = pointsOf(found.real);
  const radius = Math.min(0.26 * size, width / 100);
  const sets = found.sets.map((own) => (own ? pointsOf(own) : []));
  const [first, second] = found.explained.map((share, number) => `axis ${number + 1} (${fixed(100 * share, 0)} % of the variance)`);
  const synthetic = sets.flatMap((own, number) => own.map((point) => ({ ...point, number })));
  const names = which === "all" && found.real.counts.length <= data.mostClasses
    ? d3.rollups(real, (own) => [d3.mean(own, (point) => point.x), d3.mean(own, (point) => point.y)], (point) => point.label) : [];
  return plot(Math.min(width, 40 * size), {
    aspectRatio: 1, inset: 0.5 * size,
    x: { label: first, ticks: 5 }, y: { label: second, ticks: 5 },
    marks: [
      Plot.dot(real, { x: "x", y: "y", r: 0.5 * radius, fill: "var(--best)", fillOpacity: 0.55, className: "map-real" }),
      ...sets.map((own, number) => Plot.dot(own, {
        x: "x", y: "y", symbol: symbol(number), r: radius, fill: colour(number), fillOpacity: 0.7, stroke: colour(number), className: `map-case-${number}`,
      })),
      Plot.text(names, { x: ([, centre]) => centre[0], y: ([, centre]) => centre[1], text: ([label]) => nameOf(label), fill: "var(--ink)", stroke: "var(--ground)", strokeWidth: 4, fontSize: 0.9 * size, fontWeight: 600 }),
      Plot.tip(synthetic, Plot.pointer({ x: "x", y: "y", title: (point) => `class ${data.classNames[point.label]}\n${data.labels[point.number]}` })),
    ],
  });
};

function startMaps() {
  const select = document.getElementById("map-class");
  options(select, data.explorer.classes.map((own, number) => [number, data.classNames[own.label]]));
  function choose() {
    mapped.place = Number(select.value);
    const { real, explained } = data.maps.classes[mapped.place];
    const [[label, count]] = real.counts;
    document.getElementById("map-words").textContent =
      `Class ${data.classNames[label]}, along the axes of its own ${count.toLocaleString("en")} real record${count === 1 ? "" : "s"}, ` +
      `which explain ${fixed(100 * d3.sum(explained), 0)} % of their variance.`;
    drawAll("map");
  }
  select.addEventListener("change", choose);
  document.getElementById("map-controls").addEventListener("submit", (event) => event.preventDefault());
  choose();
}
