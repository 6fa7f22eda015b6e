"use strict";
// Terms and excerpts are untrusted: they only ever become text, by textContent, never HTML.
const pageData = JSON.parse(document.getElementById("page-data").textContent);
const words = pageData.vocabulary;
const views = {};
const byId = (id) => document.getElementById(id);

function element(tag, text, attributes) {
  const made = document.createElement(tag);
  if (text !== undefined && text !== null) made.textContent = text;
  for (const [name, value] of Object.entries(attributes || {})) made.setAttribute(name, value);
  return made;
}

function percent(share) { // as format_percent in Python, which rounds a half, such as 42.5, to the even digit
  const x = 100 * share;
  function fixed(digits) {
    const rounded = x.toFixed(digits), isHalf = /^50*$/.test(x.toFixed(20).split(".")[1].slice(digits));
    return (isHalf && rounded.at(-1) % 2 ? (Number(rounded) - 10 ** -digits).toFixed(digits) : rounded) + " %";
  }
  if (x === 0 || x === 100 || (x >= 9.95 && x <= 99)) return fixed(0);
  if (x > 99) return x <= 99.9 ? fixed(1) : "> 99.9 %";
  const digits = Math.min(Math.max(1 - Math.floor(Math.log10(x)), 1), 3);
  return x >= 0.001 ? fixed(digits) : "< 0.001 %";
}

const grouped = (n) => n.toLocaleString("en");

// What is under the pointer
const tip = byId("tip");
function showTip(_, event, item, value) {
  if (!value) { tip.hidden = true; return; }
  tip.replaceChildren(...Object.entries(value).map(([name, text]) => {
    const line = element("div");
    line.append(element("b", name), element("bdi", text));
    return line;
  }));
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const left = Math.min(event.clientX + 14, window.innerWidth - box.width - 8);
  const below = event.clientY + 14 + box.height < window.innerHeight;
  tip.style.left = Math.max(left, 4) + "px";
  tip.style.top = (below ? event.clientY + 14 : event.clientY - box.height - 10) + "px";
}

// Charts: expressions are interpreted, never compiled, so the page needs no permission to evaluate text
function draw(place) {
  const name = place.dataset.chart;
  const options = { ast: true, renderer: "svg", actions: false, tooltip: showTip };
  return vegaEmbed(place, pageData.charts[name], options).then((made) => {
    views[name] = made.view;
    if (name.startsWith("f1_")) steerByKeys(place, made.view);
  });
}

// The arrow keys go through the scores of a chart of curves; Escape shows all
function steerByKeys(place, view) {
  const names = ["", ...view.scale("color").domain()];
  const label = place.getAttribute("aria-label");
  place.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step && event.key !== "Escape") return;
    event.preventDefault();
    const at = names.indexOf(view.signal("pointed"));
    const next = step ? names[(at + step + names.length) % names.length] : "";
    view.signal("pointed", next).run();
    place.setAttribute("aria-label", next ? `${next}. ${label}` : label);
  });
}

// Sorting of tables
function sortBy(table, column, head) {
  const ascending = head.getAttribute("aria-sort") === "descending";
  const body = table.tBodies[0];
  const numeric = head.classList.contains("number");
  const value = (row) => row.cells[column].dataset.value;
  const order = [...body.rows].sort((a, b) => {
    const difference = numeric ? Number(value(a)) - Number(value(b)) : value(b).localeCompare(value(a));
    return ascending ? difference : -difference;
  });
  for (const one of table.tHead.rows[0].cells) one.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
  body.append(...order);
}
for (const table of document.querySelectorAll("table.sortable")) {
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    head.firstElementChild.addEventListener("click", () => sortBy(table, column, head));
  });
}

// Light and dark
const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");
const themeButton = byId("theme");
function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : prefersDark.matches;
}
function sayTheme() {
  themeButton.textContent = isDark() ? "Light" : "Dark";
  themeButton.setAttribute("aria-pressed", String(isDark()));
  themeButton.setAttribute("aria-label", isDark() ? "Show in light colours" : "Show in dark colours");
}
const THEME = "termsieve-theme"; // a browser may refuse to remember anything for a page from a file
function recall() { try { return localStorage.getItem(THEME); } catch { return null; } }
function remember(theme) { try { localStorage.setItem(THEME, theme); } catch { /* then it is asked for again */ } }
if (["light", "dark"].includes(recall())) document.documentElement.dataset.theme = recall();
themeButton.addEventListener("click", () => {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  remember(document.documentElement.dataset.theme);
  sayTheme();
});
prefersDark.addEventListener("change", sayTheme);
sayTheme();

