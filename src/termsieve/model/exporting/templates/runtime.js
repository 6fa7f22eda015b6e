// Label texts with an exported model: an ES module without dependencies, for Node and browsers.

function decodeRanges(text) {
  const distances = text.split(" ").map((one) => parseInt(one, 36));
  const ranges = [];
  let end = 0;
  for (let i = 0; i + 1 < distances.length; i += 2) {
    const first = end + distances[i];
    end = first + distances[i + 1];
    ranges.push([first, end - 1]);
  }
  return ranges;
}

function characterClass(ranges) {
  return ranges.map(([first, last]) => `\\u{${first.toString(16)}}-\\u{${last.toString(16)}}`).join("");
}

// the compact form, read from its start
class Bytes {
  constructor(text) {
    this.content = Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
    this.place = 0;
  }

  take(n) {
    if (this.place + n > this.content.length) throw new Error("the model is cut off");
    this.place += n;
    return this.content.subarray(this.place - n, this.place);
  }

  number() {
    for (let number = 0, scale = 1; ; scale *= 128) {
      const byte = this.take(1)[0];
      number += (byte & 127) * scale;
      if (byte < 128) return number;
    }
  }

  string() {
    return new TextDecoder().decode(this.take(this.number()));
  }

  frontCoded() {
    let before = new Uint8Array();
    return Array.from({ length: this.number() }, () => {
      const byte = this.take(1)[0];
      const [shared, rest] = [byte >> 4, byte & 15].map((n) => (n === 15 ? n + this.number() : n));
      before = Uint8Array.of(...before.subarray(0, shared), ...this.take(rest));
      return new TextDecoder().decode(before);
    });
  }

  floats(n) {
    const bytes = this.take(4 * n);
    const view = new DataView(bytes.buffer, bytes.byteOffset, 4 * n);
    return Array.from({ length: n }, (_, i) => view.getFloat32(4 * i, true));
  }

  codes(n, bits) {
    const bytes = this.take(Math.ceil((n * bits) / 8));
    const bit = (place) => (bytes[place >> 3] >> (place & 7)) & 1;
    return Array.from({ length: n }, (_, i) => {
      let code = 0;
      for (let b = bits - 1; b >= 0; b--) code = 2 * code + bit(i * bits + b);
      return code;
    });
  }
}

// the model of a compact form in base64; tables of characters, which the form does not have, are given
export function unpack(text, tables) {
  const data = new Bytes(text);
  if (String(data.take(3)) !== "84,83,1") throw new Error("not a compact model of version 1");
  const [flags, kinds] = data.take(2);
  const [least, low, high, bits] = [0, 0, 0, 0].map(() => data.number());
  const [unicode] = [data.string(), data.string()];
  const classes = Array.from({ length: data.number() }, () => data.string());
  const stopWords = data.frontCoded();
  const terms = data.frontCoded();
  const single = (flags & 1) > 0;
  const n = single && classes.length === 2 ? 1 : classes.length;
  const steps = data.floats(n);
  const factorStep = kinds & 64 ? data.floats(1)[0] : null;
  const constants = data.floats(n);
  const prior = data.floats(classes.length);
  const thresholds = flags & 8 ? data.floats(classes.length) : null;
  const curves = ((kinds >> 4) & 3) === 2 ? constants.map(() => data.floats(2)) : null;
  const codes = data.codes((n + (factorStep === null ? 0 : 1)) * terms.length, bits);
  const factors = factorStep === null ? null : codes.splice(0, terms.length).map((code) => code * factorStep);
  const half = 2 ** (bits - 1) - 1;
  const weights = steps.map((step) => codes.splice(0, terms.length).map((code) => (code - half) * step));
  return {
    classes, single, terms, weights, constants, prior, thresholds, curves, term_weights: factors,
    analyzer: {
      kind: ["word", "char", "char_wb"][kinds & 3], lowercase: (flags & 2) > 0, least, ngrams: [low, high],
      stop_words: stopWords, unicode, ...tables,
    },
    cosine: (flags & 4) > 0, always_label: (flags & 16) > 0, occurrences: ["count", "binary", "log"][(kinds >> 2) & 3],
    probabilities: [null, "softmax", "sigmoid"][(kinds >> 4) & 3],
  };
}

// Python's white space, which is not JavaScript's
const SPACE = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";

