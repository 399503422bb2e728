// Sorting of tables, suggestions of names, what a mention is, and answers that are kept at once: all else needs no script.
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

// A row's link to its mention: its card is shown too.
if (location.hash.startsWith("#o")) document.querySelector(`${location.hash} + a.mention`)?.click();

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

// Review: an answer is kept as soon as it is given, one after the other, and a failure stays in view until it is mended.
const sheet = document.getElementById("answer");
if (sheet) {
  const kept = document.getElementById("kept");
  const failed = document.getElementById("failed");
  let unsaved = false;
  let retry = 0;
  let last = Promise.resolve(true);

  const loud = (words) => {
    failed.textContent = `NOT KEPT: ${words}`;
    failed.hidden = false;
    kept.textContent = "";
    return false;
  };

  const send = async () => {
    clearTimeout(retry);
    const sent = new URLSearchParams(new FormData(sheet));
    let answer;
    try {
      answer = await fetch(sheet.action, { method: "POST", body: sent, headers: { accept: "application/json" } });
    } catch {
      retry = setTimeout(save, 3000);
      return loud("the server does not answer. Your answer stands here only; it is sent again every 3 seconds.");
    }
    let said = {};
    try {
      said = await answer.json();
    } catch {
      return loud(`the server refused (${answer.status}). Open the address that you were given again.`);
    }
    if (!answer.ok) return loud(answer.status === 409 ? `${said.error}\nReload this page to see it.` : said.error);
    sheet.elements.version.value = said.version;
    unsaved = unsaved && sent.toString() !== new URLSearchParams(new FormData(sheet)).toString().replace(/version=\w+/, `version=${sent.get("version")}`);
    failed.hidden = true;
    kept.textContent = `kept at ${said.saved}`;
    document.getElementById("progress").textContent = `${said.done} of ${said.of} answered`;
    return true;
  };

  // The right words of the record: where a selection stands in the text that is shown, in code points.
  const spans = sheet.elements.spans;
  const draw = () => {
    const chips = JSON.parse(spans.value).map((span, at) => {
      const chip = document.createElement("button");
      chip.type = "button";
      chip.title = "Take it away";
      chip.textContent = `${span.role}: ${span.text} ×`;
      chip.addEventListener("click", () => choose(JSON.parse(spans.value).filter((_, other) => other !== at)));
      return chip;
    });
    document.getElementById("spans").replaceChildren(...chips);
  };
  const choose = (list) => {
    spans.value = JSON.stringify(list);
    draw();
    spans.dispatchEvent(new Event("change", { bubbles: true }));
  };
  for (const button of sheet.querySelectorAll("button[data-role]")) {
    button.addEventListener("click", () => {
      const record = document.querySelector(".context .prose");
      const chosen = getSelection();
      const range = chosen.rangeCount ? chosen.getRangeAt(0) : null;
      const words = range?.toString().trim();
      if (!words || !record.contains(range.commonAncestorContainer)) return;
      const before = document.createRange();
      before.selectNodeContents(record);
      before.setEnd(range.startContainer, range.startOffset);
      const begin = [...before.toString(), ...range.toString().match(/^\s*/)[0]].length;
      const span = { begin_offset: begin, end_offset: begin + [...words].length, text: words, role: button.dataset.role };
      choose([...JSON.parse(spans.value), span]);
    });
  }
  draw();

  const save = () => (last = last.then(send));
  const chosen = () => Boolean(new FormData(sheet).get("answer"));
  const turn = async (rel) => {
    const link = document.querySelector(`.turn a[rel="${rel}"]`);
    if (link && (!unsaved || (await save()))) link.click();
  };

  sheet.addEventListener("input", () => (unsaved = true));
  sheet.addEventListener("change", () => {
    unsaved = true;
    if (chosen()) save();
  });
  sheet.addEventListener("submit", (event) => {
    event.preventDefault();
    unsaved = true;
    turn("next");
  });
  window.addEventListener("beforeunload", (event) => {
    if (unsaved) event.preventDefault();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.ctrlKey) {
      event.preventDefault();
      return sheet.requestSubmit();
    }
    const writes = event.target.matches("textarea, select, input:not([type=radio])");
    if (writes || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "n") turn("next");
    else if (event.key === "p") turn("prev");
    else sheet.querySelectorAll("input[type=radio]")[Number(event.key) - 1]?.click();
  });
}