// Copying
for (const button of document.querySelectorAll(".copy")) {
  button.addEventListener("click", async () => {
    const code = byId(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
    } catch {
      window.getSelection().selectAllChildren(code);
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1600);
  });
}

window.addEventListener("beforeprint", () => {
  for (const one of document.querySelectorAll("details")) one.open = true;
});

// The map
const OTHER = "currentColor";
const state = { view: 0, score: 0, k: 50, query: "", chosen: null };

const labelOf = (i) => (state.view ? state.view - 1 : words.own[i]);

function documentsIn(i, label) {
  const cells = words.cells[i];
  for (let at = 0; at < cells.length; at += 2) if (cells[at] === label) return cells[at + 1];
  return 0;
}

function ratesOf(i, label) {
  const inside = documentsIn(i, label), size = words.sizes[label];
  const outside = words.df[i] - inside, rest = words.n_docs - size;
  return { inside, size, outside, rest, y: size ? inside / size : 0, x: rest ? outside / rest : 0 };
}

function colorOf(label) {
  if (state.view) return pageData.palette[0];
  const place = pageData.colored.indexOf(label);
  return place < 0 ? OTHER : pageData.palette[place];
}

// A score in words; by the name that commands understand where it has none
function titleOf(score) {
  return pageData.score_titles[words.scores[score]] ?? words.scores[score];
}

function found(i) {
  return state.query !== "" && words.terms[i].toLowerCase().includes(state.query);
}

function points() {
  const { terms, ranks } = words.views[state.view];
  return terms.map((i, at) => {
    const label = labelOf(i), rates = ratesOf(i, label), rank = ranks[state.score][at];
    const first = rank <= state.k, ring = found(i) || i === state.chosen;
    return {
      i, rankNumber: rank, x: rates.x, y: rates.y, first, ring, label: "",
      color: first ? colorOf(label) : OTHER,
      opacity: first ? 0.9 : 0.22, size: first ? 52 : 22,
      term: words.terms[i],
      inside: `${percent(rates.y)} of ${words.classes[label]} (${grouped(rates.inside)} of ${grouped(rates.size)})`,
      outside: `${percent(rates.x)} (${grouped(rates.outside)} of ${grouped(rates.rest)})`,
      rank: `${grouped(rank)} by ${titleOf(state.score)}`,
    };
  }).sort((a, b) => a.first - b.first || b.rankNumber - a.rankNumber);
}

// Terms of the same counts lie on one another: spread them on a small spiral around their place
function spread(rows, x, y) {
  const taken = new Map();
  for (const row of [...rows].reverse()) {
    const key = `${row.x} ${row.y}`, n = taken.get(key) || 0;
    taken.set(key, n + 1);
    row.px = x(row.x) + 2.6 * Math.sqrt(n) * Math.cos(2.4 * n);
    row.py = y(row.y) + 2.6 * Math.sqrt(n) * Math.sin(2.4 * n);
    row.x = Math.max(x.invert(row.px), 0);
    row.y = Math.max(y.invert(row.py), 0);
  }
}

// Names beside the best points, as far as they do not cover one another
function name(rows, width) {
  const boxes = [];
  const wanted = rows.filter((row) => row.ring || row.first).sort((a, b) => b.ring - a.ring || a.rankNumber - b.rankNumber);
  const others = rows.filter((row) => !row.ring && !row.first).sort((a, b) => a.rankNumber - b.rankNumber);
  for (const row of [...wanted, ...others].slice(0, 400)) {
    const text = row.term.length > 22 ? row.term.slice(0, 21) + "…" : row.term;
    const box = { left: row.px, right: row.px + 12 + 6.7 * text.length, top: row.py - 8, bottom: row.py + 8 };
    const free = boxes.every((b) => box.right < b.left || box.left > b.right || box.bottom < b.top || box.top > b.bottom);
    if (!free || box.right > width + 4) continue;
    boxes.push(box);
    row.label = "\u2068" + text + "\u2069";
    if (boxes.length >= (width < 420 ? 24 : 90)) break;
  }
}

