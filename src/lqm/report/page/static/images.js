"use strict";
// The dialog that shows one image large, with what it resembles.
function startImages() {
  const dialog = document.getElementById("image");
  const title = document.getElementById("image-title");
  const content = document.getElementById("image-content");
  const tiles = [...document.querySelectorAll(".tile")];
  let current = 0;

  function element(tag, attributes, ...children) {
    const made = Object.assign(document.createElement(tag), attributes);
    made.append(...children);
    return made;
  }
  function neighbours(nearest) {
    return element("ul", { className: "nearest" }, ...nearest.map(({ real, distance }) => {
      const { image, label } = data.real[real];
      const name = data.classNames[label];
      return element("li", {},
        element("img", { src: image, alt: `real image of class ${name}` }),
        element("strong", {}, name), element("br"), `distance ${fixed(distance, 3)}`, element("br"), `training image ${real.toLocaleString("en")}`);
    }));
  }
  const initOf = (set, label, place) => data.inits?.images[data.inits.of[set][label][place] ?? -1];
  // The image beside its init, from which it was learned, where that is known.
  function large(set, label, place, { dataset, alt }) {
    const learned = element("img", { src: dataset.learned, alt, className: "large" });
    const init = initOf(set, label, place);
    if (!init) return learned;
    const named = (words, shown) => element("figure", {}, shown, element("figcaption", {}, words));
    return element("div", { className: "beside" },
      named("init", element("img", { src: init, alt: `init of ${alt}`, className: "large" })), named("condensed", learned));
  }
  function show(number) {
    current = (number + tiles.length) % tiles.length;
    const [set, label, place] = tiles[current].dataset.place.split(",").map(Number);
    const image = tiles[current].querySelector("img");
    const records = data.images[set][label][place];
    title.textContent = `class ${data.classNames[label]}, image ${place + 1}, by ${data.labels[set]}`;
    const parts = [large(set, label, place, image)];
    const found = records.some((record) => record.nearest.length);
    if (records.length > 1) parts.push(element("p", {}, `A mosaic: networks are trained on its ${records.length} cells, each at full size.`));
    if (found) parts.push(element("h3", {}, "The nearest real training images"), element("p", {}, "The distance is the root mean square difference of pixels, from 0 (the same) to 1 (black and white). A distance near 0 gives that real image away."));
    for (const record of records) {
      const near = neighbours(record.nearest);
      parts.push(record.cell ? element("div", { className: "cell" }, element("img", { src: record.cell, alt: `cell of ${image.alt}` }), near) : near);
    }
    content.replaceChildren(...parts);
    if (!dialog.open) dialog.showModal();
    dialog.scrollTop = 0;
  }
  for (const image of document.querySelectorAll(".tile img")) image.dataset.learned = image.src;
  document.getElementById("inits")?.addEventListener("change", ({ target }) => {
    for (const tile of tiles) {
      const image = tile.querySelector("img");
      const init = initOf(...tile.dataset.place.split(",").map(Number));
      image.src = target.checked && init ? init : image.dataset.learned;
    }
  });
  tiles.forEach((tile, number) => tile.addEventListener("click", () => show(number)));
  // Tab goes from set to set; arrows go from image to image.
  for (const gallery of document.querySelectorAll(".gallery")) {
    const own = [...gallery.querySelectorAll(".tile")];
    const reach = (tile) => own.forEach((other) => { other.tabIndex = other === tile ? 0 : -1; });
    reach(own[0]);
    gallery.addEventListener("focusin", (event) => reach(event.target));
    // The image in the next line, above or below, that is nearest to being in the same column.
    const across = (tile, sign) => {
      const here = tile.getBoundingClientRect();
      const places = own.map((other) => [other, other.getBoundingClientRect()]);
      const beyond = places.map(([other, { top, left }]) => ({ other, away: sign * (top - here.top), aside: Math.abs(left - here.left) })).filter(({ away }) => away > 1);
      const line = d3.min(beyond, ({ away }) => away) + 1;
      return d3.least(beyond.filter(({ away }) => away <= line), ({ aside }) => aside)?.other;
    };
    const moves = {
      ArrowLeft: (tile) => own[own.indexOf(tile) - 1], ArrowRight: (tile) => own[own.indexOf(tile) + 1],
      Home: () => own[0], End: () => own.at(-1),
      ArrowUp: (tile) => across(tile, -1), ArrowDown: (tile) => across(tile, 1),
    };
    gallery.addEventListener("keydown", (event) => {
      if (!moves[event.key]) return;
      event.preventDefault();
      moves[event.key](event.target)?.focus();
    });
  }
  document.getElementById("previous").addEventListener("click", () => show(current - 1));
  document.getElementById("next").addEventListener("click", () => show(current + 1));
  document.getElementById("close").addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  dialog.addEventListener("close", () => tiles[current].focus());
  dialog.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step) { event.preventDefault(); show(current + step); }
  });
}
