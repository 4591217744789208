// JavaScript adds highlighting under the pointer, a search and a choice of colours. The pages are complete without it.
"use strict";
(() => {
  const root = document.body.dataset.root;
  const page = document.documentElement;

  // ---- bytes, fields and boxes light up together
  let lit = [];
  const light = (element) => {
    const piece = element && element.closest("[data-f], [data-x]");
    lit.forEach((each) => each.classList.remove("lit"));
    lit = [];
    if (!piece) return;
    const { x, f } = piece.dataset;
    document.querySelectorAll("[data-f]").forEach((each) => {
      const own = each.dataset.f;
      if (x !== undefined && each.dataset.x !== undefined ? each.dataset.x === x
        : f && (own === f || own.startsWith(`${f}[]`) || (each.matches("g") && f.startsWith(`${own}[]`)))) lit.push(each);
    });
    lit.forEach((each) => each.classList.add("lit"));
  };
  document.addEventListener("mouseover", (event) => light(event.target));
  document.addEventListener("focusin", (event) => light(event.target));
  document.addEventListener("mouseleave", () => light(null));
  document.addEventListener("keydown", (event) => {  // arrows go through the bytes of a field after the other
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step || !event.target.matches(".hexdump")) return;
    const runs = [...event.target.querySelectorAll(".b")];
    const now = runs.filter((each) => each.classList.contains("lit"));
    const next = runs[runs.indexOf(now.at(step < 0 ? 0 : -1)) + (now.length ? step : 1)];
    if (!next) return;
    event.preventDefault();
    light(next);
    next.scrollIntoView({ block: "nearest", inline: "nearest" });
  });

  // ---- light and dark
  const button = document.getElementById("theme");
  const remembered = (() => { try { return localStorage.getItem("theme"); } catch { return null; } })();
  const isDark = () => page.dataset.theme === "dark";
  const paint = (theme) => {
    page.dataset.theme = theme;
    button.textContent = isDark() ? "Light" : "Dark";
  };
  paint(remembered === "dark" || remembered === "light" ? remembered : matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  button.hidden = false;
  button.addEventListener("click", () => {
    paint(isDark() ? "light" : "dark");
    try { localStorage.setItem("theme", page.dataset.theme); } catch { /* some browsers keep nothing for files */ }
  });

  // ---- search: the index is a script, since a page from a file may fetch nothing
  const query = document.getElementById("query");
  const results = document.getElementById("results");
  query.parentElement.hidden = false;
  let chosen = -1;
  const near = root ? `${location.pathname.split("/").slice(-2)[0]}/` : "\n";  // entries of this protocol come first
  const load = () => {
    if (document.getElementById("index-script")) return;
    const script = document.createElement("script");
    script.id = "index-script";
    script.src = root + "search.js";
    script.addEventListener("load", show);
    document.head.append(script);
  };
  const begins = (text, word) => {  // a word of the text, not the middle of one
    for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) if (!at || !/[a-z0-9]/.test(text[at - 1])) return true;
    return false;
  };
  const rank = (entry, words) => {
    const name = entry[0].toLowerCase();
    const all = `${name} ${entry[1]} ${entry[3]}`.toLowerCase();
    let total = 0;
    for (const word of words) {
      const tail = name.slice(name.lastIndexOf(".") + 1);
      if (name === word || tail === word) total += 8;
      else if (tail.startsWith(word)) total += 5;
      else if (begins(name, word)) total += 3;
      else if (begins(all, word)) total += 2;
      else if (all.includes(word)) total += 1;
      else return 0;
    }
    return total + (entry[2].startsWith(near) ? 2 : 0) - (entry[1] === "code" ? 0.5 : 0) + 1 / (1 + name.length);
  };
  const item = (entry, number) => {
    const line = document.createElement("li");
    line.role = "option";
    line.id = `result-${number}`;
    line.dataset.url = root + entry[2];
    line.setAttribute("aria-selected", "false");
    const title = document.createElement("b");
    title.textContent = entry[0];
    const about = document.createElement("span");
    about.textContent = entry[3] ? `${entry[1]}: ${entry[3].length > 170 ? `${entry[3].slice(0, 160)}…` : entry[3]}` : entry[1];
    line.append(title, about);
    return line;
  };
  const choose = (number) => {
    const lines = [...results.children].filter((line) => line.dataset.url);
    chosen = lines.length ? (number + lines.length) % lines.length : -1;
    lines.forEach((line, at) => line.setAttribute("aria-selected", String(at === chosen)));
    if (chosen < 0) { query.removeAttribute("aria-activedescendant"); return; }
    query.setAttribute("aria-activedescendant", lines[chosen].id);
    lines[chosen].scrollIntoView({ block: "nearest" });
  };
  const close = () => { results.hidden = true; query.setAttribute("aria-expanded", "false"); };
  function show() {
    const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length || !window.wiregenIndex) { close(); return; }
    const found = window.wiregenIndex.map((entry) => [rank(entry, words), entry]).filter(([score]) => score > 0);
    found.sort((one, other) => other[0] - one[0]);
    results.replaceChildren(...found.slice(0, 12).map(([, entry], at) => item(entry, at)));
    if (!found.length) {
      const none = document.createElement("li");
      none.role = "option";
      none.textContent = "Nothing found";
      results.append(none);
    }
    results.hidden = false;
    query.setAttribute("aria-expanded", "true");
    choose(0);
  }
  const open = (line) => { if (line && line.dataset.url) { close(); location.href = line.dataset.url; } };
  query.addEventListener("focus", load);
  query.addEventListener("input", show);
  query.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") { event.preventDefault(); choose(chosen + 1); }
    else if (event.key === "ArrowUp") { event.preventDefault(); choose(chosen - 1); }
    else if (event.key === "Enter") open(results.querySelector('[aria-selected="true"]'));
    else if (event.key === "Escape") { close(); query.blur(); }
  });
  results.addEventListener("mousedown", (event) => { event.preventDefault(); open(event.target.closest("li")); });
  query.addEventListener("blur", close);
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target.closest("input[type=search], textarea, [contenteditable]");
    if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) { event.preventDefault(); query.focus(); }
  });
})();
