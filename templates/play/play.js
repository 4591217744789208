// The playground: asks a server or a worker for the meaning of bytes, shows both sides, highlights them together. Answers are shown as text.
"use strict";
(() => {
  const get = (id) => document.getElementById(id);
  const [protocol, role, form, text, before, beforeRole, state, bytes, trees] =
    ["protocol", "role", "form-of", "text", "before", "before-role", "state", "bytes", "trees"].map(get);
  let known = [], asked = 0, shown = { frames: [] }, nodes = [], asides = [], isConnection = false, cut = "";
  const make = (tag, name, content) => {
    const element = document.createElement(tag);
    if (name) element.className = name;
    if (content !== undefined) element.textContent = content;
    return element;
  };

  // ---- questions and answers are the same JSON for a server and for a worker
  const askServer = async (question) => {
    const reply = await fetch("ask", { method: "POST", body: JSON.stringify(question) });
    return reply.ok ? reply.json() : { wrong: reply.status === 413 ? "too much at once: 1 MiB is the bound" : `the server says ${reply.status}` };
  };
  const patience = { first: 300000, later: 10000 };  // the first answer waits until the codec is loaded
  let worker = null, turn = Promise.resolve();
  const askWorker = (question) => {
    const answer = turn.then(() => new Promise((resolve) => {
      const isFirst = !worker;
      if (isFirst) { worker = new Worker("worker.js", { type: "module" }); state.textContent = "The codec is being loaded: 15 MB, which the browser keeps."; }
      const end = (wrong) => { worker.terminate(); worker = null; resolve({ wrong }); };
      const timer = setTimeout(() => end("it took too long"), isFirst ? patience.first : patience.later);
      worker.onerror = (event) => { clearTimeout(timer); end(`the codec cannot be loaded: ${event.message || "a file is missing"}`); };
      worker.onmessage = ({ data }) => { clearTimeout(timer); if (data.failed) end(data.failed); else resolve(JSON.parse(data.text)); };
      worker.postMessage(JSON.stringify(question));
    }));
    turn = answer;
    return answer;
  };
  const isStatic = get("form").dataset.transport === "worker";
  const ask = isStatic ? askWorker : askServer;

  // ---- the link carries the state
  const question = () => ({
    kind: "look", protocol: protocol.value, role: role.value || null, form: form.value, text: text.value,
    before: before.value.trim() ? [{ role: beforeRole.value || null, text: before.value }] : [], asides, is_connection: isConnection,
  });
  const keep = () => {
    const { protocol: p, role: r, form: f, text: t, before: b, asides: o } = question();
    const json = JSON.stringify({ p, r, f, t, b, ...(o.length ? { o } : {}), ...(isConnection ? { c: 1 } : {}) });
    const octets = new TextEncoder().encode(json), fits = octets.length < 45000;
    const link = fits ? btoa(String.fromCharCode(...octets)).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "") : "";
    history.replaceState(null, "", fits ? `#${link}` : "#");
    get("unkept").hidden = fits;
  };
  const restore = () => {
    try {
      const plain = atob(location.hash.slice(1).replaceAll("-", "+").replaceAll("_", "/"));
      const { p, r, f, t, b, o, c } = JSON.parse(new TextDecoder().decode(Uint8Array.from(plain, (each) => each.charCodeAt(0))));
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
      asides = Array.isArray(o) ? o : [];
      isConnection = c === 1;
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
  const colour = (frames) => {  // the parts of all frames in turn; the tree and the bytes show the same one
    let number = 0;
    frames.forEach((frame) => frame.tree && leavesOf(frame.tree, 0, []).forEach((leaf) => { leaf.hue = number % hues; number += 1; }));
  };
  const showBytes = () => {
    const data = shown.hex.match(/../g) || [];
    const owner = new Array(data.length).fill(-1);
    shown.frames.forEach((frame) => frame.tree && leavesOf(frame.tree, 0, []).forEach((leaf) => owner.fill(leaf.hue, leaf.start, leaf.end)));
    const begins = new Set(shown.frames.map((frame) => frame.offset));
    const fault = shown.frames.find((frame) => frame.fault && !cut);
    const lines = [];
    for (let start = 0; start < Math.min(data.length, 8192); start += width) {
      const line = make("div", "line");
      line.append(make("span", "at", start.toString(16).padStart(4, "0")), " ");
      const hex = make("span", "hex"), characters = make("span", "text");
      characters.setAttribute("aria-hidden", "true");
      data.slice(start, start + width).forEach((pair, at) => {
        const one = make("span", owner[start + at] < 0 ? "b" : `b h${owner[start + at]}`, pair);
        one.dataset.at = start + at;
        if (fault && start + at >= fault.offset && start + at < fault.offset + fault.size) one.classList.add("torn");
        if (fault && fault.fault.at === start + at) one.classList.add("wrong");
        if (begins.has(start + at)) one.classList.add("first");
        hex.append(one, " ");
        const letter = parseInt(pair, 16), character = make("span", one.className.replace("b", "c"), letter > 32 && letter < 127 ? String.fromCharCode(letter) : "·");
        character.dataset.at = start + at;
        characters.append(character);
      });
      line.append(hex, " ", characters);
      lines.push(line);
    }
    bytes.replaceChildren(...lines);
  };
  const nodeLine = (node, frame, outer) => {
    const item = make("li"), line = make("span", "node");
    const span = node.inner ? outer : [node.start, node.end];
    item.setAttribute("role", "none");
    line.setAttribute("role", "treeitem");
    line.append(make("b", node.hue === undefined ? "" : `b h${node.hue}`, node.name));
    if (node.value !== undefined) line.append(make("code", "", node.value));
    line.append(make("span", "about", [node.inner ? "inside" : `@${node.start}, ${node.end - node.start} ${node.end - node.start === 1 ? "byte" : "bytes"}`, node.note].filter(Boolean).join("; ")));
    line.title = node.path;
    line.tabIndex = -1;
    Object.assign(line.dataset, { start: frame.role ? 0 : span[0], end: frame.role ? 0 : span[1], path: node.path, name: node.name });
    if (!frame.role) nodes.push(line);  // bytes of the other side are not shown
    if (node.can_edit) {
      const edit = () => change(line, node, frame);
      line.addEventListener("dblclick", edit);
      line.addEventListener("keydown", (event) => { if (event.key === "Enter" && event.target === line) { event.preventDefault(); edit(); } });
    }
    item.append(line);
    if (node.children) {
      const list = make("ul"), fold = make("button", "fold", "▾");
      list.append(...node.children.map((child) => nodeLine(child, frame, span)));
      list.setAttribute("role", "group");
      Object.assign(fold, { type: "button", tabIndex: -1, ariaHidden: "true" });  // for the mouse; by keys it is the line
      const show = (isOpen) => {
        list.hidden = !isOpen;
        fold.textContent = isOpen ? "▾" : "▸";
        line.setAttribute("aria-expanded", String(isOpen));
        if (!isOpen && list.contains(document.activeElement)) line.focus();
        if (!isOpen && list.querySelector("[tabindex='0']")) stopAt(line);
      };
      fold.addEventListener("click", () => show(list.hidden));
      show(!frame.role || node !== frame.tree);
      item.prepend(fold);
      item.append(list);
    }
    if (node.cut) item.append(make("span", "about", "more is not shown"));
    return item;
  };

  // ---- the tree by keys: a frame is one stop, arrows go from line to line
  const stopAt = (line) => {
    const tree = line.closest("[role=tree]");
    if (!tree) return;
    tree.querySelectorAll("[tabindex='0']").forEach((each) => { each.tabIndex = -1; });
    line.tabIndex = 0;
  };
  const beside = (line, selector) => line.parentElement.querySelector(`:scope > ${selector}`);
  const steps = {
    ArrowDown: (line, lines) => lines[lines.indexOf(line) + 1],
    ArrowUp: (line, lines) => lines[lines.indexOf(line) - 1],
    Home: (line, lines) => lines.find((each) => each.closest("section") === line.closest("section")),
    End: (line, lines) => lines.findLast((each) => each.closest("section") === line.closest("section")),
    ArrowRight: (line) => {
      if (line.ariaExpanded !== "false") return beside(line, "ul > li > .node");
      beside(line, ".fold").click();
      return line;
    },
    ArrowLeft: (line) => {
      if (line.ariaExpanded !== "true") return line.closest("ul").parentElement.querySelector(":scope > .node");
      beside(line, ".fold").click();
      return line;
    },
  };
  trees.addEventListener("keydown", (event) => {
    const step = steps[event.key], line = event.target;
    if (!step || !line.classList.contains("node") || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const next = step(line, [...trees.querySelectorAll(".node")].filter((each) => each.checkVisibility()));
    if (next) next.focus();
  });
  const keyOf = (line) => [line.closest("section").dataset.key, line.dataset.path, line.dataset.name].join(" ");
  const foldedKeys = () => new Set([...trees.querySelectorAll("[aria-expanded=false]")].map(keyOf));
  // After a change the tree is another one: it has the scroll and the folds of before, and the changed line the focus.
  const goBack = ({ key, own }, { top, left, folded }) => {
    trees.querySelectorAll("[aria-expanded]").forEach((line) => { if (folded.has(keyOf(line)) === (line.ariaExpanded === "true")) beside(line, ".fold").click(); });
    [trees.scrollTop, bytes.scrollTop] = [top, left];
    const active = document.activeElement;
    if (active !== document.body && !active.disabled) return;
    const lines = [...trees.querySelectorAll(`section[data-key="${own}"] .node`)];
    const line = lines.find((each) => keyOf(each) === key) || lines[0];
    if (line) { line.focus({ preventScroll: true }); line.scrollIntoView({ block: "nearest" }); }
  };
  let past = [];  // the bytes before each change since they were pasted, for undo
  const begin = () => { past = []; get("undo").disabled = true; };
  const undo = () => {
    const last = past.pop();
    get("undo").disabled = !past.length;
    if (!last) return;
    asides = last.asides;
    form.value = last.form;
    text.value = last.text;
    look(last.place);
  };
  const other = "another value…";
  const menu = ({ edit, choices, is_open: isOpen }) => {
    const select = make("select"), values = choices.includes(edit) ? choices : [edit, ...choices];
    select.replaceChildren(...values.map((each) => new Option(each, each)), ...(isOpen ? [new Option(other, other)] : []));
    return select;
  };
  const change = (line, node, frame, isMenu = !!node.choices) => {
    document.querySelectorAll("#trees .editor, #trees .refused").forEach((each) => each.remove());  // one at a time
    const input = isMenu ? menu(node) : make("input");
    input.className = "editor";
    input.value = node.edit;
    input.setAttribute("aria-label", `New value of ${node.path}`);
    line.append(input);
    input.focus();
    if (!isMenu) input.select();
    const send = async () => {
      if (isMenu && input.value === other) { change(line, node, frame, false); return; }
      if (input.value === node.edit) { input.remove(); line.focus(); return; }
      const answer = await ask({ ...question(), kind: "edit", frame: shown.frames.indexOf(frame), path: node.path, value: input.value });
      if (answer.wrong) {
        trees.querySelectorAll(".refused").forEach((each) => each.remove());
        const refused = make("span", "refused", answer.wrong);
        refused.id = "refused";
        input.setAttribute("aria-invalid", "true");
        input.setAttribute("aria-describedby", "refused");
        line.after(refused);
        state.textContent = answer.wrong;
        return;
      }
      const place = { key: keyOf(line), own: line.closest("section").dataset.key };
      past.push({ text: text.value, form: form.value, asides: structuredClone(asides), place });
      get("undo").disabled = false;
      const grown = (answer.hex.length - shown.hex.length) / 2;
      asides.forEach((each) => { if (each.at > frame.offset) each.at += grown; });
      form.value = "auto";
      text.value = answer.hex;
      take(answer, place);
    };
    let isTyped = false;  // an arrow key changes a closed menu: then Enter sends the value
    input.addEventListener("change", () => { if (isMenu && !isTyped) send(); });
    input.addEventListener("pointerdown", () => { isTyped = false; });
    input.addEventListener("keydown", (event) => {
      event.stopPropagation();
      isTyped = true;
      if (event.key === "Escape") { trees.querySelectorAll(".refused").forEach((each) => each.remove()); input.remove(); line.focus(); }
      if (event.key === "Enter") { event.preventDefault(); send(); }
    });
  };
  // A part that was not read to its end has no known place: the bytes up to the error are highlighted together.
  const recordItem = (name, value) => {
    const item = make("li");
    item.append(make("b", "", name));
    if (value === null || typeof value !== "object") item.append(make("code", "", JSON.stringify(value)));
    else {
      const list = make("ul");
      list.append(...Object.entries(value).map(([key, each]) => recordItem(Array.isArray(value) ? `[${key}]` : key, each)));
      item.append(list);
    }
    return item;
  };
  const readSoFar = ({ message, header, fields }, start, end) => {
    const list = make("ul"), item = make("li"), line = make("span", "node"), parts = make("ul");
    line.append(make("b", "", `Read so far${message ? ` of ${message}` : ""}`), make("span", "about", `@${start}, ${end - start} ${end - start === 1 ? "byte" : "bytes"}`));
    line.tabIndex = 0;
    Object.assign(line.dataset, { start, end, path: `${message || "frame"}, as far as it was read` });
    nodes.push(line);
    parts.append(...Object.entries({ ...header, ...fields }).map(([name, value]) => recordItem(name, value)));
    item.append(line, parts);
    list.append(item);
    return list;
  };
  const copyButtons = ({ copies, line }) => {
    const buttons = make("p");
    Object.entries(line ? { ...copies, JSON: line } : { ...copies }).forEach(([name, copy]) => {
      const button = make("button", "", `Copy as ${name}`);
      button.type = "button";
      button.dataset.copy = name;
      button.addEventListener("click", async () => {
        await navigator.clipboard.writeText(copy).then(() => { state.textContent = `Copied as ${name}.`; }, () => { state.textContent = copy; });
      });
      buttons.append(button);
    });
    return buttons;
  };
  const effectsOf = ({ steps = [], violations = [], notes = [] }) => [
    ...steps.map((each) => make("p", "step", each)),
    ...violations.map((each) => make("p", "step violation", `violates ${each}`)),
    ...notes.map((each) => make("p", "step", `tolerated: ${each}`)),
  ];
  const showFrame = (frame) => {
    const part = frameOf(frame), isBoth = !!shown.others;
    part.dataset.key = frame.role ? `other ${shown.others.indexOf(frame)}` : `own ${shown.frames.indexOf(frame)}`;
    if (isBoth) {
      part.classList.add(frame.role ? "theirs" : "ours");
      part.prepend(make("p", "sender", frame.role || role.value));
    }
    part.querySelector("h3").after(...effectsOf(frame));
    return part;
  };
  const frameOf = (frame) => {
    const part = make("section");
    if (frame.left_open || (frame.fault && cut && frame.fault.code === "truncated")) {
      part.className = "open";
      part.append(make("h3", "", frame.left_open ? `${frame.left_open} is left open` : `${frame.fault.path || "A frame"} is not whole`));
      part.append(make("p", "", cut || "Pieces of it came, and not yet the last one. That is no error while more may follow."), copyButtons(frame));
      return part;
    }
    if (frame.fault) {
      const { code, path, at, inner_at: inner, expected, found, rule, partial } = frame.fault;
      part.className = "fault";
      part.append(make("h3", "", `${code}${path ? ` in ${path}` : ""}`));
      part.append(make("p", "", [`at ${at}${inner === undefined ? "" : `, inner ${inner}`}`, expected && `expected ${expected}`, found && `found ${found}`, rule && `rule ${rule}`].filter(Boolean).join("; ")));
      if (partial && !frame.role) part.append(readSoFar(partial, frame.offset, at));
      part.append(copyButtons(frame));
      return part;
    }
    part.append(make("h3", "", frame.message));
    const list = make("ul");
    list.append(nodeLine(frame.tree, frame, [frame.tree.start, frame.tree.end]));
    list.setAttribute("role", "tree");
    list.setAttribute("aria-label", frame.message);
    list.querySelector(".node").tabIndex = 0;
    part.append(list);
    if (!frame.role) part.append(copyButtons(frame));
    return part;
  };
  // In the order of the connection: the frames of the other side come after as many of this one as they name.
  const inOrder = (frames, others) => [
    ...frames.flatMap((frame, at) => [...others.filter((each) => each.after === at), frame]),
    ...others.filter((each) => each.after >= frames.length),
  ];
  const heads = () => {
    const roles = (known.find((each) => each.name === protocol.value) || { roles: [] }).roles;
    return [make("p", "ours who", role.value), make("p", "theirs who", roles.find((each) => each !== role.value) || "")];
  };
  const clear = () => { document.querySelector(".sides").classList.remove("both"); get("other").hidden = true; shown = { hex: "", frames: [] }; nodes = []; trees.replaceChildren(); bytes.replaceChildren(); };
  const showForm = ({ read_as: readAs, hex, fitting_form: fitting }) => {
    const size = hex ? hex.length / 2 : 0;
    get("read-as").textContent = readAs ? `Read as ${readAs}, ${count(size)} ${size === 1 ? "byte" : "bytes"}.` : "";
    get("fit").hidden = !fitting;
    get("fit").textContent = fitting ? `Read it as ${[...form.options].find((each) => each.value === fitting).text}` : "";
    get("fit").onclick = () => { form.value = fitting; look(); };
  };
  const take = (answer, place) => {  // `place`: of a change, which stays where it is on the screen
    keep();
    showForm(answer);
    if (answer.wrong) { clear(); state.textContent = answer.wrong; return; }
    const kept = place && { top: trees.scrollTop, left: bytes.scrollTop, folded: foldedKeys() };
    shown = answer;
    nodes = [];
    colour(shown.frames);
    get("other").hidden = !answer.fitting_role;
    get("other").textContent = answer.fitting_role ? `The ${answer.fitting_role} sends this: read it so` : "";
    get("other").onclick = () => {
      asides.forEach((each) => { each.role = each.role === answer.fitting_role ? role.value : each.role; });
      role.value = answer.fitting_role;
      look();
    };
    document.querySelector(".sides").classList.toggle("both", !!answer.others);
    trees.replaceChildren(...(answer.others ? [...heads(), ...inOrder(answer.frames, answer.others).map(showFrame)] : answer.frames.map(showFrame)));
    showBytes();
    if (place) goBack(place, kept);
    const nFrames = answer.frames.filter((frame) => frame.tree).length;
    const open = answer.frames.find((frame) => frame.left_open || (frame.fault && cut && frame.fault.code === "truncated"));
    const fault = answer.frames.find((frame) => frame.fault && frame !== open);
    const rest = fault ? `, then ${fault.fault.code}` : open ? `; ${open.left_open || "the last one"} is not whole yet` : "";
    const wrong = [...answer.frames, ...(answer.others || [])].reduce((sum, each) => sum + (each.violations || []).length, 0);
    const broken = wrong ? ` ${wrong} ${wrong === 1 ? "violation" : "violations"} of sessions.` : "";
    state.textContent = `${nFrames} ${nFrames === 1 ? "frame" : "frames"}${answer.n_left ? ` and ${answer.n_left} more` : ""}${rest}.${broken} ${cut} Point at either side; a double click, or Enter, changes a value.`;
  };
  const look = async (place) => {
    const mine = (asked += 1);
    if (!text.value.trim()) { clear(); showForm({}); state.textContent = ""; keep(); return; }
    const answer = await ask(question());
    if (mine === asked) take(answer, place);
  };

  // ---- both sides light up together
  let lit = [];
  const light = (elements) => {
    lit.forEach((each) => each.classList.remove("lit"));
    lit = elements;
    lit.forEach((each) => each.classList.add("lit"));
  };
  const covered = (start, end) => [...bytes.querySelectorAll(".b, .c")].filter((each) => +each.dataset.at >= start && +each.dataset.at < end);
  const pointed = (target) => {
    const line = target.closest && target.closest(".node"), one = target.closest && target.closest("#bytes [data-at]");
    if (line) stopAt(line);
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
  const showExample = () => { const found = known.find((each) => each.name === protocol.value); if (found && found.example) { text.value = found.example; form.value = "auto"; if (found.example_role) role.value = found.example_role; } };
  let waiting = 0;
  const soon = () => { clearTimeout(waiting); waiting = setTimeout(() => look(), 250); };
  const forget = () => { asides = []; isConnection = false; cut = ""; get("stream-label").hidden = true; };
  const isExample = () => !before.value.trim() && (!text.value.trim() || known.some((each) => each.example === text.value));
  protocol.addEventListener("change", () => {
    fillRoles();
    if (!get("stream-label").hidden) { get("stream").onchange(); return; }
    forget();
    past.forEach((each) => { each.asides = []; });  // their roles are those of the other protocol
    if (isExample()) { begin(); showExample(); }
    look();
  });
  [role, form, beforeRole].forEach((select) => select.addEventListener("change", () => look()));
  [text, before].forEach((area) => area.addEventListener("input", () => { begin(); soon(); }));
  // A text in the place of another is written as it looks, whatever was chosen for that one.
  text.addEventListener("beforeinput", () => {
    const { value, selectionStart: start, selectionEnd: end } = text;
    if (value.trim() && !value.slice(0, start).trim() && !value.slice(end).trim()) form.value = "auto";
  });
  text.addEventListener("input", () => { if (!text.value.trim()) forget(); else cut = ""; });
  get("form").addEventListener("submit", (event) => event.preventDefault());
  get("undo").addEventListener("click", undo);
  get("link").addEventListener("click", async () => {
    await navigator.clipboard.writeText(location.href).then(() => { state.textContent = "The link is copied."; }, () => { state.textContent = location.href; });
  });
  // ---- files: bytes, or text that represents them
  const mostBytes = 1 << 18;
  const takeBytes = async (octets, size) => {
    forget();
    begin();
    before.value = "";
    if (octets.every((octet) => octet === 9 || octet === 10 || octet === 13 || (octet >= 32 && octet < 127))) {
      form.value = "auto";
      text.value = new TextDecoder().decode(octets);
      const answer = await ask(question());
      if (!answer.wrong) { take(answer); return; }
    }
    form.value = "auto";
    text.value = [...octets.slice(0, mostBytes)].map((octet) => octet.toString(16).padStart(2, "0")).join("");
    if (size > mostBytes) cut = `Only the first ${count(mostBytes)} bytes of the file are shown; wiregen decode reads all.`;
    look();
  };
  // ---- captures: one direction of a connection is shown, the messages of the other are known
  const most = 700000, count = (number) => number.toLocaleString("en");
  const meanwhile = ({ sides, turns }, side, roles) => {
    const found = [], at = [0, 0];
    turns.forEach(([who, size]) => {
      if (who !== side) found.push({ at: at[side], role: roles[who] ?? null, text: sides[who].hex.slice(2 * at[who], 2 * (at[who] + size)) });
      at[who] += size;
    });
    return found;
  };
  const whyCut = (end, isPart) =>
    end === "gap" ? "Behind this the capture lacks bytes." : end === "bound" ? "Only the first part of this direction is shown; wiregen decode --pcap reads all."
      : isPart ? `Only the first ${count(most)} bytes of the capture are shown; wiregen decode --pcap reads all.` : "";
  const takeFile = async (file) => {
    if (!file) return;
    const octets = new Uint8Array(await file.slice(0, most).arrayBuffer());
    let plain = "";
    octets.forEach((octet) => { plain += String.fromCharCode(octet); });
    const answer = await ask({ kind: "capture", data: btoa(plain) });
    if (answer.wrong) { takeBytes(octets, file.size); return; }
    const ways = answer.connections.flatMap((each) => [0, 1].filter((side) => each.sides[side].hex).map((side) => ({ each, side })));
    if (!ways.length) { state.textContent = `There is no TCP connection with bytes in ${file.size > most ? `the first ${count(most)} bytes of ` : ""}this capture.`; return; }
    const rolesNow = () => (known.find((each) => each.name === protocol.value) || { roles: [] }).roles;
    const choose = () => {
      const { each, side } = ways[+get("stream").value];
      const needsOther = (known.find((one) => one.name === protocol.value) || {}).needs_other;
      if (rolesNow().length > 1) role.value = rolesNow()[side];
      before.value = "";
      begin();
      // Without some bytes of a side, the sessions would miss its frames.
      isConnection = rolesNow().length > 1 && each.sides.every(({ hex, end }) => hex && end !== "gap");
      asides = isConnection || needsOther ? meanwhile(each, side, rolesNow()) : [];
      cut = whyCut(each.sides[side].end, file.size > most);
      form.value = "auto";
      text.value = each.sides[side].hex;
      look();
    };
    get("stream").replaceChildren(...ways.map(({ each, side }, at) => new Option(`${each.flow}: ${side ? "answers" : "opener"}, ${count(each.sides[side].hex.length / 2)} bytes`, at)));
    get("stream-label").hidden = false;
    get("stream").onchange = choose;
    choose();
  };
  get("file").addEventListener("change", (event) => takeFile(event.target.files[0]));
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => { event.preventDefault(); takeFile(event.dataTransfer.files[0]); });

  window.addEventListener("hashchange", () => { forget(); begin(); if (restore()) look(); });

  if (isStatic && location.protocol === "file:") {
    state.textContent = "Browsers run the codec only on pages from a server, not from a file: open this site over http, for example with `python -m http.server` in its folder.";
    return;
  }
  ask({ kind: "protocols" }).then((answer) => {
    state.textContent = answer.wrong || "";
    if (answer.wrong) return;
    known = answer.protocols || [];
    protocol.replaceChildren(...known.map((each) => new Option(each.name, each.name)));
    fillRoles();
    if (!restore()) showExample();
    look();
  });
})();
