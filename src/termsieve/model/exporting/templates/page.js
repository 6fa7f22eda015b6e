const box = document.getElementById("text");
const answer = document.getElementById("answer");
const bars = document.getElementById("bars");
const shown = document.getElementById("shown");

function percent(share) {
  return share > 0.999 && share < 1 ? "> 99.9 %" : share > 0 && share < 0.001 ? "< 0.1 %" : `${(100 * share).toFixed(1)} %`;
}

function drawBars(chances) {
  bars.replaceChildren();
  const best = Object.entries(chances || {}).sort((a, b) => b[1] - a[1]).slice(0, 8);
  for (const [name, chance] of best) {
    const row = document.createElement("div");
    const label = document.createElement("bdi");
    label.textContent = name;
    const bar = document.createElement("i");
    bar.style.width = `${100 * chance}%`;
    const value = document.createElement("span");
    value.textContent = percent(chance);
    row.append(label, bar, value);
    bars.append(row);
  }
}

// each word of the text, marked by the parts of the terms that it belongs to
function drawText(text, terms) {
  const parts = new Map();
  for (const [term, part] of terms) for (const word of term.split(" ")) parts.set(word, (parts.get(word) || 0) + part);
  shown.replaceChildren();
  const word = predictor.analyzer.word;
  let end = 0;
  for (const match of text.matchAll(word)) {
    const part = parts.get(predictor.model.analyzer.lowercase ? match[0].toLowerCase() : match[0]);
    shown.append(text.slice(end, match.index));
    const mark = document.createElement(part ? "mark" : "span");
    if (part) mark.className = part > 0 ? "for" : "against";
    mark.textContent = match[0];
    shown.append(mark);
    end = match.index + match[0].length;
  }
  shown.append(text.slice(end));
}

function show() {
  const text = box.value;
  if (!text.trim()) {
    answer.textContent = "";
    bars.replaceChildren();
    shown.replaceChildren();
    return;
  }
  const found = predictor.predict(text, 1000);
  const labels = predictor.model.single ? [found.label] : found.labels;
  const sure = predictor.model.single && found.probability !== null ? `, ${percent(found.probability)}` : "";
  answer.textContent = found.known
    ? `${labels.join(", ") || "no label"}${sure}`
    : `None of the terms is in this text; most frequent: ${labels.join(", ") || "no label"}`;
  drawBars(found.probabilities);
  drawText(text, found.terms);
}

box.addEventListener("input", show);
show();
document.documentElement.dataset.ready = "true";
