"use strict";
const DATA = JSON.parse(document.getElementById("data").textContent);
const WORDS = DATA.words;
const $ = (id) => document.getElementById(id);

// What the reader has chosen; every part that depends on it is told through `listeners`.
const choice = { measure: 0, pair: 0 };
const listeners = [];
const changed = () => listeners.forEach((tell) => tell());

/** An element with its content; texts are always set as text, never as markup. */
function element(tag, options = {}, ...content) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(options)) {
    if (name === "class") made.className = value;
    else if (value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...content.filter((part) => part !== null && part !== undefined));
  return made;
}

const put = (template, values) => template.replace(/\{(\w+)\}/g, (all, name) => (name in values ? String(values[name]) : all));
const minus = (text) => text.replace("-", "−");
const shown = (value) => (value === null || value === undefined ? "–" : minus(value.toFixed(DATA.digits)));
const signed = (value) => (value === null || value === undefined ? "–" : (value > 0 ? "+" : "") + minus(value.toFixed(DATA.digits)));
const own = (object, key) => (Object.hasOwn(object, key) ? object[key] : undefined);

/** The two systems chosen, by number; null for a single system. */
const pair = () => (DATA.pairs.length ? DATA.pairs[choice.pair] : null);
const scores = (system) => DATA.scores[system][choice.measure];
/** How a difference is coloured: some measures are better when lower. */
const direction = (value) => {
  const gain = (value ?? 0) * DATA.measures[choice.measure].sign;
  return gain > 0 ? "up" : gain < 0 ? "down" : "muted";
};
const difference = (query) => {
  const [a, b] = pair().map((system) => scores(system)[query]);
  return a === null || b === null ? null : b - a;
};
