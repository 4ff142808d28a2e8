"use strict";
(function () {
  const all = (selector, root) => Array.from((root || document).querySelectorAll(selector));
  document.documentElement.classList.add("js");

  // Panels of which one is shown.
  for (const box of all(".choice")) {
    const chooser = box.querySelector(".chooser");
    const panels = all(".panel", box).filter((panel) => panel.parentElement === box);
    const show = () => panels.forEach((panel, k) => { panel.hidden = k !== chooser.selectedIndex; });
    chooser.addEventListener("change", show);
    show();
  }

  // Sorting: numbers by their value, everything else as text; what is missing goes last.
  const collator = new Intl.Collator(undefined, { numeric: true });
  const keyOf = (row, column) => {
    const cell = row.cells[column];
    const value = cell.dataset.value;
    if (value !== undefined) return parseFloat(value);
    const text = cell.textContent.trim();
    return text === "–" || text === "" ? null : text;
  };
  const compare = (a, b, sign) => {
    if (a === null || b === null) return (a === null) - (b === null);
    if (typeof a === "number" && typeof b === "number") return sign * (a - b);
    return sign * collator.compare(String(a), String(b));
  };
  for (const table of all("table.sortable")) {
    const headings = all("thead th", table);
    headings.forEach((heading, column) => {
      heading.querySelector("button").addEventListener("click", () => {
        const body = table.tBodies[0];
        const numeric = body.rows.length > 0 && typeof keyOf(body.rows[0], column) === "number";
        const old = heading.getAttribute("aria-sort");
        const down = old === "none" ? numeric : old === "ascending";
        headings.forEach((other) => other.setAttribute("aria-sort", "none"));
        heading.setAttribute("aria-sort", down ? "descending" : "ascending");
        const rows = Array.from(body.rows, (row) => [keyOf(row, column), row]);
        rows.sort((a, b) => compare(a[0], b[0], down ? -1 : 1));
        body.append(...rows.map((pair) => pair[1]));
      });
    });
  }

  // Filtering.
  for (const box of all(".filtered")) {
    const field = box.querySelector(".filter");
    const count = box.querySelector(".count");
    const rows = all("tbody tr", box);
    field.addEventListener("input", () => {
      const wanted = field.value.trim().toLowerCase();
      let shown = 0;
      for (const row of rows) {
        row.hidden = wanted !== "" && !row.textContent.toLowerCase().includes(wanted);
        shown += row.hidden ? 0 : 1;
      }
      count.textContent = wanted === "" ? "" : shown + " of " + rows.length;
    });
  }

  // Values on hovering or touching; the text is set as text, never as markup.
  const tip = document.createElement("div");
  tip.id = "tip";
  tip.hidden = true;
  tip.setAttribute("role", "tooltip");
  document.body.append(tip);
  const place = (x, y) => {
    const width = tip.offsetWidth, height = tip.offsetHeight;
    tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - width - 6)) + "px";
    tip.style.top = (y + 20 + height > innerHeight ? y - height - 12 : y + 18) + "px";
  };
  document.addEventListener("pointermove", (event) => {
    const target = event.target instanceof Element ? event.target.closest("[data-tip]") : null;
    tip.hidden = target === null;
    if (target === null) return;
    tip.textContent = target.dataset.tip;
    place(event.clientX, event.clientY);
  });
  document.addEventListener("pointerdown", (event) => {
    const target = event.target instanceof Element ? event.target.closest("[data-tip]") : null;
    tip.hidden = target === null;
    if (target === null) return;
    tip.textContent = target.dataset.tip;
    place(event.clientX, event.clientY);
  });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") tip.hidden = true; });
  addEventListener("scroll", () => { tip.hidden = true; }, { passive: true });

  // Light or dark: the system's choice until the button is pressed.
  const button = document.getElementById("theme");
  const dark = () => {
    const set = document.documentElement.dataset.theme;
    return set ? set === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  };
  button.hidden = false;
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = dark() ? "light" : "dark";
  });
})();
