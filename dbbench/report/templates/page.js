(() => {
  // The figures of the run. All texts go into the page as text, never as markup.
  const doc = document, run = JSON.parse(doc.getElementById("data").textContent);
  const SORTS = [["best", "best first"], ["name", "name"], ["memory", "memory"], ["cpu", "CPU time"], ["written", "bytes written"], ["size", "size"]];
  const FORMS = [["", "rows with rows"], ["all", "rows with Arrow batches"]];
  const SCALES = [["", "as fits"], ["linear", "linear"], ["log", "logarithmic"]];
  const names = run.engines.map((e) => e[0]), parts = run.scenarios.flatMap((s) => s.steps), steps = parts.map((t) => t.id);
  const usual = () => ({ e: new Set(names), s: new Set(steps), sort: run.sort || "best", scale: "", forms: run.mixed ? "all" : "", base: "", at: "" });
  const every = (what) => doc.querySelectorAll(what);
  const byId = (id) => doc.getElementById(id);
  const { max, min, log: ln, log10, ceil, floor, exp } = Math, on = (target, kind, act) => target.addEventListener(kind, act);
  let state = usual();

  const make = (what, given = {}, ...children) => {  // "tag.class"; given, or the text alone
    const [tag, ...classes] = what.split("."), found = doc.createElement(tag);
    if (classes.length) found.className = classes.join(" ");
    if (typeof given === "string") found.textContent = given;
    else for (const [key, value] of Object.entries(given)) key in found ? (found[key] = value) : found.setAttribute(key, value);
    found.append(...children);
    return found;
  };
  const spaced = (name) => name.replace(/-/g, " ");
  const title = (engine) => run.engines[engine][1];
  const formats = {};  // to make one takes far longer than to use it
  const figure = (value) => {  // three significant digits, thousands separated
    if (!value) return "0";
    const places = min(20, max(0, 2 - value.toExponential(2).split("e")[1]));
    return (formats[places] ||= new Intl.NumberFormat("en", { minimumFractionDigits: places, maximumFractionDigits: places })).format(value);
  };
  const withUnit = (value, step) => figure(value) + step.unit;
  const times = (ratio, most = 100) => "×" + (ratio >= most ? Math.round(ratio).toLocaleString("en") : ratio.toFixed(ratio > 0 && ratio < 0.1 ? 1 - floor(log10(ratio)) : 2));
  const engines = run.engines.map((e) => [e[0], e[1]]);
  const seen = (engine) => state.e.has(names[engine]);
  const all = () => state.e.size === names.length;

  // The state in the URL's fragment, so that it can be sent to others.
  const read = () => {
    const text = location.hash.slice(1);
    if (text && !text.includes("=")) { state.at = text; return; }  // a heading
    const asked = new URLSearchParams(text), found = usual();
    const pick = (key, known) => new Set(asked.has(key) ? asked.get(key).split(",").filter((name) => known.includes(name)) : known);
    found.e = pick("engines", names); found.s = pick("steps", steps);
    for (const [key, known] of [["sort", SORTS], ["scale", SCALES], ["forms", FORMS], ["base", engines]]) if (known.some(([name]) => name === asked.get(key))) found[key] = asked.get(key);
    found.at = asked.get("at") || "";
    state = found;
  };
  const written = () => {
    const found = new URLSearchParams();
    if (!all()) found.set("engines", names.filter((name) => state.e.has(name)).join(","));
    if (state.s.size < steps.length) found.set("steps", steps.filter((name) => state.s.has(name)).join(","));
    if (state.sort !== usual().sort) found.set("sort", state.sort);
    for (const key of ["scale", "forms", "base", "at"]) if (state[key] !== usual()[key]) found.set(key, state[key]);
    return found.toString().replace(/%2C/g, ",");
  };
  const keep = () => history.replaceState(null, "", "#" + written());

  // By the rules of the report: a ratio is to the best that was verified, or to the engine chosen.
  const cost = (step, value) => (step.higher ? 1 / value : value);
  const chosen = (step) => step.rows.filter((row) => seen(row[0]));
  // Like with like: Arrow batches stand apart from rows, unless the reader wants them together; so do sizes that a URL's server told, from files.
  const [ARROW, ELSEWHERE] = [["rows", "Arrow batches", "Arrow"], ["files", "counted by the server at a URL", "URL"]];
  const sort = (step) => (step.elsewhere ? ELSEWHERE : ARROW);
  const isOther = (step, row) => !!(step.elsewhere || step.arrow)?.includes(row[0]);
  const together = (step) => (!!state.forms && !!step.other) || !step.rows.some((row) => (seen(row[0]) || names[row[0]] === state.base) && row[1] && row[6] && !isOther(step, row));
  const apart = (step, row) => isOther(step, row) && !together(step);
  const verified = (step, rows) => rows.filter((row) => row[1] && row[6] && !apart(step, row));
  const against = (step) => {
    const known = verified(step, state.base ? step.rows.filter((row) => names[row[0]] === state.base) : chosen(step)).map((row) => row[1]);
    return known.length ? (step.higher ? max(...known) : min(...known)) : null;
  };
  const ratio = (step, row, best) => (row && best && verified(step, [row]).length ? cost(step, row[1]) / cost(step, best) : null);
  const rowOf = (step, engine) => step.rows.find((row) => row[0] === engine);
  const bestsOf = (scenario) => new Map(scenario.steps.map((step) => [step, against(step)]));
  const mean = (scenario, engine, bests) => {
    let sum = 0, count = 0;
    for (const step of scenario.steps) {
      if (!step.mean || !state.s.has(step.id) || !(step.held || bests.get(step))) continue;
      const found = ratio(step, rowOf(step, engine), bests.get(step));
      if (!found) return null;
      sum += ln(found); count += 1;
    }
    return count ? exp(sum / count) : null;
  };
  // Ranks and leaders among those chosen, from the pairs that the whole run tells apart. A rank that is a text stays one.
  const beats = (step, row) => (step.other && together(step) !== !!run.mixed ? step.other[row[0]] ?? "" : row[4]);
  const isRanked = (step, row) => Array.isArray(beats(step, row));
  const rank = (step, row) => {
    const better = beats(step, row);
    if (!isRanked(step, row)) return better;
    const others = chosen(step).filter((other) => isRanked(step, other)), best = 1 + better.filter(seen).length;
    const worst = others.length - others.filter((other) => beats(step, other).includes(row[0])).length;
    return best < worst ? `${best}-${worst}` : `${best}`;
  };
  const byCost = (step) => (a, b) => cost(step, a[1]) - cost(step, b[1]);
  const leaders = (step) => {  // the first, or those that tie; and the best of the rest
    const known = verified(step, chosen(step)).sort(byCost(step)), ranked = known.filter((row) => isRanked(step, row)), [best] = known;
    if (known.length < 2 || step.withheld || (ranked[0] ?? best) !== best) return null;
    const sure = !!ranked[0], first = sure ? ranked.filter((row) => !beats(step, row).some(seen)) : known.filter((row) => cost(step, row[1]) <= 1.02 * cost(step, best[1]));
    const next = known.find((row) => !first.includes(row));
    return { who: (first.length > 1 ? "Tie: " : "") + first.map((row) => title(row[0])).sort().join(", "), gap: first.length > 1 || !next ? "" : times(ratio(step, next, first[0][1])), next, sure };
  };
  const UNSURE = ", from too few rounds to be sure";
  const aside = (shown) => {  // who is not ranked with the others
    const found = (of) => [...new Set(shown.filter((step) => state.s.has(step.id) && sort(step) === of).flatMap((step) => chosen(step).filter((row) => row[1] && apart(step, row)).map((row) => title(row[0]))))].join("; ");
    return [ARROW, ELSEWHERE].map((of) => found(of) && ` Not ranked with ${of[0]}: ${of[1]} (${found(of)}).`).join("");
  };
  const finding = (step) => {
    const found = leaders(step);
    return (found ? found.who + (found.next ? "; then " + `${title(found.next[0])} ${found.gap}`.trim() : "") + (found.sure ? "." : UNSURE + ".") : "") + aside([step]);
  };
  const summary = (scenarios) => {
    const means = names.map((_, engine) => {
      const each = scenarios.map((scenario) => mean(scenario, engine, bestsOf(scenario)));
      return [engine, each.every((found) => found) ? exp(each.reduce((sum, found) => sum + ln(found), 0) / each.length) : null];
    }).filter(([engine, found]) => found && seen(engine)).sort((a, b) => a[1] - b[1]);
    if (means.length < 2) return "";
    const first = means.slice(0, 3).map(([engine, found]) => title(engine) + " " + times(found)).join("; then ");
    const sure = scenarios.flatMap((each) => each.steps).some((step) => step.mean && state.s.has(step.id) && chosen(step).some((row) => isRanked(step, row)));
    return `Of the figures shown, by the mean over the steps: ${first} ${state.base ? "of " + state.base : "the best result"}${sure ? "" : UNSURE}.${scenarios.length < run.scenarios.length ? "" : aside(parts)}`;
  };
  const wins = () => {
    const found = new Map();
    for (const step of parts) {
      const first = step.mean && state.s.has(step.id) ? leaders(step) : null;
      if (first) found.set(first.who, [...(found.get(first.who) || [make("b", first.who)]), make("a", { href: "#" + step.id }, spaced(step.name), first.gap && make("i", " " + first.gap))]);
    }
    return [...found.values()].map((links) => make("p", {}, ...links));
  };
  const USED = { memory: 1, cpu: 2, written: 3, size: 4 };
  const order = (scenario, rows, engine, best) => {
    if (state.sort === "best") return best ? [...rows].sort(best) : rows;
    const used = new Map(scenario.used.map((each) => [each[0], each]));
    const key = (row) => (state.sort === "name" ? title(engine(row)).toLowerCase() : (used.get(engine(row)) || [])[USED[state.sort]] ?? Infinity);
    return [...rows].sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0));
  };

  const said = (step, row, found) => {
    const [engine, value, low, high, , words, verified, rounds] = row, lines = [title(engine)];
    if (value === null) lines.push(words);
    else {
      if (step.id) lines.push(withUnit(value, step) + (verified ? "" : ", not verified"));
      if (low !== null) lines.push(`${step.interval}: ${figure(low)} to ${withUnit(high, step)}`);
      if (found) lines.push(`${times(found)} of ${state.base || "the best shown"}`);
      if (rank(step, row)) lines.push(`rank ${rank(step, row)}`);
      if (rounds > 1) lines.push(`${rounds} rounds`);
      if (apart(step, row)) lines.push(`${sort(step)[1]}: not ranked with ${sort(step)[0]}`);
      lines.push(words);
    }
    return [...lines, run.engines[engine][2]].filter(Boolean).join("\n");
  };

  const ticks = (log, from, most) => {
    if (!(most > 0)) return [];
    if (log) {
      const first = floor(log10(from)), powers = [...Array(floor(log10(most)) - first + 1).keys()].map((place) => Number(`1e${first + place}`));
      const whole = powers.filter((value) => value >= from), finer = powers.flatMap((value) => [value, 2 * value, 5 * value]).filter((value) => value >= from && value <= most);
      if (whole.length > 1) return whole.filter((_, place) => place % ceil(whole.length / 6) === 0);
      if (finer.length > 1) return finer;
    }
    const rough = most / 5, power = 10 ** floor(log10(rough)), step = [1, 2, 5, 10].find((each) => each * power >= rough) * power;
    return [...Array(floor(most / step) + 1).keys()].map((place) => Number((place * step).toPrecision(10))).filter((value) => !log || value >= from);
  };
  // The bars stand in the page; a choice sorts them, and moves their marks to the axis that it has.
  const lists = new Map([...every("ul.bars")].map((ul) => [ul.dataset.list, {
    ul, items: new Map([...ul.children].map((li) => [Number(li.dataset.e), li])), log: ul.classList.contains("log"), axis: ul.dataset.axis.split(" ").map(Number),
    marks: [...ul.querySelectorAll("svg *")].map((mark) => [mark, Object.fromEntries(["x", "width", "cx", "x1", "x2"].filter((key) => mark.hasAttribute(key)).map((key) => [key, parseFloat(mark.getAttribute(key))]))]),
  }]));
  const move = (list, log, low, high) => {
    const [from, to] = list.axis, scale = log ? ln : (value) => value;
    const value = (share) => (list.log ? from * (to / from) ** (share / 100) : (to * share) / 100);
    const place = (share) => max(0, min(((scale(value(share)) - scale(low)) / (scale(high) - scale(low))) * 100, 100));
    for (const [mark, { width, ...known }] of list.marks) {
      const { x = 0 } = known;
      for (const key in known) mark.setAttribute(key, `${place(known[key]).toFixed(2)}%`);
      if (width !== undefined) mark.setAttribute("width", `${(place(x + width) - (x && place(x))).toFixed(2)}%`);
    }
    const shares = ticks(log, low, high).map((value) => [value, (scale(value) - scale(low)) / (scale(high) - scale(low)) * 100]);
    list.ul.nextElementSibling.firstChild.replaceChildren(...shares.map(([value, share]) => make("span", { textContent: value.toLocaleString("en", { maximumSignificantDigits: 6 }), style: `left:${share.toFixed(2)}%` })));
  };
  const arrange = (scenario, step, list) => {
    const group = (row) => (row[1] === null ? 3 : row[6] ? apart(step, row) : 2);
    const again = step.other && together(step) !== !!run.mixed && ((a, b) => group(a) - group(b) || byCost(step)(a, b) || 0);
    const rows = order(scenario, chosen(step), (row) => row[0], again), best = against(step), items = rows.map((row) => list.items.get(row[0]));
    for (const item of list.items.values()) item.hidden = !items.includes(item);
    if (items.some((item, place) => item.nextElementSibling !== (items[place + 1] || null))) list.ul.append(...items);
    rows.forEach((row, place) => {
      const item = items[place], found = ratio(step, row, best);
      item.tip = () => said(step, row, found);
      item.tabIndex = 0;
      item.setAttribute("aria-label", item.tip().replace(/\n/g, "; "));
      if (step.id) item.firstChild.textContent = rank(step, row);
      if (row[1] !== null) item.lastChild.textContent = found ? times(found) : apart(step, row) ? sort(step)[2] : "";
    });
    const ends = items.flatMap((item, place) => (item.dataset.ends?.split(" ") ?? rows[place].slice(1, 4)).filter(Boolean).map(Number)), most = max(...ends, 0), least = min(...ends, most);
    const wide = all() && !state.scale ? list.log : state.scale === "log" || (!state.scale && (step.log || (step.auto && most / least > 100)));
    const log = wide && least > 0, axis = all() && log === list.log ? list.axis : log ? [least / 1.8, most * 1.5] : [0, most * 1.04], key = [log, axis].join();
    if ((list.key || [list.log, list.axis].join()) === key) return;
    list.key = key;
    list.ul.classList.toggle("log", log);
    if (most > 0) move(list, log, ...axis);
  };

  const overview = (scenario) => {
    const shown = scenario.steps.filter((step) => state.s.has(step.id)), bests = bestsOf(scenario);
    const there = [...names.keys()].filter((place) => seen(place) && scenario.steps.some((step) => rowOf(step, place)));
    const means = new Map(there.map((engine) => [engine, mean(scenario, engine, bests)]));
    const sorted = order(scenario, there, (engine) => engine, (a, b) => (means.get(a) ?? Infinity) - (means.get(b) ?? Infinity) || 0);
    const cell = (step, engine) => {
      const row = rowOf(step, engine), found = ratio(step, row, bests.get(step)), cell = make("td");
      if (row && row[1] !== null) {
        cell.append(found ? times(found, 10) + " " : "", make("small", withUnit(row[1], step)));
        if (found) cell.style.setProperty("--a", min(max(log10(found), 0) / 2, 1).toFixed(2));
      } else cell.append(make("small.note", row ? row[5].split(":")[0] : "–"));
      return cell;
    };
    const columns = [["mean", (engine) => make("td", {}, make("b", means.get(engine) ? times(means.get(engine)) : "–"))], ...shown.map((step) => [spaced(step.name), (engine) => cell(step, engine)])];
    const length = ceil(columns.length / ceil(columns.length / 9)), bands = [];
    while (columns.length) {
      const part = columns.splice(0, length);
      bands.push(make("table.heat", {}, make("thead", {}, make("tr", {}, make("th", "Engine"), ...part.map(([name]) => make("th", name)))), make("tbody", {}, ...sorted.map((engine) => make("tr", {}, make("th", { scope: "row", textContent: title(engine) }), ...part.map(([, of]) => of(engine)))))));
    }
    const what = `Times ${state.base ? state.base + "'s figure" : "the step's best" + (all() ? "" : " of the engines chosen")}, with the figure under it; mean: the geometric mean over the timed steps shown. The stronger the colour, the further behind.`;
    const region = scenario.box.lastElementChild.cloneNode();
    region.append(...bands);
    return [make("p.note", what), region];
  };

  const used = (scenario) => {  // what whole trials took
    for (const [place, key] of ["peak_memory", "cpu_seconds", "written_bytes"].entries()) {
      const list = lists.get(`${scenario.id}-${key}`), value = (each) => each[place + 1];
      const rows = scenario.used.filter((each) => value(each) !== null).map((each) => [each[0], value(each), null, null, "", "", true]).sort((a, b) => a[1] - b[1]);
      if (list) arrange(scenario, { rows, auto: true }, list);
    }
  };

  // What was worded of the whole run: worded of the choice, or left out where it names an engine that isn't shown.
  const worded = [...every(".verdict, .wins, .finding")].map((box) => [box, [...box.childNodes]]), remarks = [...every("main > p:not(#method + p), section > p, details > p, main tr")];
  const longest = [...run.engines].sort((a, b) => b[1].length - a[1].length);  // one title may begin another
  const named = (text) => {
    const words = text.split(/[^\w+@.-]+/);
    return longest.filter(([name, called]) => {
      const found = text.includes(called);
      text = text.replaceAll(called, " ");
      return found || words.includes(name);
    }).map(([name]) => name);
  };
  const retell = (whole) => {
    for (const [box, nodes] of worded) {
      const id = box.parentNode.querySelector("h2")?.id, step = box.closest("section") && parts.find((each) => each.id === id);
      const of = box.dataset.of ? run.scenarios.filter((each) => each.id === box.dataset.of) : run.scenarios;
      box.replaceChildren(...(whole ? nodes : box.matches(".wins") ? wins() : [step ? finding(step) : summary(of)]));
    }
    for (const box of remarks) {
      if (box.dataset.e || worded.some(([each]) => each === box)) continue;
      box.hidden = !box.querySelector("table") && named(box.textContent).some((name) => !state.e.has(name));
    }
    for (const box of every(".chart:not([data-live])")) {  // one in a section is of its step alone
      box.hidden = !(box.closest("section") ? all() : whole);
      if (box.previousElementSibling.matches("h2")) box.previousElementSibling.hidden = box.hidden;
    }
    for (const item of every("nav li")) item.hidden = !!byId(item.firstElementChild.hash.slice(1))?.closest("[hidden]");
  };
  const show = () => {
    const whole = all() && state.s.size === steps.length && !state.base && state.forms === usual().forms;
    for (const scenario of run.scenarios) {
      scenario.box.replaceChildren(...(whole && state.sort === usual().sort ? scenario.nodes : overview(scenario)));
      used(scenario);
      for (const step of scenario.steps) {
        const list = lists.get(step.id);
        list.ul.closest("section").hidden = !state.s.has(step.id);
        if (state.s.has(step.id)) arrange(scenario, step, list);
      }
    }
    for (const each of every("[data-e]")) each.hidden = !seen(each.dataset.e);
    for (const plans of every("section details")) plans.hidden = plans.querySelector("summary [data-e]") && !plans.querySelector("summary [data-e]:not([hidden])");
    retell(whole);
    for (const box of every("#explore [name]")) {
      if (box.type === "checkbox") box.checked = state[box.name].has(box.value);
      else box.value = state[box.name];
    }
    for (const [key, known] of [["e", names], ["s", steps]]) byId(`count-${key}`).textContent = `${state[key].size} of ${known.length}`;
  };
  const changed = (kept) => { state = kept || state; keep(); show(); };

  const button = (textContent, onclick) => make("button", { type: "button", textContent, onclick });
  const choices = (key, name, known) => {
    const boxes = make("div.choices");
    for (const [value, text] of known) {
      const box = make("input", { type: "checkbox", name: key, value });
      on(box, "change", () => { state[key][box.checked ? "add" : "delete"](value); changed(); });
      boxes.append(make("label", {}, box, " ", text));
    }
    const set = (text, values) => button(text, () => changed({ ...state, [key]: new Set(values) }));
    return make("details", {}, make("summary", {}, `${name}: `, make("span", { id: `count-${key}` })), set("All", known.map((each) => each[0])), " ", set("None", []), boxes);
  };
  const select = (key, name, known) => {
    const box = make("select", { name: key });
    for (const [value, text] of known) box.append(make("option", { value, textContent: text }));
    on(box, "change", () => { state[key] = box.value; changed(); });
    return make("label", {}, `${name} `, box);
  };
  const controls = () => byId("explore").append(
    make("div.row", {}, select("sort", "Sort by", SORTS), select("scale", "Scale", SCALES),
      ...(parts.some((step) => step.other) ? [select("forms", "Rank", FORMS)] : []),
      select("base", "Ratios to", [["", "the best"], ...engines]),
      button("Reset", () => changed(usual()))),
    choices("e", "Engines", engines), choices("s", "Steps", parts.map((t) => [t.id, t.title])));

  const tip = make("div", { id: "tip", role: "tooltip" });
  const point = (event) => {
    const item = event.target.closest?.(".bars li");
    tip.className = item ? "on" : "";
    if (!item) return;
    tip.textContent = item.tip();
    const box = item.getBoundingClientRect();
    tip.style.left = `${max(8, min(box.left + 60, innerWidth - 370)) + scrollX}px`;
    tip.style.top = `${box.bottom + scrollY}px`;
  };

  // The figures of the engines chosen, or a frame that shows this part of the page.
  const escaped = { Markdown: (cell) => cell.replace(/[\\|*_<\x60[]/g, "\\$&"), CSV: (cell) => `"${cell.replace(/^\s*(?:[=@]|[+-](?![\d.]*$))/, "'$&").replace(/\x22/g, "$&$&")}"` };
  const raw = (scenario, step, words) => {  // numbers as they are, or words in their place, with their units in the header
    const shown = scenario.steps.filter((each) => state.s.has(each.id)), head = (name, each) => `${name} (${each.unit.trim()})`;
    return step
      ? [["Engine", "Rank", ...["Value", "Low", "High"].map((name) => head(name, step)), "Ratio"], ...chosen(step).map((row) => [title(row[0]), rank(step, row), row[1] ?? (words && row[5]), row[2], row[3], ratio(step, row, against(step))])]
      : [["Engine", "Mean ratio", ...shown.map((each) => head(each.name, each))], ...run.engines.map((each, engine) => [each[1], mean(scenario, engine, bestsOf(scenario)), ...shown.map((one) => rowOf(one, engine)?.[1])]).filter((_, engine) => seen(engine))];
  };
  const copied = (kind, box, id, step, scenario) => {
    if (kind === "iframe") {
      const kept = state;
      state = { ...state, s: step ? new Set([id]) : state.s, at: id };
      const place = `${location.href.split("#")[0]}#${written()}`;
      state = kept;
      return `<iframe src="${place.replace(/&/g, "&amp;")}" title="dbbench" width="100%" height="600"></iframe>`;
    }
    const csv = kind === "CSV", bands = [...box.querySelectorAll(".heat")], [table, ...more] = bands[0] ? bands : [doc.querySelector(`[data-live="${id}"] ~ .wide table`)];
    const found = step || (csv && scenario) ? raw(scenario, step, !csv) : [...table.rows].filter((row) => !row.hidden).map((row, place) => [...row.cells, ...more.flatMap((each) => [...each.rows[place].cells].slice(1))].map((cell) => cell.textContent.replace(/\s+/g, " ").trim()));
    const lines = found.map((cells) => cells.map((cell) => (typeof cell !== "number" ? escaped[kind](cell || "") : csv ? Number(cell.toPrecision(5)) : figure(cell))));
    if (csv) return lines.join("\n");
    lines.splice(1, 0, lines[0].map(() => "---"));
    return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
  };
  const copies = (...of) => {
    const text = make("textarea", { hidden: true, readOnly: true, "aria-label": "Copied text" });
    return make("div.live.copy", {}, "Copy as ", ...["Markdown", "CSV", "iframe"].map((kind) => button(kind, () => {
      text.hidden = false;
      text.value = copied(kind, ...of);
      text.select();  // where the browser lets no script copy, it is one key away
      doc.execCommand("copy");
    })), text);
  };

  doc.body.append(tip);
  for (const kind of ["mouseover", "focusin", "focusout"]) on(doc, kind, point);
  on(doc, "keydown", (event) => { if (event.key === "Escape") tip.className = ""; });
  for (const scenario of run.scenarios) {
    for (const [id, step, of] of [[scenario.id, null, scenario], [`${scenario.id}-used`], ...scenario.steps.map((each) => [each.id, each, scenario])]) {
      const box = doc.querySelector(`[data-live="${id}"]`);
      if (!box) continue;
      box.before(copies(box, id, step, of));
      if (!step && of) [of.box, of.nodes] = [box, [...box.childNodes]];  // the table in colour, as it is of the whole run
    }
  }
  on(doc, "click", (event) => {  // a link to a heading takes the state with it
    if (!event.target.matches?.(".anchor") || !written()) return;
    event.preventDefault();
    state.at = event.target.hash.slice(1);
    keep();
  });
  const go = () => byId(state.at)?.scrollIntoView();
  on(window, "hashchange", () => { read(); show(); go(); });
  read(); controls(); doc.documentElement.classList.add("js"); show(); go();
})();
