// Linked histograms: bars of a column are buttons, and the bars of all other columns count the drawn rows that
// fit what was chosen. Everything is in the page already; nothing is asked for, kept or sent.
"use strict";

(() => {
  const at = (id) => document.getElementById(id);
  const content = JSON.parse(at("explore-content").textContent);
  const { columns, tables } = content;
  const words = at("explore").dataset;
  const written = (rows) => Math.round(rows).toLocaleString(document.documentElement.lang);
  const chosen = columns.map(() => new Set()); // of each column the numbers of its chosen bars

  for (const column of columns) {
    column.codes = Uint8Array.from(atob(column.codes), (sign) => sign.charCodeAt(0));
    column.bars = column.labels.map((_, bar) => Math.min(column.width, column.cells - bar * column.width));
    column.merged = new Set(column.merged.map((cell) => Math.floor(cell / column.width)));
  }

  // What is chosen stands in the address after #, as numbers of columns and bars: browsers do not send it.
  const whole = (text) => (/^\d+$/.test(text) ? Number(text) : NaN);

  function readAddress() {
    chosen.forEach((bars) => bars.clear());
    for (const [name, bars] of new URLSearchParams(location.hash.slice(1))) {
      const number = whole(name);
      for (const bar of bars.split(".").map(whole)) {
        if (columns[number]?.labels[bar] !== undefined) chosen[number].add(bar);
      }
    }
  }

  function writeAddress() {
    const parts = chosen.flatMap((bars, number) => (
      bars.size ? [`${number}=${[...bars].sort((a, b) => a - b).join(".")}`] : []));
    history.replaceState(null, "", `${location.href.split("#")[0]}${parts.length ? "#" : ""}${parts.join("&")}`);
  }

  // What a column multiplies the variance of a term by, when so many of its cells are added up.
  const FACTORS = {
    sum: (cells) => cells,
    inside: (cells, size) => cells * (1 - cells / size),
    outside: (cells, size) => (cells / size) ** 2,
  };

  // Rows that noise alone may make of the cells that fit, by the most precise noisy table that holds these
  // columns, each cell by itself; null where none does. `fits` has the bars of each column, by its number.
  function noiseOf(fits) {
    let least = null;
    for (const table of tables) {
      const held = [...fits.keys()].every((number) => table.columns.includes(number));
      const apart = table.columns.every((number, axis) => !fits.has(number)
        || table.sizes[axis] === columns[number].cells
        || fits.get(number).every((bar) => !columns[number].merged.has(bar)));
      if (!held || !apart) continue;
      const added = table.columns.map((number, axis) => (fits.has(number)
        ? fits.get(number).reduce((cells, bar) => cells + columns[number].bars[bar], 0)
        : table.sizes[axis]));
      const variance = table.terms.reduce((sum, [drawn, kinds]) => sum + kinds.reduce(
        (product, kind, axis) => product * FACTORS[kind](added[axis], table.sizes[axis]), drawn), 0);
      const rows = Math.ceil(table.deviations * Math.sqrt(variance)) + 1; // averages are not whole
      if (least === null || rows < least) least = rows;
    }
    return least;
  }

  // The bars that are chosen in all columns but one.
  function others(number) {
    return new Map(chosen.flatMap((bars, other) => (bars.size && other !== number ? [[other, [...bars]]] : [])));
  }

  // Whether so many drawn rows are a number: `few` where noise or the drawing may have made them, `model` where
  // no noisy table holds the columns together; then the noise of the first column alone is the floor.
  function judged(drawn, fits) {
    const noise = noiseOf(fits);
    const floor = noise ?? Math.max(...[...fits].map((one) => noiseOf(new Map([one])) ?? 0));
    const few = drawn < content.fewest || drawn * content.scale < floor;
    return { few, model: noise === null };
  }

  // Drawn rows in each bar of each column, of those that fit what is chosen in the other columns; and of all.
  function counted() {
    const filters = columns.flatMap((column, number) => {
      if (!chosen[number].size) return [];
      const misses = Uint8Array.from(column.labels, (_, bar) => (chosen[number].has(bar) ? 0 : 1));
      return [{ codes: column.codes, misses, number }];
    });
    const missed = new Uint8Array(content.drawn); // columns whose choice the row does not fit
    const last = new Int8Array(content.drawn).fill(-1); // the last of them
    for (const { codes, misses, number } of filters) {
      for (let row = 0; row < content.drawn; row += 1) {
        if (misses[codes[row]]) {
          missed[row] += 1;
          last[row] = number;
        }
      }
    }
    const counts = columns.map((column, number) => {
      const rows = new Uint32Array(column.labels.length);
      for (let row = 0; row < content.drawn; row += 1) {
        if (!missed[row] || (missed[row] === 1 && last[row] === number)) rows[column.codes[row]] += 1;
      }
      return rows;
    });
    return { counts, all: missed.reduce((rows, misses) => rows + !misses, 0) };
  }

  function made(parent, tag, name, text = "") {
    const element = document.createElement(tag);
    element.className = name;
    element.textContent = text;
    parent.append(element);
    return element;
  }

  // A column as a toolbar: Tab comes to one of its bars, arrows go from bar to bar.
  columns.forEach((column, number) => {
    const box = made(at("explore-columns"), "div", "column");
    const heading = made(box, "h3", "", column.name);
    heading.id = `explore-column-${number}`;
    const toolbar = made(box, "div", "bars");
    toolbar.setAttribute("role", "toolbar");
    toolbar.setAttribute("aria-orientation", "vertical");
    toolbar.setAttribute("aria-labelledby", heading.id);
    column.buttons = column.labels.map((label, bar) => {
      const button = made(toolbar, "button", "bar");
      button.type = "button";
      button.tabIndex = bar ? -1 : 0;
      const parts = { button, fill: made(button, "span", "fill"), error: made(button, "span", "error") };
      made(button, "bdi", "label", label);
      parts.count = made(button, "span", "count");
      button.addEventListener("click", () => {
        if (!chosen[number].delete(bar)) chosen[number].add(bar);
        focusOn(column, bar);
        writeAddress();
        show();
      });
      return parts;
    });
    toolbar.addEventListener("keydown", (event) => {
      const bar = column.buttons.findIndex(({ button }) => button === document.activeElement);
      const last = column.buttons.length - 1;
      const next = { ArrowDown: bar + 1, ArrowRight: bar + 1, ArrowUp: bar - 1, ArrowLeft: bar - 1, Home: 0, End: last }[event.key];
      if (next === undefined) return;
      event.preventDefault();
      focusOn(column, Math.min(last, Math.max(0, next))).focus();
    });
  });

  function focusOn(column, bar) {
    column.buttons.forEach(({ button }, place) => { button.tabIndex = place === bar ? 0 : -1; });
    return column.buttons[bar].button;
  }

  function show() {
    performance.mark("explore-filter");
    const { counts, all } = counted();
    columns.forEach((column, number) => {
      const fits = others(number);
      const measured = !fits.size; // then what was measured is shown, with its interval
      const rows = measured ? column.values : Array.from(counts[number], (drawn) => drawn * content.scale);
      const share = 100 / Math.max(1, ...rows, ...(measured ? column.high : []));
      column.buttons.forEach(({ button, fill, error, count }, bar) => {
        const { few, model } = judged(
          measured ? column.values[bar] / content.scale : counts[number][bar], new Map([...fits, [number, [bar]]]));
        button.setAttribute("aria-pressed", chosen[number].has(bar));
        button.classList.toggle("hatched", few || model);
        fill.style.width = `${rows[bar] * share}%`;
        error.hidden = !measured;
        error.style.left = `${column.low[bar] * share}%`;
        error.style.width = `${(column.high[bar] - column.low[bar]) * share}%`;
        count.textContent = few ? words.few : written(rows[bar]);
        count.title = model ? words.model : "";
        if (model && !few) made(count, "span", "unseen", `, ${words.model}`);
      });
    });
    const every = others(-1);
    let rows = all * content.scale;
    if (every.size === 1) { // as the bars themselves say, which show what was measured
      rows = [...every].flatMap(([number, bars]) => bars.map((bar) => columns[number].values[bar]))
        .reduce((sum, value) => sum + value, 0);
    }
    const { few, model } = judged(rows / content.scale, every);
    const some = few ? words.few : words.some.replace("{rows}", written(rows));
    at("explore-clear").disabled = !every.size;
    at("explore-status").textContent = !every.size ? words.all : model && !few ? `${some}, ${words.model}` : some;
    performance.measure("explore-filter", "explore-filter");
  }

  at("explore-clear").addEventListener("click", () => {
    chosen.forEach((bars) => bars.clear());
    writeAddress();
    show();
    columns[0].buttons.find(({ button }) => button.tabIndex === 0).button.focus();
  });
  addEventListener("hashchange", () => {
    readAddress();
    show();
  });
  readAddress();
  at("explore").hidden = false;
  show();
})();