function drawMap() {
  const view = views.map;
  if (!view) return;
  const rows = points();
  spread(rows, view.scale("x"), view.scale("y"));
  name(rows, view.width());
  view.data("points", rows).run();
}

function termButton(i) {
  const button = element("button", null, { type: "button", "data-term": i });
  button.append(element("bdi", words.terms[i]));
  if (i === state.chosen) button.setAttribute("aria-current", "true");
  const item = element("li");
  item.append(button);
  return item;
}

function inRankOrder() {
  const { terms, ranks } = words.views[state.view];
  return terms.map((i, at) => [ranks[state.score][at], i]).sort((a, b) => a[0] - b[0]);
}

function listFirst() {
  const scope = state.view ? `for ${words.classes[state.view - 1]}` : "over all classes";
  byId("first-h").textContent = `The first terms by ${titleOf(state.score)}, ${scope}`;
  byId("first").replaceChildren(...inRankOrder().slice(0, 30).map(([, i]) => termButton(i)));
}

// The whole vocabulary, decoded when something is first looked for
let wholeVocabulary = null;
function decodeIndex() {
  if (wholeVocabulary) return wholeVocabulary;
  wholeVocabulary = [];
  let before = "";
  for (const row of pageData.index.text.split("\n")) {
    if (!row) continue;
    const [rest, documents] = row.slice(1).split("\t");
    before = [...before].slice(0, parseInt(row[0], 16)).join("") + rest;
    wholeVocabulary.push([before, Number(documents)]);
  }
  return wholeVocabulary;
}

function describeUndrawn() {
  const drawn = new Set(words.terms);
  const matches = decodeIndex().filter(([term]) => term.toLowerCase().includes(state.query) && !drawn.has(term));
  const exact = matches.filter(([term]) => term.toLowerCase() === state.query);
  matches.sort((a, b) => b[1] - a[1]);
  const shown = (exact.length ? exact : matches).slice(0, 8).map(([term, n]) => `${term} (${grouped(n)})`);
  const partly = pageData.index.terms < pageData.index.all
    ? ` Of ${grouped(pageData.index.all)} terms, the ${grouped(pageData.index.terms)} most frequent can be found.` : "";
  if (!matches.length) return ` No other term of the corpus has it.${partly}`;
  return ` ${grouped(matches.length)} more are in the corpus but not drawn: ${shown.join(", ")}` +
    `${matches.length > shown.length ? ", …" : ""} (documents in brackets).${partly}`;
}

function listMatches() {
  const shown = words.terms.map((_, i) => i).filter(found);
  const place = (i) => words.terms[i].toLowerCase().indexOf(state.query);
  shown.sort((a, b) => (place(a) > 0) - (place(b) > 0) || words.terms[a].length - words.terms[b].length || a - b);
  byId("matches").replaceChildren(...(state.query ? shown.slice(0, 20).map(termButton) : []));
  const isWhole = words.terms.length === words.n_terms;
  const all = `${isWhole ? "all" : `${grouped(words.terms.length)} of`} ${grouped(words.n_terms)} terms are drawn`;
  byId("said").textContent = state.query ? `${grouped(shown.length)} found; ${all}.${describeUndrawn()}`
    : `${all[0].toUpperCase()}${all.slice(1)}${isWhole ? "" : "; all can be looked for"}.`;
}

function listColors() {
  const items = state.view
    ? [[pageData.palette[0], `first ${state.k} by ${titleOf(state.score)}`], [OTHER, "other terms"]]
    : [...pageData.colored.map((label, place) => [pageData.palette[place], words.classes[label]]),
       [OTHER, words.classes.length > pageData.colored.length ? "other classes, other terms" : "other terms"]];
  byId("legend").replaceChildren(...items.map(([color, text]) => {
    const item = element("li"), dot = element("i");
    dot.style.background = color;
    if (color === OTHER) dot.style.opacity = 0.3;
    item.append(dot, element("bdi", text));
    return item;
  }));
}

