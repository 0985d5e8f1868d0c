/** Choose a measure and a pair as the selects do. */
function choose(wanted) {
  for (const [key, value] of Object.entries(wanted)) {
    if (value < 0) continue;
    choice[key] = value;
    document.querySelectorAll(`select[data-choice="${key}"]`).forEach((select) => { select.value = String(value); });
  }
  changed();
}

const placeOf = (names, name) => names.findIndex((known) => known === name || safe(known) === name);
const pairOf = (a, b) => DATA.pairs.findIndex(([x, y]) => x === a && y === b);

/** To the list of queries, in the order that matters: what a pair lost or gained most, or what a system finds hardest. */
function leadToList({ measure = -1, system = -1, pairNumber = -1, only = null, words = "" }) {
  $("search").value = words;
  if ($("side")) $("side").value = "";
  table.only = only;
  choose({ measure, pair: pairNumber });
  if (pairNumber >= 0) {
    const all = DATA.queries.map((_, i) => difference(i)).filter((value) => value !== null);
    Object.assign(table, { sort: "d", down: all.reduce((sum, value) => sum + value, 0) > 0 });
  } else if (system >= 0) Object.assign(table, { sort: `s${system}`, down: DATA.measures[choice.measure].sign < 0 });
  search();
  $("all").scrollIntoView();
  (document.querySelector("#table tbody button") ?? $("search")).focus({ preventScroll: true });
}

/** What a row of a table is about. */
function leadTo([measure, system, both, query]) {
  const names = DATA.measures.map((known) => known.name);
  const numbers = both ? both.map((name) => placeOf(DATA.systems, name)) : null;
  const wanted = { measure: placeOf(names, measure), system: placeOf(DATA.systems, system), pairNumber: numbers ? pairOf(...numbers) : -1 };
  if (!query) return leadToList(wanted);
  choose({ measure: wanted.measure, pair: wanted.pairNumber });
  openQuery(DATA.queries.indexOf(query));
}

/** What a point of a chart is about: one query, several of the same scores, a pair, a tag or a system. */
function pointed(chart, datum) {
  if (!DATA.scores.length) return;
  if (chart === "scatter" && datum.x !== undefined) {
    const [a, b] = pair().map(scores);
    const near = (x, y) => x !== null && Math.abs(x - y) < 0.00051;
    const there = [...DATA.queries.keys()].filter((i) => near(a[i], datum.x) && near(b[i], datum.y));
    if (there.length > 1) leadToList({ only: there });
    else if (there.length) openQuery(there[0]);
  } else if (chart === "differences" && datum.query !== undefined) {
    openQuery(DATA.queries.indexOf(datum.query));
  } else if (datum.a !== undefined && datum.b !== undefined && datum.measure !== undefined) {
    const words = chart === "slices" ? String(datum.label).replace(/ \(\d+\)$/, "") : "";
    const both = [datum.a, datum.b].map((name) => placeOf(DATA.systems, name));
    leadToList({ measure: placeOf(DATA.measures.map((known) => known.name), datum.measure), pairNumber: pairOf(...both), words });
  } else if (datum.system !== undefined) {
    const measure = datum.measure === undefined ? -1 : placeOf(DATA.measures.map((known) => known.name), datum.measure);
    leadToList({ measure, system: placeOf(DATA.systems, datum.system) });
  }
}

function startLeading() {
  document.addEventListener("click", (event) => {
    const link = event.target.closest("[data-leads]") ?? event.target.closest("tr.leads")?.querySelector("[data-leads]");
    if (!link || String(getSelection())) return;
    event.preventDefault();
    leadTo(JSON.parse(link.dataset.leads));
  });
}