class Analyzer {
  constructor(settings) {
    this.settings = settings;
    this.stopWords = new Set(settings.stop_words);
    this.word = new RegExp(`[${characterClass(decodeRanges(settings.word_characters))}]{${settings.least},}`, "gu");
    // characters that were not there yet when the model was made have no lower case
    this.unknown = new RegExp(`([^${characterClass(decodeRanges(settings.known_characters))}]+)`, "u");
    // whether a sigma ends a word depends on what its neighbours were then
    [this.cased, this.ignored] = [settings.cased_characters, settings.ignored_characters].map(
      (ranges) => new RegExp(`[${characterClass(decodeRanges(ranges))}]`, "u"));
    this.spaces = new RegExp(`[${SPACE}][${SPACE}]+`, "gu");
    this.parts = new RegExp(`[^${SPACE}]+`, "gu");
  }

  lower(text) {
    return (text.includes("\u03a3") ? this.lowerSigmas(text) : text).split(this.unknown).map((part, i) => (i % 2 ? part : part.toLowerCase())).join("");
  }

  // small sigmas for capital ones: another one where a word ends
  lowerSigmas(text) {
    const characters = [...text];
    const before = this.followCased(characters);
    const after = this.followCased(characters.slice().reverse()).reverse();
    return characters.map((one, i) => (one !== "\u03a3" ? one : before[i] && !after[i] ? "\u03c2" : "\u03c3")).join("");
  }

  // of each character whether the one before it, without those that are ignored, is cased
  followCased(characters) {
    let cased = false;
    return characters.map((one) => {
      const found = cased;
      if (!this.ignored.test(one)) cased = this.cased.test(one);
      return found;
    });
  }

  analyze(given) {
    const text = this.settings.lowercase ? this.lower(given) : given;
    const [low, high] = this.settings.ngrams;
    if (this.settings.kind === "char") return characterNgrams([...text.replace(this.spaces, " ")], low, high);
    if (this.settings.kind === "char_wb") {
      return (text.match(this.parts) || []).flatMap((word) => innerNgrams([" ", ...word, " "], low, high));
    }
    const words = (text.match(this.word) || []).filter((word) => !this.stopWords.has(word));
    const terms = [];
    for (let n = low; n <= high; n++) {
      for (let i = 0; i + n <= words.length; i++) terms.push(n === 1 ? words[i] : words.slice(i, i + n).join(" "));
    }
    return terms;
  }
}

function characterNgrams(characters, low, high) {
  const terms = [];
  for (let n = low; n <= Math.min(high, characters.length); n++) {
    for (let i = 0; i + n <= characters.length; i++) terms.push(characters.slice(i, i + n).join(""));
  }
  return terms;
}

function innerNgrams(characters, low, high) {
  const terms = [];
  for (let n = low; n <= high; n++) {
    for (let i = 0; i < Math.max(characters.length - n + 1, 1); i++) terms.push(characters.slice(i, i + n).join(""));
    if (n >= characters.length) break; // a short word counts once
  }
  return terms;
}

function firstBest(values) {
  let best = 0;
  for (let i = 1; i < values.length; i++) if (values[i] > values[best]) best = i;
  return best;
}

function sigmoid(x) {
  if (x >= 0) return 1 / (1 + Math.exp(-x));
  const power = Math.exp(x);
  return power / (1 + power);
}

function softmax(scores) {
  const best = Math.max(...scores);
  const powers = scores.map((score) => Math.exp(score - best));
  const total = powers.reduce((sum, power) => sum + power, 0);
  return powers.map((power) => power / total);
}

function againstTheRest(scores) {
  const top = firstBest(scores);
  const best = scores[top];
  const shares = scores.map((score, c) => (c === top ? 0 : Math.exp(score - best)));
  const rest = shares.reduce((sum, share) => sum + share, 0);
  const odds = scores.map((score, c) => score - best - Math.log(1 + rest - shares[c]));
  const others = scores.filter((_, c) => c !== top);
  const next = Math.max(...others);
  odds[top] = best - next - Math.log(others.reduce((sum, score) => sum + Math.exp(score - next), 0));
  return odds;
}

function interpolate(x, xs, ys) {
  const last = xs.length - 1;
  if (x <= xs[0]) return ys[0];
  if (x >= xs[last]) return ys[last];
  let low = 0;
  let high = last;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (xs[middle] <= x) low = middle;
    else high = middle;
  }
  return ys[low] + ((ys[high] - ys[low]) / (xs[high] - xs[low])) * (x - xs[low]);
}

