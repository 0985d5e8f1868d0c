const SIZE = 25;
const table = { page: 0, sort: null, down: false, found: [], only: null }; // `only` are the queries of a chart's point
const plain = (text) => text.normalize("NFKC").toLowerCase();
const haystack = [];

/** Columns of the table: what a cell says, and what it is sorted by. */
function columns() {
  const texts = DATA.texts.length
    ? [{ key: "text", label: WORDS.text, value: (i) => DATA.texts[i], cell: (i) => element("td", { class: "text" }, DATA.texts[i]) }] : [];
  const tags = DATA.tags.length
    ? [{ key: "tags", label: WORDS.tags, value: (i) => DATA.tags[i].join(" "),
        cell: (i) => element("td", { class: "tags" }, ...DATA.tags[i].map((tag) => element("span", { class: "tag" }, tag))) }] : [];
  const { lo, hi } = DATA.measures[choice.measure];
  const start = Math.min(0, lo); // bars of all systems begin at the same score and have the same unit
  const number = (key, label, value, cell) => ({ key, label, value, cell, number: true });
  const systems = DATA.systems.map((name, s) => number(`s${s}`, name, (i) => scores(s)[i], (i) => {
    const value = scores(s)[i];
    const share = value === null ? 0 : Math.max(0, Math.min(1, (value - start) / (hi - start || 1)));
    return element("td", { class: "n", style: `--v: ${share.toFixed(4)}`, "data-head": name }, shown(value));
  }));
  const [a, b] = (pair() ?? []).map((system) => DATA.systems[system]);
  const gap = pair() ? [{ ...number("d", WORDS.difference, difference, (i) => {
    const value = difference(i);
    return element("td", { class: `n gap ${direction(value)}` }, signed(value));
  }), hint: `${b} − ${a}` }] : [];
  const query = { key: "q", label: WORDS.query, value: (i) => DATA.queries[i],
    cell: (i) => element("th", { scope: "row" }, element("button", { type: "button", class: "opens" }, DATA.queries[i])) };
  return [query, ...texts, ...gap, ...systems, ...tags];
}

const order = new Intl.Collator(document.documentElement.lang, { numeric: true });

function search() {
  if (!haystack.length) {
    DATA.queries.forEach((query, i) => haystack.push(plain([query, DATA.texts[i] ?? "", ...(DATA.tags[i] ?? [])].join("\n"))));
  }
  const wanted = plain($("search").value).split(/\s+/).filter(Boolean);
  const side = $("side")?.value;
  table.found = (table.only ?? [...DATA.queries.keys()]).filter((i) => wanted.every((word) => haystack[i].includes(word))
    && (!side || (difference(i) !== null && direction(difference(i)) === side)));
  const column = columns().find((entry) => entry.key === table.sort);
  if (column) {
    const values = new Map(table.found.map((i) => [i, column.value(i)]));
    const compare = column.number ? (x, y) => x - y : (x, y) => order.compare(x, y);
    table.found.sort((i, j) => {
      const [x, y] = [values.get(i), values.get(j)];
      if (x === null || y === null) return (x === null) - (y === null); // what was not counted comes last either way
      return (table.down ? -1 : 1) * compare(x, y) || i - j;
    });
  }
  table.page = 0;
  showTable();
}

function sortBy(column) {
  // Numbers start with the largest, texts with the first.
  if (table.sort === column.key) table.down = !table.down;
  else Object.assign(table, { sort: column.key, down: Boolean(column.number) });
  search();
  document.querySelector(`#table th[data-key="${column.key}"] button`).focus();
}

function showTable() {
  const all = columns();
  const head = all.map((column) => {
    const button = element("button", { type: "button", title: put(WORDS.sort, { column: column.label }) }, column.label);
    button.addEventListener("click", () => sortBy(column));
    const sort = table.sort !== column.key ? "none" : table.down ? "descending" : "ascending";
    return element("th", { scope: "col", class: column.number ? "n" : "", "aria-sort": sort, "data-key": column.key }, button,
      column.hint ? element("small", {}, column.hint) : null);
  });
  $("table").classList.toggle("cards", all.length > 3); // on a telephone
  $("table").tHead.replaceChildren(element("tr", {}, ...head));
  const pages = Math.max(1, Math.ceil(table.found.length / SIZE));
  const rows = table.found.slice(table.page * SIZE, (table.page + 1) * SIZE);
  $("table").tBodies[0].replaceChildren(...rows.map((i) => {
    const row = element("tr", { class: "leads" }, ...all.map((column) => column.cell(i)));
    row.addEventListener("click", () => { if (!String(getSelection())) openQuery(i); });
    return row;
  }));
  $("reset").hidden = table.only === null;
  $("reset").textContent = WORDS.reset;
  const format = new Intl.NumberFormat("en");
  $("count").textContent = put(WORDS.shown, { n: format.format(table.found.length), all: format.format(DATA.queries.length) });
  $("page").textContent = put(WORDS.page, { page: table.page + 1, pages });
  $("previous").disabled = table.page === 0;
  $("next").disabled = table.page >= pages - 1;
}

function turn(step) {
  table.page += step;
  showTable();
}
