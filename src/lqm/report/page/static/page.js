"use strict";
if (data.explorer) startExplorer();
if (data.maps) startMaps();
if (data.images?.length) startImages();

const watcher = new ResizeObserver((entries) => {
  for (const { target } of entries) if (target.clientWidth !== Number(target.dataset.width)) {
    target.dataset.width = target.clientWidth;
    draw(target);
  }
});
for (const place of document.querySelectorAll("[data-chart]")) watcher.observe(place);

document.getElementById("standing")?.addEventListener("change", (event) => {
  for (const part of document.querySelectorAll(".standing")) part.hidden = part.dataset.standing !== event.target.value;
});

for (const button of document.querySelectorAll(".copy")) {
  button.addEventListener("click", async () => {
    const lines = button.parentElement.querySelector("code");
    try {
      await navigator.clipboard.writeText(lines.textContent);
    } catch {
      getSelection().selectAllChildren(lines);
      document.execCommand("copy");
    }
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
}
