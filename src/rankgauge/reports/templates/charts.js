const dark = () => {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
};

/** Put what was chosen into a specification, as the Python side does for files. */
function fill(value, known) {
  if (Array.isArray(value)) return value.map((entry) => fill(entry, known));
  if (value !== null && typeof value === "object") {
    return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, fill(entry, known)]));
  }
  if (typeof value !== "string") return value;
  const whole = /^\{(\w+)\}$/.exec(value);
  return whole && Object.hasOwn(known, whole[1]) ? known[whole[1]] : put(value, known);
}

// Vega-Lite puts titles into expressions and does not escape a backslash there.
const safe = (name) => name.replaceAll("\\", "∖");

/** A name above a plot; its letters are bold. */
const headed = (name, width) => broken(safe(name), 0.85 * (width - 62)).join("\n");

function chosen(chart, width) {
  const measure = DATA.measures[choice.measure];
  const known = { measure: safe(measure.name), lo: measure.lo, hi: measure.hi, sign: measure.sign, systems: DATA.systems.map((name) => (chart === "distribution" ? headed(name, width) : safe(name))), colors: DATA.colors };
  const both = pair();
  return both ? { ...known, a: safe(DATA.systems[both[0]]), b: safe(DATA.systems[both[1]]) } : known;
}

const pairRows = () => {
  const [a, b] = pair().map(scores);
  const rows = [];
  DATA.queries.forEach((query, i) => {
    if (a[i] !== null && b[i] !== null) rows.push({ query, text: DATA.texts[i] ?? "", a: a[i], b: b[i] });
  });
  return rows;
};

const ROWS = {
  scatter: pairRows,
  differences: pairRows,
  distribution: (width) => DATA.systems.flatMap((system, s) => scores(s).filter((v) => v !== null).map((v) => ({ system: headed(system, width), v }))),
  slices: () => {
    const measure = DATA.measures[choice.measure].name;
    const [a, b] = pair().map((system) => DATA.systems[system]);
    return DATA.charts.slices.rows.filter((row) => row.measure === measure && row.a === a && row.b === b);
  },
};

/** Specification and data of one figure, or null where there is nothing to draw. */
function content(figure, width) {
  const { chart, index } = figure.dataset;
  const entry = index === undefined ? DATA.charts[chart] : DATA.charts[chart][Number(index)];
  if (ROWS[chart]) return { spec: fill(entry.spec, chosen(chart, width)), rows: ROWS[chart](width) };
  const other = entry.measure && DATA.scores.length && entry.measure !== DATA.measures[choice.measure].name;
  return other ? null : { spec: structuredClone(entry.spec), rows: entry.rows };
}

const ruler = document.createElement("canvas").getContext("2d");
/** Pixels that a text takes at the size of labels. */
const wide = (text) => {
  ruler.font = `12px ${DATA.themes.light.font}`;
  return ruler.measureText(text).width;
};
const BREAK = /(?<=[\s\-_/·:，、（])(?=\S)|(?<=[\u3000-\u9fff\uff00-\uffef])(?=[\u3000-\u9fff])/;

const LINES = 4; // a name that takes more is cut

/** A text in lines of so many pixels at most, as `chart_fitting.broken` does it for files. */
function broken(text, most) {
  if (wide(text) <= most) return [text];
  const lines = [""];
  for (const whole of text.split(BREAK)) {
    const step = Math.max(1, Math.floor((whole.length * most) / (wide(whole) || 1)));
    const pieces = wide(whole) > most ? whole.match(new RegExp(`.{1,${step}}`, "gsu")) : [whole];
    for (const piece of pieces) {
      if (lines.at(-1) && wide(lines.at(-1).trimEnd() + piece.trimEnd()) > most) lines.push("");
      lines[lines.length - 1] += piece;
    }
  }
  const shown = lines.slice(0, LINES).map((line) => line.trimEnd());
  return lines.length > LINES ? [...shown.slice(0, -1), `${shown.at(-1).slice(0, -1)}…`] : shown;
}

/** A legend in as many columns as there is room for, its longest names in lines. */
function legend({ scale, legend: given, ...rest }, width) {
  const room = width - 36;
  const longest = Math.max(...scale.domain.map(wide));
  const columns = Math.max(1, Math.min(given.columns, Math.floor(width / (longest + 36))));
  if (longest <= room) return { ...rest, scale, legend: { ...given, columns } };
  const labelExpr = `${JSON.stringify(scale.domain.map((name) => broken(name, room)))}[datum.index]`;
  return { ...rest, scale, legend: { ...given, columns, labelExpr, rowPadding: 8 } };
}

