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

function chosen() {
  const measure = DATA.measures[choice.measure];
  const known = { measure: safe(measure.name), lo: measure.lo, hi: measure.hi, sign: measure.sign, systems: DATA.systems.map(safe), colors: DATA.colors };
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
  distribution: () => DATA.systems.flatMap((system, s) => scores(s).filter((v) => v !== null).map((v) => ({ system: safe(system), v }))),
  slices: () => {
    const measure = DATA.measures[choice.measure].name;
    const [a, b] = pair().map((system) => DATA.systems[system]);
    return DATA.charts.slices.rows.filter((row) => row.measure === measure && row.a === a && row.b === b);
  },
};

/** Specification and data of one figure, or null where there is nothing to draw. */
function content(figure) {
  const { chart, index } = figure.dataset;
  const entry = index === undefined ? DATA.charts[chart] : DATA.charts[chart][Number(index)];
  if (ROWS[chart]) return { spec: fill(entry.spec, chosen()), rows: ROWS[chart]() };
  const other = entry.measure && DATA.scores.length && entry.measure !== DATA.measures[choice.measure].name;
  return other ? null : { spec: structuredClone(entry.spec), rows: entry.rows };
}

/** Labels and legends inside a specification outrank its configuration, so they are cut to the width here. */
function cut(spec, rows, width, systems) {
  const pairs = width < 520 && rows[0].label?.includes(" − ");
  return JSON.parse(JSON.stringify(spec), (key, value) => {
    if (key === "columns") {
      const room = Math.floor(width / (systems ? 170 : value > 3 ? 150 : 100));
      return Math.max(1, Math.min(systems ? DATA.systems.length : value, room));
    }
    if (key === "axis" && value.labelLimit && pairs) { // a pair of names takes two lines
      const labelExpr = "split(replace(datum.label, ' − ', '\\n− '), '\\n')";
      return { ...value, labelExpr, labelLineHeight: 12, labelFontSize: 11, labelOffset: -6 };
    }
    return key === "labelLimit" && width < 520 ? Math.min(value, Math.floor(0.4 * width)) : value;
  });
}

function fitted(spec, rows, width) {
  const made = { ...spec, data: { name: "rows", values: rows } };
  if (spec.facet) return { ...made, spec: { ...spec.spec, width: width - 62 } };
  const height = spec.height.step ? spec.height.step * rows.length : spec.height;
  return { ...made, width, height, autosize: { type: "fit-x", contains: "padding" } };
}

const views = new WeakMap();

async function draw(figure) {
  const found = content(figure);
  figure.hidden = found === null;
  if (found === null) return;
  const turn = (figure.turn = (figure.turn ?? 0) + 1);
  views.get(figure)?.finalize();
  views.delete(figure);
  const { spec, rows } = found;
  if (!rows.length) {
    figure.replaceChildren(element("p", { class: "hint" }, figure.dataset.chart === "slices" ? WORDS.no_slices : WORDS.none));
    figure.style.minHeight = "0";
    return;
  }
  const width = Math.floor(figure.clientWidth);
  const mode = dark() ? "dark" : "light";
  const theme = DATA.themes[mode];
  const config = { ...theme, axisX: { ...theme.axisX, titleLimit: width < 520 ? 0.6 * width : width - 200 }, ...(width < 520 ? { legend: { ...theme.legend, labelLimit: 140 } } : {}) };
  const ready = fitted(cut(spec, rows, width, ["means", "calls"].includes(figure.dataset.chart)), rows, width);
  const many = rows.length > 1500 && figure.dataset.chart === "scatter";
  const options = {
    mode: "vega-lite", actions: false, logLevel: 1, renderer: many ? "canvas" : "svg", config,
    tooltip: { theme: mode }, loader: { load: () => Promise.reject(new Error("offline")) },
  };
  try {
    const result = await window.vegaEmbed(figure, ready, options);
    if (figure.turn !== turn) return result.finalize();
    views.set(figure, result);
    result.view.addEventListener("click", (_, item) => { if (item?.datum) pointed(figure.dataset.chart, item.datum); });
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
