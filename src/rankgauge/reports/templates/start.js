/** Fill every select of a choice, and keep them at the same value. */
function options(key, labels) {
  const selects = [...document.querySelectorAll(`select[data-choice="${key}"]`)];
  for (const select of selects) {
    select.append(...labels.map((label, i) => element("option", { value: i }, label)));
    select.addEventListener("change", () => {
      choice[key] = Number(select.value);
      selects.forEach((other) => { other.value = select.value; });
      changed();
    });
  }
}

function startTheme() {
  const button = $("theme");
  button.hidden = false;
  const mark = () => button.setAttribute("aria-pressed", String(dark()));
  mark();
  button.addEventListener("click", () => {
    const next = dark() ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    try { localStorage.setItem("rankgauge-theme", next); } catch { /* a page from a file may have no store */ }
    mark();
    drawAll();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { mark(); drawAll(); });
}

function startContents() {
  const links = new Map([...document.querySelectorAll("nav a")].map((link) => [link.hash.slice(1), link]));
  const seen = new Set();
  const watch = new IntersectionObserver((entries) => {
    entries.forEach((entry) => seen[entry.isIntersecting ? "add" : "delete"](entry.target.id));
    const first = [...links.keys()].find((id) => seen.has(id));
    links.forEach((link, id) => (id === first ? link.setAttribute("aria-current", "true") : link.removeAttribute("aria-current")));
  }, { rootMargin: "-80px 0px -55% 0px" });
  links.forEach((_, id) => $(id) && watch.observe($(id)));
}

function startResize() {
  let width = innerWidth;
  let timer = 0;
  addEventListener("resize", () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (innerWidth === width) return;
      width = innerWidth;
      drawAll();
    }, 150);
  });
}

const unfold = () => { const part = $(location.hash.slice(1)); if (part?.tagName === "DETAILS") part.open = true; };
addEventListener("hashchange", unfold);
addEventListener("beforeprint", () => document.querySelectorAll("main details").forEach((part) => { part.open = true; }));
unfold();
startTheme();
startContents();
startResize();
if (DATA.scores.length) {
  options("measure", DATA.measures.map((measure) => measure.name));
  options("pair", DATA.pairs.map(([a, b]) => put(WORDS.against, { a: DATA.systems[a], b: DATA.systems[b] })));
  $("choice").addEventListener("submit", (event) => event.preventDefault());
  let timer = 0;
  $("search").addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(search, 120); });
  $("previous").addEventListener("click", () => turn(-1));
  $("next").addEventListener("click", () => turn(1));
  $("side")?.addEventListener("change", search);
  $("reset").addEventListener("click", () => { table.only = null; search(); $("search").focus(); });
  startQuery();
  startLeading();
  listeners.push(showChanges, search, () => drawAll(figures().filter(byChoice)));
  showChanges();
  search();
}
drawAll();
