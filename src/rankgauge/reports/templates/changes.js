const MOST = 10;

function changeItem(change, order) {
  const query = DATA.queries.indexOf(change.query);
  const value = element("span", { class: "scores" }, `${shown(change.a)} → ${shown(change.b)} `,
    element("span", { class: direction(change.difference) }, signed(change.difference)));
  const button = element("button", { type: "button", class: "change" }, element("b", {}, change.query), value,
    DATA.texts[query] ? element("span", { class: "text" }, DATA.texts[query]) : null);
  button.addEventListener("click", () => openQuery(query, order));
  return button;
}

/** The changes that the record lists, or those that the scores tell. */
function changesOf(names) {
  const measure = DATA.measures[choice.measure].name;
  const kept = DATA.changes.find((entry) => entry.measure === measure && entry.a === names[0] && entry.b === names[1]);
  if (kept) return kept;
  const [a, b] = pair().map(scores);
  const all = DATA.queries
    .map((query, i) => ({ query, a: a[i], b: b[i], difference: difference(i) }))
    .filter((change) => change.difference)
    .sort((x, y) => Math.abs(y.difference) - Math.abs(x.difference));
  const side = (name) => all.filter((change) => direction(change.difference) === name).slice(0, MOST);
  return { gained: side("up"), lost: side("down") };
}

function showChanges() {
  const place = $("changed");
  if (!place) return;
  const found = changesOf(pair().map((system) => DATA.systems[system]));
  const side = (kind) => {
    const order = found[kind].map((change) => DATA.queries.indexOf(change.query));
    const items = found[kind].map((change) => changeItem(change, order));
    return element("div", { class: "side" }, element("h3", {}, WORDS[kind]),
      ...(items.length ? items : [element("p", { class: "hint" }, WORDS.none)]));
  };
  place.replaceChildren(side("gained"), side("lost"));
}
