"use strict";

// Tables: a click on a head sorts, another turns the order round.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  const value = (row, column) => {
    const cell = row.cells[column];
    return "v" in cell.dataset ? Number(cell.dataset.v) : cell.textContent;
  };
  heads.forEach((head, column) => head.firstElementChild.addEventListener("click", () => {
    const numbers = head.classList.contains("n");
    const before = head.getAttribute("aria-sort");
    const first = numbers ? "descending" : "ascending";
    const order = before === null ? first : before === "ascending" ? "descending" : "ascending";
    const sign = order === "ascending" ? 1 : -1;
    const compare = numbers ? (a, b) => a - b : (a, b) => a.localeCompare(b, "en", { numeric: true });
    const rows = [...table.tBodies[0].rows];
    rows.sort((a, b) => sign * compare(value(a, column), value(b, column)));
    table.tBodies[0].append(...rows);
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", order);
  }));
}

// The plot: drawn anew for each width, so that its text keeps its size.
(() => {
  const { budget, each, points } = JSON.parse(document.getElementById("frames").textContent);
  const svg = document.querySelector("#plot svg");
  const readout = document.getElementById("readout");
  const choices = [...document.querySelectorAll("[data-scale]")];
  const edge = { left: 52, right: 12, top: 22, bottom: 42 };
  let scale = "log";
  let chosen = null;
  if (each > 1) {
    document.getElementById("plot-note").textContent += ` Each point is the slowest of ${each}.`;
  }
  if (points.length === 0) {
    svg.remove();
    readout.textContent = "There are no frames.";
    return;
  }

  const make = (name, attributes, text) => {
    const element = document.createElementNS(svg.namespaceURI, name);
    Object.entries(attributes).forEach(([key, value]) => element.setAttribute(key, value));
    if (text !== undefined) element.textContent = text;
    svg.append(element);
    return element;
  };
  const ms = (us) => us >= 10000 ? (us / 1000).toFixed(1) : (us / 1000).toPrecision(3);
  const label = (us) => String(Number((us / 1000).toPrecision(2)));

  // Round numbers from low to high: 1, 2, 5, 10 ... or equal steps.
  const ticks = (low, high, most, logarithmic) => {
    const found = [];
    if (logarithmic) {
      for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += 1) {
        for (const digit of [1, 2, 5]) found.push(digit * 10 ** power);
      }
      const within = found.filter((at) => at >= low && at <= high);
      return within.length > most ? within.filter((at) => Number.isInteger(Math.log10(at))) : within;
    }
    let step = 10 ** Math.floor(Math.log10((high - low || 1) / most));
    step = [1, 2, 5, 10].map((digit) => digit * step).find((wide) => (high - low) / wide <= most);
    for (let at = Math.ceil(low / step) * step; at <= high; at += step) found.push(at);
    return found;
  };

  const draw = () => {
    const { clientWidth: width, clientHeight: height } = svg;
    svg.replaceChildren();
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const logarithmic = scale === "log";
    const bottom = height - edge.bottom, right = width - edge.right;
    const first = points[0][0], last = Math.max(points[points.length - 1][0], first + 1);
    const totals = points.map((point) => point[1]), settles = points.map((point) => Math.max(point[2], 0.1));
    const most = Math.max(...totals);
    const high = Math.max(most, budget) * (logarithmic ? 1.4 : 1.06);
    const low = logarithmic ? Math.min(...totals, ...settles) * 0.7 : 0;
    const part = (us) => logarithmic ? Math.log(us / low) / Math.log(high / low) : us / high;
    const x = (index) => edge.left + (index - first) / (last - first) * (right - edge.left);
    const y = (us) => bottom - part(us) * (bottom - edge.top);

    for (const at of ticks(low, high, 8, logarithmic)) {
      make("line", { class: "grid", x1: edge.left, x2: right, y1: y(at), y2: y(at) });
      make("text", { x: edge.left - 8, y: y(at) + 4, "text-anchor": "end" }, label(at));
    }
    for (const at of ticks(first, last, Math.max(2, width / 90), false)) {
      make("line", { class: "grid", x1: x(at), x2: x(at), y1: bottom, y2: bottom + 4 });
      make("text", { x: x(at), y: bottom + 18, "text-anchor": "middle" }, at);
    }
    make("text", { x: edge.left - 8, y: 12, "text-anchor": "end" }, "ms");
    make("text", { x: (edge.left + right) / 2, y: height - 6, "text-anchor": "middle" }, "frame");
    make("line", { class: "budget", x1: edge.left, x2: right, y1: y(budget), y2: y(budget) });
    make("text", { class: "budget", x: right, y: y(budget) - 6, "text-anchor": "end" }, `budget ${ms(budget)} ms`);

    const path = (column) => points.map((point, at) =>
      `${at ? "L" : "M"}${x(point[0]).toFixed(1)} ${y(Math.max(point[column], 0.1)).toFixed(1)}`).join("");
    make("path", { class: "line settle", d: path(2) });
    make("path", { class: "line total", d: path(1) });
    for (const [index, total, , marks] of points) {
      if (marks & 1) make("circle", { class: "over", cx: x(index), cy: y(total), r: 3.5 });
      if (marks & 2) make("circle", { class: "late", cx: x(index), cy: y(total), r: 6 });
    }
    if (chosen !== null) {
      const at = x(points[chosen][0]);
      make("line", { class: "cursor", x1: at, x2: at, y1: edge.top, y2: bottom });
    }
    return { x, first, last, right };
  };

  let drawn = draw();
  const choose = (at) => {
    chosen = Math.min(Math.max(at, 0), points.length - 1);
    const [index, total, settle, marks] = points[chosen];
    const notes = [marks & 1 ? "over budget" : "", marks & 2 ? "late" : ""].filter(Boolean);
    const more = notes.length ? ` (${notes.join(", ")})` : "";
    readout.textContent = `Frame ${index}: ${ms(total)} ms, of that settle ${ms(settle)} ms${more}`;
    drawn = draw();
  };
  svg.addEventListener("pointermove", (event) => {
    const along = (event.clientX - svg.getBoundingClientRect().left - edge.left) / (drawn.right - edge.left);
    const index = drawn.first + along * (drawn.last - drawn.first);
    let near = 0;
    points.forEach((point, at) => {
      if (Math.abs(point[0] - index) < Math.abs(points[near][0] - index)) near = at;
    });
    if (near !== chosen) choose(near);
  });
  svg.addEventListener("keydown", (event) => {
    const steps = { ArrowLeft: -1, ArrowRight: 1, PageUp: -20, PageDown: 20, Home: -Infinity, End: Infinity };
    if (event.key in steps) {
      event.preventDefault();
      choose((chosen ?? 0) + steps[event.key]);
    }
  });
  choices.forEach((choice) => choice.addEventListener("click", () => {
    scale = choice.dataset.scale;
    choices.forEach((other) => other.setAttribute("aria-pressed", String(other === choice)));
    drawn = draw();
  }));
  new ResizeObserver(() => { drawn = draw(); }).observe(svg.parentElement);
})();