function classTable(i) {
  const labels = words.cells[i].filter((_, at) => at % 2 === 0);
  const rows = labels.map((label) => ({ label, ...ratesOf(i, label) })).sort((a, b) => b.y - a.y);
  const table = element("table"), widest = Math.max(...rows.map((row) => row.y));
  const body = table.createTBody();
  for (const row of rows.slice(0, 6)) {
    const line = body.insertRow();
    line.append(element("td"), element("td", percent(row.y), { class: "number" }), element("td", null, { class: "gauge" }));
    line.cells[0].append(element("bdi", words.classes[row.label]));
    const bar = element("div", null, { class: "bar" });
    bar.style.width = 100 * row.y / widest + "%";
    line.cells[2].append(bar);
    line.title = `${grouped(row.inside)} of ${grouped(row.size)} documents`;
  }
  return table;
}

function rankLine(i) {
  const { terms, ranks } = words.views[state.view];
  const at = terms.indexOf(i);
  if (at < 0) return element("p", "Not among the terms of this view.", { class: "muted" });
  return element("p", words.scores.map((_, s) => `${titleOf(s)} ${grouped(ranks[s][at])}`).join(" · "));
}

function excerptsOf(i) {
  return (words.excerpts[i] || []).map(([label, before, match, after]) => {
    const quote = element("blockquote"), text = element("bdi");
    text.append(before, element("mark", match), after);
    quote.append(text, " ", element("span", label, { class: "muted" }));
    return quote;
  });
}

function describe() {
  const panel = byId("term"), i = state.chosen;
  if (i === null) {
    panel.replaceChildren(element("p", "Choose a term, on the map or in a list, to see where it stands.", { class: "muted" }));
    return;
  }
  const heading = element("h3");
  heading.append(element("bdi", words.terms[i]));
  const parts = [heading, element("p", `in ${grouped(words.df[i])} of ${grouped(words.n_docs)} documents`, { class: "muted" })];
  parts.push(element("h4", "Documents of each class that have it"), classTable(i));
  const where = state.view ? ` for ${words.classes[state.view - 1]}` : "";
  parts.push(element("h4", `Ranks${where}`), rankLine(i));
  const quotes = excerptsOf(i);
  if (quotes.length) parts.push(element("h4", "From the documents"), ...quotes);
  panel.replaceChildren(...parts);
}

function choose(i) {
  state.chosen = i;
  refresh();
}

function refresh() {
  listColors();
  listFirst();
  listMatches();
  describe();
  drawMap();
}

function options(select, names, chosen) {
  select.replaceChildren(...names.map((text, value) => element("option", text, { value })));
  select.value = chosen;
}

function startMap() {
  const ks = [10, 20, 50, 100, 200, 500].filter((k, at) => !at || k <= words.views[0].terms.length);
  state.k = ks.includes(50) ? 50 : ks[ks.length - 1];
  state.score = Math.max(words.scores.indexOf(pageData.chosen_score), 0);
  options(byId("map-class"), ["all: each term at its own class", ...words.classes], 0);
  options(byId("map-score"), words.scores.map((_, s) => titleOf(s)), state.score);
  options(byId("map-k"), ks.map((k) => `first ${k} terms`), ks.indexOf(state.k));
  byId("map-class").addEventListener("change", (event) => { state.view = Number(event.target.value); refresh(); });
  byId("map-score").addEventListener("change", (event) => { state.score = Number(event.target.value); refresh(); });
  byId("map-k").addEventListener("change", (event) => { state.k = ks[event.target.value]; refresh(); });
  byId("search").addEventListener("input", (event) => { state.query = event.target.value.trim().toLowerCase(); refresh(); });
  byId("search").addEventListener("keydown", (event) => {
    const first = byId("matches").querySelector("button");
    if (event.key === "Enter" && first) choose(Number(first.dataset.term));
  });
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-term]");
    if (!button) return;
    choose(Number(button.dataset.term));
    if (button.classList.contains("term")) byId("vocabulary").scrollIntoView();
  });
  const best = inRankOrder()[0];
  state.chosen = best ? best[1] : null;
  refresh();
}

if (words) startMap();
const ready = Promise.all([...document.querySelectorAll("[data-chart]")].map(draw)).then(() => {
  if (views.map) {
    views.map.addEventListener("click", (_, item) => { if (item && item.datum && item.datum.i !== undefined) choose(item.datum.i); });
    views.map.addResizeListener(drawMap);
    drawMap();
  }
  document.documentElement.dataset.ready = "true";
});
