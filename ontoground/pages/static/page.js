// Sorting of tables, suggestions of names, and what a mention is: everything else works without a script.
"use strict";

const valueOf = (row, column) => {
  const cell = row.cells[column];
  return "n" in cell.dataset ? Number(cell.dataset.n) : cell.textContent.trim();
};

const compared = (one, other) =>
  typeof one === "number" && typeof other === "number" ? one - other : String(one).localeCompare(String(other));

for (const button of document.querySelectorAll("table.sortable th button")) {
  button.addEventListener("click", () => {
    const head = button.closest("th");
    const body = button.closest("table").tBodies[0];
    const numbers = body.rows.length && body.rows[0].cells[head.cellIndex].classList.contains("n");
    const before = head.getAttribute("aria-sort");
    const sort = before ? (before === "descending" ? "ascending" : "descending") : numbers ? "descending" : "ascending";
    for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", sort);
    const sign = sort === "ascending" ? 1 : -1;
    const rows = [...body.rows].map((row) => [valueOf(row, head.cellIndex), row]);
    rows.sort((one, other) => sign * compared(one[0], other[0]));
    body.append(...rows.map((pair) => pair[1]));
  });
}

for (const field of document.querySelectorAll("input[data-suggest]")) {
  let waiting = 0;
  field.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(async () => {
      const answer = await fetch(`/suggest?q=${encodeURIComponent(field.value)}`);
      if (!answer.ok) return;
      const options = (await answer.json()).map(([cui, name]) => {
        const option = document.createElement("option");
        option.value = cui;
        option.label = `${name} (${cui})`;
        return option;
      });
      field.list.replaceChildren(...options);
    }, 200);
  });
}

for (const mention of document.querySelectorAll("a.mention")) {
  mention.addEventListener("click", (event) => {
    event.preventDefault();
    for (const card of document.querySelectorAll(".card.shown")) card.classList.remove("shown");
    for (const id of mention.dataset.more.trim().split(" ")) document.getElementById(id).classList.add("shown");
  });
}

const legend = document.getElementById("legend");
if (legend) {
  const filter = () => {
    const hidden = [...legend.elements].filter((one) => one.name && !one.checked).map((one) => one.name);
    for (const mention of document.querySelectorAll("a.mention")) {
      mention.classList.toggle("off", hidden.some((name) => mention.classList.contains(name)));
    }
  };
  legend.addEventListener("change", filter);
  filter();
}

document.getElementById("sql")?.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.ctrlKey) event.target.form.requestSubmit();
});
