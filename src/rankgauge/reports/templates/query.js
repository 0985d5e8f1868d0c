const best = Math.max(1, ...DATA.lists.flatMap((lists) => (lists ?? []).flat()).map(([, grade]) => grade ?? 0));
const DEPTH = Math.max(0, ...DATA.lists.flatMap((lists) => (lists ?? []).map((list) => list.length)));
const LACKING = 10; // relevant documents that are named below a list
const opened = { query: null, left: 0, right: null };

function gradeMark(grade) {
  if (grade === null || grade === undefined) {
    return element("b", { class: "grade none", title: WORDS.unjudged }, "?", element("span", { class: "hidden" }, ` ${WORDS.unjudged}`));
  }
  const step = grade <= 0 ? 0 : Math.max(1, Math.min(4, Math.ceil((4 * grade) / best)));
  const words = put(WORDS.grade, { grade });
  return element("b", { class: `grade g${step}`, title: words }, String(grade), element("span", { class: "hidden" }, ` (${words})`));
}

/** A document: its title and the beginning of its text where they are known, its id, and what is said of its place. */
function documentOf(number, said) {
  const [title, ...rest] = (DATA.beginnings[number] ?? "").split("\n");
  const text = rest.join(" ");
  const id = DATA.docs[number];
  const head = title || id;
  return element("div", { class: "doc" },
    element("span", { class: text || !title ? "title" : "" }, head),
    text ? element("span", { class: "snippet" }, text) : null,
    element("span", { class: "move" }, [head === id ? null : id, said || null].filter(Boolean).join(" · ")));
}

/** One system's list; where a document stood in the other list is said beside it, then what is relevant and lacks. */
function resultList(system, lists, relevant, other, isSecond) {
  const entries = lists[system];
  const there = new Map((other === null ? [] : lists[other]).map(([doc], i) => [doc, i + 1]));
  const items = entries.map(([doc, grade], i) => {
    const rank = there.get(doc);
    let move = "";
    if (other !== null && rank === undefined) move = WORDS.only;
    else if (other !== null) move = rank === i + 1 ? WORDS.stays : put(WORDS.there, { rank, system: DATA.systems[other] });
    return element("li", {}, element("i", {}, String(i + 1)), gradeMark(grade), documentOf(doc, move));
  });
  const body = items.length ? element("ol", {}, ...items) : element("p", { class: "small muted" }, WORDS.empty_list);
  const value = scores(system)[opened.query];
  const head = element("h3", {}, DATA.systems[system], element("small", {}, ` ${DATA.measures[choice.measure].name} ${shown(value)}`));
  if (isSecond && other !== system) {
    const before = scores(other)[opened.query];
    const gap = value === null || before === null ? null : value - before;
    head.append(" ", element("small", { class: direction(gap) }, signed(gap)));
  }
  return element("div", { class: "list" }, head, body, lackingOf(entries, relevant));
}

function lackingOf(entries, relevant) {
  if (!relevant) return null;
  const there = new Set(entries.map(([doc]) => doc));
  const found = entries.filter(([, grade]) => grade > 0).length;
  const count = relevant[0] - found;
  if (count <= 0) return element("p", { class: "small muted" }, relevant[0] ? WORDS.none_missed : WORDS.none_relevant);
  const named = relevant[1].filter(([doc]) => !there.has(doc)).slice(0, LACKING);
  const items = named.map(([doc, grade]) => element("li", {}, element("i", { "aria-hidden": "true" }, "✕"), gradeMark(grade), documentOf(doc, "")));
  const more = count > named.length ? element("p", { class: "small muted" }, put(WORDS.more_missed, { n: count - named.length })) : null;
  return element("div", { class: "missed" }, element("h4", {}, put(WORDS.missed, { n: count, depth: DEPTH })), element("ul", {}, ...items), more);
}

function showLists() {
  const lists = DATA.lists[opened.query];
  const place = $("query-lists");
  if (!lists) {
    const kept = DATA.lists.filter(Boolean).length;
    place.replaceChildren(element("p", { class: "callout" }, kept ? put(WORDS.lists_left_out, { n: kept }) : WORDS.no_lists));
    return;
  }
  const relevant = DATA.relevant[opened.query];
  const { left, right } = opened;
  place.replaceChildren(element("div", { class: "lists" },
    resultList(left, lists, relevant, right, false), right === null ? null : resultList(right, lists, relevant, left, true)));
}

/** Every score of the query: a row for each system, a column for each measure. */
function showScores() {
  const head = [WORDS.system, ...DATA.measures.map((measure) => measure.name)];
  const [first, ...others] = head.map((name, i) => element("th", { scope: "col", class: i ? "n" : "" }, name));
  $("query-scores").tHead.replaceChildren(element("tr", {}, first, ...others));
  $("query-scores").tBodies[0].replaceChildren(...DATA.systems.map((name, s) => element("tr", { class: s === opened.left || s === opened.right ? "now" : "" },
    element("th", { scope: "row" }, name),
    ...DATA.measures.map(({ name: head }, m) => element("td", { class: "n", "data-head": head }, shown(DATA.scores[s][m][opened.query]))))));
}

/** Open one query; `order` are the queries that the arrows lead through. */
function openQuery(query, order = table.found) {
  const both = pair();
  if (opened.query === null || !$("query").open) [opened.left, opened.right] = both ?? [0, null];
  Object.assign(opened, { query, order });
  $("h-query").textContent = DATA.queries[query];
  const said = DATA.texts[query] ? element("span", { class: "said" }, DATA.texts[query]) : "";
  $("query-text").replaceChildren(said, ...(DATA.tags[query] ?? []).map((tag) => element("span", { class: "tag" }, tag)));
  for (const side of ["left", "right"]) if ($(`query-${side}`)) $(`query-${side}`).value = String(opened[side]);
  const at = order.indexOf(query);
  $("query-place").textContent = at < 0 ? "" : `${at + 1}/${order.length}`;
  $("query-before").disabled = at <= 0;
  $("query-after").disabled = at < 0 || at >= order.length - 1;
  showScores();
  showLists();
  if (!$("query").open) {
    $("query").showModal();
    $("h-query").focus();
  }
  $("query").scrollTop = 0;
}

function startQuery() {
  const move = (step) => {
    const at = opened.order.indexOf(opened.query) + step;
    if (at >= 0 && at < opened.order.length && at - step >= 0) openQuery(opened.order[at], opened.order);
  };
  $("query-before").addEventListener("click", () => move(-1));
  $("query-after").addEventListener("click", () => move(1));
  $("query-close").addEventListener("click", () => $("query").close());
  $("query").addEventListener("click", (event) => { if (event.target === $("query")) $("query").close(); });
  $("query").addEventListener("keydown", (event) => {
    if (event.target.tagName !== "SELECT" && event.key === "ArrowLeft") move(-1);
    if (event.target.tagName !== "SELECT" && event.key === "ArrowRight") move(1);
  });
  for (const side of ["left", "right"]) {
    const select = $(`query-${side}`);
    if (!select) continue;
    select.append(...DATA.systems.map((name, i) => element("option", { value: i }, name)));
    select.addEventListener("change", () => {
      opened[side] = Number(select.value);
      showScores();
      showLists();
    });
  }
}
