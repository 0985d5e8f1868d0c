const MOST = 10;
const grades = Object.values(DATA.lists).flatMap((lists) => Object.values(lists).flat()).map((entry) => entry.grade ?? 0);
const best = Math.max(1, ...grades);

function gradeMark(grade) {
  if (grade === null || grade === undefined) {
    return element("b", { class: "grade none", title: WORDS.unjudged }, "?", element("span", { class: "hidden" }, ` ${WORDS.unjudged}`));
  }
  const step = grade <= 0 ? 0 : Math.max(1, Math.min(4, Math.ceil((4 * grade) / best)));
  const words = put(WORDS.grade, { grade });
  return element("b", { class: `grade g${step}`, title: words }, String(grade), element("span", { class: "hidden" }, ` (${words})`));
}

/** One system's list; where a document stood in the other list is said beside it. */
function resultList(name, entries, others, isSecond) {
  const before = new Map(others.map((entry, i) => [entry.doc, i + 1]));
  const items = entries.map((entry, i) => {
    const rank = before.get(entry.doc);
    let move = "";
    if (rank === undefined) move = WORDS.only;
    else if (isSecond) move = rank === i + 1 ? WORDS.stays : put(WORDS.was, { rank });
    const doc = element("span", {}, entry.doc, move ? element("span", { class: "move" }, move) : null);
    return element("li", {}, element("i", {}, String(i + 1)), gradeMark(entry.grade), doc);
  });
  const body = items.length ? element("ol", {}, ...items) : element("p", { class: "small muted" }, WORDS.empty_list);
  return element("div", {}, element("h4", {}, name), body);
}

function changeItem(change, names, open) {
  const lists = own(DATA.lists, change.query);
  const text = DATA.texts[DATA.queries.indexOf(change.query)];
  const value = element("span", { class: "scores" }, `${shown(change.a)} → ${shown(change.b)} `,
    element("span", { class: direction(change.difference) }, signed(change.difference)));
  const head = element(lists ? "summary" : "div", { class: "head" }, element("b", {}, change.query), value, text ? element("span", { class: "text" }, text) : null);
  if (!lists) return element("div", { class: "change" }, head);
  const item = element("details", { class: "change" }, head);
  const show = () => {
    if (item.childElementCount > 1) return;
    const [a, b] = names.map((name) => own(lists, name) ?? []);
    item.append(element("div", { class: "lists" }, resultList(names[0], a, b, false), resultList(names[1], b, a, true)));
  };
  item.addEventListener("toggle", show);
  if (open) {
    show();
    item.open = true;
  }
  return item;
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
  const names = pair().map((system) => DATA.systems[system]);
  const found = changesOf(names);
  const side = (kind) => {
    const items = found[kind].map((change, i) => changeItem(change, names, i === 0));
    return element("div", { class: "side" }, element("h3", {}, WORDS[kind]),
      ...(items.length ? items : [element("p", { class: "hint" }, WORDS.none)]));
  };
  place.replaceChildren(side("gained"), side("lost"));
}
