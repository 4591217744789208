// JavaScript adds highlighting under the pointer, a search and a choice of colours. The pages are complete without it.
"use strict";
(() => {
  const root = document.body.dataset.root;
  const page = document.documentElement;

  // some browsers keep nothing for files
  const recall = (name) => { try { return localStorage.getItem(name); } catch { return null; } };
  const keep = (name, value) => { try { localStorage.setItem(name, value); } catch { return; } };

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

  // ---- the sidebar: the pages of the protocol, from the script that they share
  const make = (tag, properties, ...children) => {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  };
  const side = document.getElementById("side");
  const link = ([name, url, code]) => {
    const made = make("a", { href: url }, make("span", {}, ...name.split(/(?<=[a-z])(?=[A-Z])/).flatMap((part) => [part, make("wbr")])));
    if (code) made.append(make("small", { title: code }, (/0x\w+/.exec(code) || [code])[0]));
    if (url === document.body.dataset.here) made.setAttribute("aria-current", "page");
    return make("li", {}, made);
  };
  if (window.wiregenNav) {
    const filter = make("input", { id: "filter", type: "search", placeholder: "Filter names and codes", autocomplete: "off" });
    filter.setAttribute("aria-label", "Filter names and codes");
    const isMany = window.wiregenNav.reduce((count, [, , items]) => count + items.length, 0) > 40;
    const groups = window.wiregenNav.map(([title, url, items]) => {
      if (!items.length) return make("ul", {}, link([title, url]));
      const list = make("ul", {}, ...items.map(link));
      const open = !isMany || list.querySelector("[aria-current]") !== null || title.startsWith("From");
      return make("details", { open }, make("summary", {}, title, " ", make("small", {}, items.length)), list);
    });
    const rest = [...side.querySelectorAll("a")].filter((each) => each.getAttribute("href").startsWith("../"));
    side.replaceChildren(filter, ...groups, make("ul", {}, ...rest.map((each) => make("li", {}, each))));
    filter.addEventListener("input", () => {
      const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
      side.querySelectorAll("li").forEach((each) => {
        each.hidden = !words.every((word) => `${each.textContent} ${each.querySelector("small")?.title}`.toLowerCase().includes(word));
      });
      side.querySelectorAll("details").forEach((each) => {
        each.hidden = !each.querySelector("li:not([hidden])");
        if (words.length) each.open = true;
      });
    });
    const now = side.querySelector("[aria-current]");
    if (now) side.scrollTop = now.offsetTop - side.clientHeight / 3;
  }
  const menu = document.getElementById("menu");
  if (menu) {
    const slide = (isOpen) => {
      side.classList.toggle("open", isOpen);
      menu.setAttribute("aria-expanded", String(isOpen));
      document.querySelectorAll("main, footer, .toc").forEach((each) => { each.inert = isOpen; });
      if (isOpen) (side.querySelector("[aria-current]") || side).focus();
    };
    menu.hidden = false;
    menu.addEventListener("click", () => slide(!side.classList.contains("open")));
    document.addEventListener("click", (event) => {
      if (side.classList.contains("open") && !event.target.closest("#menu") && (!side.contains(event.target) || event.target.closest("a"))) slide(false);
    });
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && side.classList.contains("open")) { slide(false); menu.focus(); }
    });
  }

  // ---- cells with the heads of their columns, for narrow screens
  document.querySelectorAll(".scroll > table").forEach((table) => {
    const heads = [...table.querySelectorAll("thead th")].map((each) => each.textContent);
    table.querySelectorAll("td:not(.offset, .size, .type, .meaning)").forEach((each) => { each.dataset.of = heads[each.cellIndex]; });
  });

  // ---- what is on the page, and where the reader is
  const toc = document.getElementById("toc");
  const heads = toc ? [...document.querySelectorAll("section[id] > h2, section[id] summary > h2, h2[id], .guide h3[id]")] : [];
  if (heads.length > 1) {
    const links = new Map(heads.map((head) => [head, make("a", { href: `#${head.closest("[id]").id}` }, (head.querySelector(".self") || head).textContent)]));
    const box = make("details", {}, make("summary", {}, "On this page"), make("ul", {}, ...[...links.values()].map((each) => make("li", {}, each))));
    toc.append(box);
    toc.hidden = false;
    const wide = matchMedia("(min-width: 84rem)");
    const fit = () => { box.open = wide.matches; };
    wide.addEventListener("change", fit);
    fit();
    const mark = () => {
      const past = heads.filter((head) => head.getBoundingClientRect().top < 120);
      links.forEach((each) => each.removeAttribute("aria-current"));
      links.get(past.at(-1) || heads[0]).setAttribute("aria-current", "location");
    };
    document.addEventListener("scroll", mark, { passive: true });
    mark();
  }
  const unfold = () => {  // what a link leads to is shown, where it is collapsed
    const target = document.querySelector(":target");
    const box = target && target.querySelector(":scope > details");
    if (box) box.open = true;
  };
  addEventListener("hashchange", unfold);
  unfold();
  document.querySelectorAll(".scroll").forEach((each) => {
    const mark = () => each.classList.toggle("more", each.scrollWidth - each.clientWidth - each.scrollLeft > 2);
    each.addEventListener("scroll", mark, { passive: true });
    new ResizeObserver(mark).observe(each);
  });

  // ---- code can be copied, and the language of one page is that of the next
  document.querySelectorAll("main pre").forEach((each) => {
    const button = make("button", { type: "button", className: "copy" }, "Copy");
    const box = make("div", { className: "code" });
    each.replaceWith(box);
    box.append(each, button);
    button.addEventListener("click", async () => {
      try { await navigator.clipboard.writeText(each.textContent); button.textContent = "Copied"; } catch { button.textContent = "Cannot copy"; }
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
  });
  const languages = [...document.querySelectorAll("input[name=use]")];
  const titleOf = (input) => input.labels[0].textContent;
  const kept = recall("language");
  languages.forEach((each) => {
    if (titleOf(each) === kept) each.checked = true;
    each.addEventListener("change", () => keep("language", titleOf(each)));
  });

  // ---- light and dark
  const button = document.getElementById("theme");
  const remembered = recall("theme");
  const isDark = () => page.dataset.theme === "dark";
  const paint = (theme) => {
    page.dataset.theme = theme;
    button.textContent = isDark() ? "Light" : "Dark";
  };
  paint(remembered === "dark" || remembered === "light" ? remembered : matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  button.hidden = false;
  button.addEventListener("click", () => {
    paint(isDark() ? "light" : "dark");
    keep("theme", page.dataset.theme);
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
  const above = { message: 2, session: 1, rule: 1, code: -0.5 };  // by kind, the last word of it
  const rank = (entry, words) => {
    const name = entry[0].toLowerCase();
    const all = `${name} ${entry[1]} ${entry[3]}`.toLowerCase();
    let total = 0;
    for (let word of words) {
      if (/^0x[0-9a-f]+$/.test(word)) {  // a code, with zeros before it or without; of one digit only in decimal
        const number = Number(word);
        if (all.includes(`code ${number}.`) || all.includes(`code ${number} `)) { total += 20; continue; }
        word = `0x${number.toString(16).padStart(2, "0")}`;
        if (entry[1].includes(`(${word}`)) total += 19;
      }
      const tail = name.slice(name.lastIndexOf(".") + 1);
      if (name === word || tail === word) total += 8;
      else if (tail.startsWith(word)) total += 5;
      else if (begins(name, word)) total += 3;
      else if (begins(all, word)) total += 2;
      else if (all.includes(word)) total += 1;
      else return 0;
    }
    return total + (entry[2].startsWith(near) ? 5 : 0) + (above[entry[1].split(" ").at(-1)] || 0) + 1 / (1 + name.length);
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
