// Tables that can be sorted and filtered. Without this script they are plain tables: the forms stay hidden and the
// headings are text.
"use strict";

const collator = new Intl.Collator("en", { numeric: true });

function value(row, column) {
  const cell = row.cells[column];
  const text = cell.dataset.value ?? cell.textContent.trim();
  const number = Number(text.replaceAll(",", "").replace(/%$/, ""));
  return text !== "" && !Number.isNaN(number) ? number : text;
}

function compare(one, other) {
  if (typeof one === "number" && typeof other === "number") return one - other;
  return collator.compare(String(one), String(other));
}

function sortBy(table, heading) {
  const down = heading.getAttribute("aria-sort") === "ascending";
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", down ? "descending" : "ascending");
  const rows = [...table.tBodies[0].rows].map((row) => [value(row, heading.cellIndex), row]);
  rows.sort(([one], [other]) => (down ? compare(other, one) : compare(one, other)));
  table.tBodies[0].append(...rows.map(([, row]) => row));
}

function makeSortable(table) {
  for (const heading of table.tHead.rows[0].cells) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    button.addEventListener("click", () => sortBy(table, heading));
    heading.append(button);
  }
}

function plain(text) {
  return text.normalize("NFKC").toLowerCase();
}

function makeFilter(form) {
  const rows = [...document.getElementById(form.dataset.filters).tBodies[0].rows];
  const texts = new Map(rows.map((row) => [row, plain(row.textContent)]));
  const selects = [...form.querySelectorAll("select")];
  const search = form.elements.namedItem("search");

  function show() {
    const words = plain(search.value).split(/\s+/).filter(Boolean);
    let count = 0;
    for (const row of rows) {
      const fits =
        words.every((word) => texts.get(row).includes(word)) &&
        selects.every((select) => select.value === "" || row.dataset[select.name] === select.value);
      row.hidden = !fits;
      count += fits;
    }
    form.querySelector("output").textContent = `${count} of ${rows.length}`;
  }

  form.addEventListener("input", show);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  show(); // a browser may have kept what was typed before
}

document.querySelectorAll("table[data-sortable]").forEach(makeSortable);
document.querySelectorAll("form[data-filters]").forEach(makeFilter);
