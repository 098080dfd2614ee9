// What a reader may do beside reading: sort a table, show one framework, choose methods to colour, copy code.
"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const say = (words) => { document.getElementById("said").textContent = words; };

  // Sorting: a button in each head. What has no key stays last either way.
  const keyOf = (row, column) => row.children[column].dataset.key;
  const compare = (a, b, numbers) => numbers ? a - b : a.localeCompare(b, undefined, { numeric: true });
  const sort = (head) => {
    const table = head.closest("table");
    const body = table.tBodies[0];
    const column = head.cellIndex;
    const numbers = head.classList.contains("n");
    const now = head.getAttribute("aria-sort");
    const order = now === null ? head.dataset.first : now === "ascending" ? "descending" : "ascending";
    all("th[aria-sort]", table.tHead).forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", order);
    const sign = order === "ascending" ? 1 : -1;
    const rows = [...body.rows].sort((one, other) => {
      const a = keyOf(one, column), b = keyOf(other, column);
      if (a === undefined || b === undefined) return (a === undefined) - (b === undefined);
      return sign * compare(a, b, numbers);
    });
    body.append(...rows);
    say(`Sorted by ${head.textContent}, ${order}.`);
  };
  for (const table of all("table.wide")) {
    if (table.tBodies[0].rows.length < 6) continue; // short ones are seen at a glance
    for (const head of all("th", table.tHead)) {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      button.addEventListener("click", () => sort(head));
      head.append(button);
    }
  }

  // A box that scrolls can be reached by the keyboard, one that does not is no stop on the way.
  const reach = ({ target }) => {
    if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
    else target.removeAttribute("tabindex");
  };
  const boxesOfTables = new ResizeObserver((seen) => seen.forEach(reach));
  for (const box of all(".scrolls")) boxesOfTables.observe(box);

  // One framework or all.
  const filter = document.querySelector(".filter");
  if (filter) {
    filter.hidden = false;
    const show = () => {
      const name = filter.querySelector("input:checked").value;
      for (const part of all("[data-framework]")) {
        part.classList.toggle("filtered", name !== "" && part.dataset.framework !== name);
      }
      say(name === "" ? "All frameworks are shown." : `Only ${name} is shown.`);
    };
    filter.addEventListener("change", show);
    if (!filter.querySelector("input").checked) show(); // what the browser has kept over a reload
  }

  // Methods in colour: the same in all figures. One that is chosen takes the colour that fewest have.
  const COLOURS = ["c1", "c2", "c3", "c4", "c5", "c6"];
  const boxes = all("[data-choose]");
  const own = new Map(boxes.map((box) => [box.dataset.choose, box.closest("li").classList[0]]));
  const worn = new Map([...own].filter(([, colour]) => colour !== "c0"));
  const wear = (method, colour) => {
    for (const part of all(`[data-m="${method}"]`)) {
      part.classList.remove("c0", "cr", ...COLOURS);
      part.classList.add(colour);
      if (part instanceof SVGGElement && colour !== "c0") part.parentNode.append(part); // on top of the others
    }
  };
  for (const box of boxes) {
    box.hidden = false;
    const choose = () => {
      const method = box.dataset.choose;
      if (box.checked === worn.has(method)) return;
      if (!box.checked) {
        worn.delete(method);
        wear(method, "c0");
        return;
      }
      const counts = COLOURS.map((colour) => [...worn.values()].filter((other) => other === colour).length);
      const first = own.get(method);
      const free = COLOURS[counts.indexOf(Math.min(...counts))];
      const colour = first !== "c0" && ![...worn.values()].includes(first) ? first : free;
      worn.set(method, first === "cr" ? "cr" : colour);
      wear(method, worn.get(method));
    };
    box.addEventListener("change", choose);
    choose();
  }

  // Copying, where the browser can.
  for (const place of all(".code")) {
    const button = document.createElement("button");
    const show = (word) => {
      button.textContent = word;
      button.setAttribute("aria-label", `${word} ${place.dataset.what}`);
    };
    button.type = "button";
    show("Copy");
    button.addEventListener("click", async () => {
      const code = place.querySelector("code");
      try {
        await navigator.clipboard.writeText(code.textContent);
        show("Copied");
        say("Copied.");
      } catch {
        getSelection().selectAllChildren(code);
        show("Selected");
        say("Selected; copy it with the keyboard.");
      }
    });
    place.append(button);
  }

  // Paper has everything open, and afterwards the page is as it was.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = all("details:not([open])");
    opened.forEach((part) => { part.open = true; });
  });
  addEventListener("afterprint", () => opened.forEach((part) => { part.open = false; }));
})();