export class Predictor {
  constructor(model) {
    this.model = model;
    this.analyzer = new Analyzer(model.analyzer);
    this.columns = new Map(model.terms.map((term, column) => [term, column]));
  }

  // the label (or labels), its probability, those of all classes, and the terms that decided
  predict(text, n = 10) {
    const values = this.toValues(text);
    const known = values.length > 0;
    const scores = this.findScores(values);
    const chances = this.findProbabilities(scores, known);
    const labels = this.findLabels(scores, chances, known);
    const names = labels.map((c) => this.model.classes[c]);
    const found = { known, terms: this.explain(values, this.model.curves === null ? scores : chances, labels, n) };
    if (chances) found.probabilities = Object.fromEntries(this.model.classes.map((name, c) => [name, chances[c]]));
    if (this.model.single) return { label: names[0], probability: chances && chances[labels[0]], ...found };
    return { labels: names, probability: chances && labels.map((c) => chances[c]), ...found };
  }

  // pairs of column and weighted value
  toValues(text) {
    const counts = new Map();
    for (const term of this.analyzer.analyze(text)) {
      const column = this.columns.get(term);
      if (column !== undefined) counts.set(column, (counts.get(column) || 0) + 1);
    }
    const kind = this.model.occurrences;
    const idf = this.model.term_weights;
    const values = [...counts].sort((a, b) => a[0] - b[0]).map(([column, times]) => {
      const value = kind === "binary" ? 1 : kind === "log" ? 1 + Math.log(times) : times;
      return [column, idf === null ? value : value * idf[column]];
    });
    if (!this.model.cosine) return values;
    const length = Math.sqrt(values.reduce((sum, [, value]) => sum + value * value, 0));
    return length > 0 ? values.map(([column, value]) => [column, value / length]) : values;
  }

  findScores(values) {
    return this.model.weights.map((row, problem) =>
      values.reduce((sum, [column, value]) => sum + row[column] * value, this.model.constants[problem]));
  }

  findProbabilities(scores, known) {
    const kind = this.model.probabilities;
    if (kind === null) return null;
    if (!known) return [...this.model.prior];
    if (!this.model.single) return scores.map((score, c) => this.calibrate(score, c));
    if (scores.length === 1) {
      const chance = this.calibrate(scores[0], 0);
      return [1 - chance, chance];
    }
    if (kind === "softmax") return softmax(scores);
    const chances = againstTheRest(scores).map((score, c) => this.calibrate(score, c));
    const total = chances.reduce((sum, chance) => sum + chance, 0);
    return chances.map((chance) => (total > 0 ? chance / total : 1 / chances.length));
  }

  calibrate(score, problem) {
    const kind = this.model.probabilities;
    if (kind === "softmax") return sigmoid(score);
    const [first, second] = this.model.curves[problem];
    return kind === "sigmoid" ? sigmoid(first * score + second) : interpolate(score, first, second);
  }

  findLabels(scores, chances, known) {
    const { single, prior, thresholds } = this.model;
    if (single) {
      if (!known) return [firstBest(prior)];
      if (chances) return [firstBest(chances)];
      return scores.length === 1 ? [scores[0] > 0 ? 1 : 0] : [firstBest(scores)];
    }
    const all = this.model.classes.map((_, c) => c);
    if (thresholds === null) return all.filter((c) => (known ? scores[c] > 0 : prior[c] > 0.5));
    const shares = chances || prior;
    const labels = all.filter((c) => shares[c] > thresholds[c]);
    if (labels.length || !known || !this.model.always_label) return labels;
    return [firstBest(all.map((c) => shares[c] / thresholds[c]))];
  }

  // the terms with the largest parts in the decision between the first label and the next best class
  explain(values, rivals, labels, n) {
    if (!labels.length) return [];
    const label = labels[0];
    const { weights, terms, single } = this.model;
    let part;
    if (weights.length === 1) part = (column) => (label === 1 ? 1 : -1) * weights[0][column];
    else if (!single) part = (column) => weights[label][column];
    else {
      const other = firstBest(rivals.map((score, c) => (c === label ? -Infinity : score)));
      part = (column) => weights[label][column] - weights[other][column];
    }
    const parts = values.map(([column, value]) => [terms[column], part(column) * value]);
    return parts.sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]) || (a[0] < b[0] ? -1 : 1)).slice(0, n);
  }
}