/** Titles and legends in as many lines as they take: nothing is cut. `plot` is the width without labels. */
function cut(spec, plot, height) {
  const room = { x: plot, y: height };
  return JSON.parse(JSON.stringify(spec), (key, value) => {
    if (key === "color" && value?.legend?.columns) return legend(value, plot);
    if ((key === "x" || key === "y") && typeof value?.title === "string") {
      const lines = broken(value.title, room[key]);
      return { ...value, title: lines.length > 1 ? lines : lines[0] };
    }
    return value;
  });
}

/** Labels beside a plot take two fifths of the width at most; each name of a pair has its own lines. */
function labelled(rows, width) {
  const most = Math.min(300, 0.4 * width);
  return rows.map((row) => {
    const names = wide(row.label) > most ? row.label.replace(" − ", " −\n").split("\n") : [row.label];
    return { ...row, label: names.flatMap((name) => broken(name, most)).join("\n") };
  });
}

const LEFT = 74; // labels and title left of a square

function fitted(spec, rows, width, square) {
  const made = { ...spec, data: { name: "rows", values: rows } };
  if (spec.facet) return { ...made, spec: { ...spec.spec, width: width - 62 } };
  if (square) {
    return { ...made, width: square, height: square, autosize: { type: "pad", contains: "padding" } };
  }
  const lines = spec.height.step ? Math.max(...rows.map((row) => row.label.split("\n").length)) : 1;
  const height = spec.height.step ? Math.max(spec.height.step, 14 * lines + 12) * rows.length : spec.height;
  return { ...made, width, height, autosize: { type: "fit-x", contains: "padding" } };
}

const views = new WeakMap();

async function draw(figure) {
  figure.hidden = false; // to have a width
  const width = Math.floor(figure.clientWidth);
  const found = content(figure, width);
  figure.hidden = found === null;
  if (found === null) return;
  const turn = (figure.turn = (figure.turn ?? 0) + 1);
  views.get(figure)?.finalize();
  views.delete(figure);
  const { spec } = found;
  let { rows } = found;
  if (!rows.length) {
    figure.replaceChildren(element("p", { class: "hint" }, figure.dataset.chart === "slices" ? WORDS.no_slices : WORDS.none));
    figure.style.minHeight = "0";
    return;
  }
  const mode = dark() ? "dark" : "light";
  const theme = DATA.themes[mode];
  const config = { ...theme, axisX: { ...theme.axisX, titleLimit: width } };
  const square = figure.dataset.chart === "scatter";
  let plot = width - LEFT;
  if (square) {
    const lines = broken(spec.layer[1].encoding.y.title, Math.min(spec.width, plot)).length;
    plot = Math.min(spec.width, plot - 15 * (lines - 1));
  }
  if (spec.height?.step) {
    rows = labelled(rows, width);
    plot = width - 20 - Math.max(...rows.flatMap((row) => row.label.split("\n").map(wide)));
  }
  const ready = fitted(cut(spec, plot, square ? plot : spec.height), rows, width, square ? plot : 0);
  const many = rows.length > 1500 && square;
  const options = {
    mode: "vega-lite", actions: false, logLevel: 1, renderer: many ? "canvas" : "svg", config,
    tooltip: { theme: mode }, loader: { load: () => Promise.reject(new Error("offline")) },
  };
  try {
    const result = await window.vegaEmbed(figure, ready, options);
    if (figure.turn !== turn) return result.finalize();
    views.set(figure, result);
    figure.style.minHeight = `${figure.firstElementChild?.clientHeight ?? 0}px`;
    figure.dataset.drawn = mode;
  } catch (error) {
    figure.replaceChildren(element("p", { class: "callout" }, put(WORDS.chart_fails, { reason: error.message })));
  }
}

const figures = () => [...document.querySelectorAll("figure[data-chart]")];
const byChoice = (figure) => ROWS[figure.dataset.chart] !== undefined || ["comparison", "calls"].includes(figure.dataset.chart);

/** Draw one after the other and let the page breathe in between; a newer wish ends an older one. */
let wish = 0;
async function drawAll(wanted = figures()) {
  const mine = ++wish;
  for (const figure of wanted) {
    if (mine !== wish) return;
    await draw(figure);
    await new Promise((go) => setTimeout(go));
  }
  if (mine === wish) document.documentElement.dataset.charts = "drawn";
}
