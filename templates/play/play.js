// The playground: asks the server what bytes are, shows both sides, lights them up together. What comes back is shown as text.
"use strict";
(() => {
  const get = (id) => document.getElementById(id);
  const [protocol, role, form, text, before, beforeRole, state, bytes, trees] =
    ["protocol", "role", "form-of", "text", "before", "before-role", "state", "bytes", "trees"].map(get);
  let known = [], asked = 0, shown = { frames: [] }, nodes = [], streams = [];
  const make = (tag, name, content) => {
    const element = document.createElement(tag);
    if (name) element.className = name;
    if (content !== undefined) element.textContent = content;
    return element;
  };
  const ask = async (question) => {
    const reply = await fetch("ask", { method: "POST", body: JSON.stringify(question) });
    return reply.ok ? reply.json() : { wrong: reply.status === 413 ? "too much at once: 1 MiB is the bound" : `the server says ${reply.status}` };
  };

  // ---- light and dark
  const page = document.documentElement;
  const paint = (theme) => { page.dataset.theme = theme; get("theme").textContent = theme === "dark" ? "Light" : "Dark"; };
  paint(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  get("theme").addEventListener("click", () => paint(page.dataset.theme === "dark" ? "light" : "dark"));

  // ---- the link carries the state
  const question = () => ({
    kind: "look", protocol: protocol.value, role: role.value || null, form: form.value, text: text.value,
    before: before.value.trim() ? [{ role: beforeRole.value || null, text: before.value }] : [],
  });
  const keep = () => {
    const { protocol: p, role: r, form: f, text: t, before: b } = question();
    const json = JSON.stringify({ p, r, f, t, b });
    const link = btoa(String.fromCharCode(...new TextEncoder().encode(json))).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
    history.replaceState(null, "", link.length < 60000 ? `#${link}` : "#");
  };
  const restore = () => {
    try {
      const plain = atob(location.hash.slice(1).replaceAll("-", "+").replaceAll("_", "/"));
      const { p, r, f, t, b } = JSON.parse(new TextDecoder().decode(Uint8Array.from(plain, (each) => each.charCodeAt(0))));
      if (!known.some((each) => each.name === p) || typeof t !== "string") return false;
      protocol.value = p;
      fillRoles();
      if ([...role.options].some((each) => each.value === r)) role.value = r;
      if ([...form.options].some((each) => each.value === f)) form.value = f;
      text.value = t;
      if (Array.isArray(b) && b.length === 1 && typeof b[0].text === "string") {
        before.value = b[0].text;
        if ([...beforeRole.options].some((each) => each.value === b[0].role)) beforeRole.value = b[0].role;
      }
      return true;
    } catch { return false; }
  };

  // ---- what is shown
  const hues = 6, width = 16;
  const leavesOf = (node, offset, list) => {
    const below = (node.children || []).filter((each) => !each.inner);
    if (!node.inner && !below.length && node.end > node.start) list.push(node);
    below.forEach((each) => leavesOf(each, offset, list));
    return list;
  };
  const showBytes = () => {
    const data = shown.hex.match(/../g) || [];
    const owner = new Array(data.length).fill(-1);
    let number = 0;
    shown.frames.forEach((frame) => frame.tree && leavesOf(frame.tree, 0, []).forEach((leaf) => {
      owner.fill(number % hues, leaf.start, leaf.end);
      number += 1;
    }));
    const fault = shown.frames.find((frame) => frame.fault);
    const lines = [];
    for (let start = 0; start < Math.min(data.length, 8192); start += width) {
      const line = make("div", "line");
      line.append(make("span", "at", start.toString(16).padStart(4, "0")), " ");
      data.slice(start, start + width).forEach((pair, at) => {
        const one = make("span", owner[start + at] < 0 ? "b" : `b h${owner[start + at]}`, pair);
        one.dataset.at = start + at;
        if (fault && fault.fault.at === start + at) one.classList.add("lit");
        line.append(one, " ");
      });
      lines.push(line);
    }
    bytes.replaceChildren(...lines);
  };
  const nodeLine = (node, frame, outer) => {
    const item = make("li"), line = make("span", "node");
    const span = node.inner ? outer : [node.start, node.end];
    line.append(make("b", "", node.name));
    if (node.value !== undefined) line.append(make("code", "", node.value));
    line.append(make("span", "about", [node.inner ? "inside" : `${node.start}, ${node.end - node.start} ${node.end - node.start === 1 ? "byte" : "bytes"}`, node.note].filter(Boolean).join("; ")));
    line.title = node.path;
    line.tabIndex = 0;
    Object.assign(line.dataset, { start: span[0], end: span[1], path: node.path });
    nodes.push(line);
    if (node.can_edit) {
      const edit = () => change(line, node, frame);
      line.addEventListener("dblclick", edit);
      line.addEventListener("keydown", (event) => { if (event.key === "Enter" && event.target === line) { event.preventDefault(); edit(); } });
    }
    item.append(line);
    if (node.children) {
      const list = make("ul");
      list.append(...node.children.map((child) => nodeLine(child, frame, span)));
      item.append(list);
    }
    if (node.cut) item.append(make("p", "about", "more is not shown"));
    return item;
  };
  const change = (line, node, frame) => {
    const input = make("input");
    input.value = node.value.replace(/^"(.*)"$/s, "$1").replace(/^(?:true|false)$/, (word) => word);
    input.setAttribute("aria-label", `New value of ${node.path}`);
    line.append(input);
    input.focus();
    input.select();
    input.addEventListener("keydown", async (event) => {
      event.stopPropagation();
      if (event.key === "Escape") input.remove();
      if (event.key !== "Enter") return;
      event.preventDefault();
      const answer = await ask({ ...question(), kind: "edit", frame: shown.frames.indexOf(frame), path: node.path, value: input.value });
      if (answer.wrong) { state.textContent = answer.wrong; return; }
      form.value = "hex";
      text.value = answer.hex;
      take(answer);
    });
  };
  const showFrame = (frame) => {
    const part = make("section");
    if (frame.fault) {
      const { code, path, at, inner_at: inner, expected, found, rule, partial } = frame.fault;
      part.className = "fault";
      part.append(make("h3", "", `${code}${path ? ` in ${path}` : ""}`));
      part.append(make("p", "", [`at ${at}${inner === undefined ? "" : `, inner ${inner}`}`, expected && `expected ${expected}`, found && `found ${found}`, rule && `rule ${rule}`].filter(Boolean).join("; ")));
      if (partial) part.append(make("p", "", "Read so far:"), make("pre", "", JSON.stringify(partial, null, 2)));
      return part;
    }
    part.append(make("h3", "", frame.message));
    const list = make("ul");
    list.append(nodeLine(frame.tree, frame, [frame.tree.start, frame.tree.end]));
    part.append(list);
    const copies = make("p");
    Object.entries(frame.copies || {}).forEach(([name, copy]) => {
      const button = make("button", "", `Copy as ${name}`);
      button.type = "button";
      button.dataset.copy = name;
      button.addEventListener("click", async () => {
        await navigator.clipboard.writeText(copy).then(() => { state.textContent = `Copied as ${name}.`; }, () => { state.textContent = copy; });
      });
      copies.append(button);
    });
    part.append(copies);
    return part;
  };
  const take = (answer) => {
    keep();
    if (answer.wrong) { state.textContent = answer.wrong; return; }
    shown = answer;
    nodes = [];
    trees.replaceChildren(...answer.frames.map(showFrame));
    showBytes();
    const count = answer.frames.filter((frame) => !frame.fault).length;
    const fault = answer.frames.find((frame) => frame.fault);
    state.textContent = `${count} ${count === 1 ? "frame" : "frames"}${answer.n_left ? ` and ${answer.n_left} more` : ""}${fault ? `, then ${fault.fault.code}` : ""}. Point at either side; a double click, or Enter, changes a value.`;
  };
  const look = async () => {
    const mine = (asked += 1);
    if (!text.value.trim()) { trees.replaceChildren(); bytes.replaceChildren(); state.textContent = ""; keep(); return; }
    const answer = await ask(question());
    if (mine === asked) take(answer);
  };

  // ---- both sides light up together
  let lit = [];
  const light = (elements) => {
    lit.forEach((each) => each.classList.remove("lit"));
    lit = elements;
    lit.forEach((each) => each.classList.add("lit"));
  };
  const covered = (start, end) => [...bytes.querySelectorAll(".b")].filter((each) => +each.dataset.at >= start && +each.dataset.at < end);
  const pointed = (target) => {
    const line = target.closest && target.closest(".node"), one = target.closest && target.closest(".b");
    if (line) { light([line, ...covered(+line.dataset.start, +line.dataset.end)]); state.textContent = line.dataset.path; }
    else if (one) {
      const at = +one.dataset.at;
      const over = nodes.filter((each) => +each.dataset.start <= at && at < +each.dataset.end);
      const best = over.reduce((found, each) => (!found || each.dataset.end - each.dataset.start <= found.dataset.end - found.dataset.start ? each : found), null);
      if (best) { light([best, ...covered(+best.dataset.start, +best.dataset.end)]); state.textContent = best.dataset.path; best.scrollIntoView({ block: "nearest" }); }
    } else light([]);
  };
  document.addEventListener("mouseover", (event) => pointed(event.target));
  document.addEventListener("focusin", (event) => pointed(event.target));

  // ---- choices
  const fillRoles = () => {
    const roles = (known.find((each) => each.name === protocol.value) || { roles: [] }).roles;
    [role, beforeRole].forEach((select) => select.replaceChildren(...roles.map((name) => new Option(name, name))));
    if (roles.length > 1) beforeRole.value = roles[1];
  };
  const showExample = () => { const found = known.find((each) => each.name === protocol.value); if (found && found.example) { text.value = found.example; form.value = "hex"; } };
  let waiting = 0;
  const soon = () => { clearTimeout(waiting); waiting = setTimeout(look, 250); };
  protocol.addEventListener("change", () => { fillRoles(); before.value = ""; showExample(); look(); });
  [role, form, beforeRole].forEach((select) => select.addEventListener("change", look));
  [text, before].forEach((area) => area.addEventListener("input", soon));
  get("form").addEventListener("submit", (event) => event.preventDefault());
  const takeFile = async (file) => {
    if (!file) return;
    if (file.size > 700000) { state.textContent = "The capture is too large: 700 kB is the bound here; wiregen decode --pcap takes any."; return; }
    const octets = new Uint8Array(await file.arrayBuffer());
    let plain = "";
    octets.forEach((octet) => { plain += String.fromCharCode(octet); });
    const answer = await ask({ kind: "capture", data: btoa(plain) });
    if (answer.wrong) { state.textContent = answer.wrong; return; }
    streams = answer.streams;
    const roles = (known.find((each) => each.name === protocol.value) || { roles: [] }).roles;
    get("stream").replaceChildren(...streams.map((each, at) => new Option(`${each.flow} ${each.from_opener ? "opener" : "other"}`, at)));
    get("stream-label").hidden = !streams.length;
    const choose = () => {
      const chosen = streams[+get("stream").value];
      if (!chosen) return;
      role.value = roles[chosen.from_opener ? 0 : 1] || role.value;
      form.value = "hex";
      text.value = chosen.hex;
      look();
    };
    get("stream").onchange = choose;
    choose();
  };
  get("file").addEventListener("change", (event) => takeFile(event.target.files[0]));
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => { event.preventDefault(); takeFile(event.dataTransfer.files[0]); });

  ask({ kind: "protocols" }).then((answer) => {
    known = answer.protocols || [];
    protocol.replaceChildren(...known.map((each) => new Option(each.name, each.name)));
    fillRoles();
    if (!restore()) showExample();
    look();
  });
})();
