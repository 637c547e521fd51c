// Sorts the table by a column, and filters table and plots by name. Without it the page only loses that.
(() => {
  const table = document.getElementById("table");
  if (!table || table.tBodies[0].rows.length < 2) return;
  const heads = [...table.tHead.rows[0].cells];
  const value = (row, column) => {
    const text = row.cells[column].textContent.trim();
    if (column === 0) return text.toLowerCase();
    return text === "∞" ? Infinity : Number.parseFloat(text);
  };
  const compare = (a, b) => {
    if (typeof a === "string") return a < b ? -1 : a > b ? 1 : 0;
    if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) - Number.isNaN(b);
    return a - b;
  };
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...table.tBodies[0].rows].map((row) => [value(row, column), row]);
      rows.sort((a, b) => (down ? -1 : 1) * compare(a[0], b[0]));
      table.tBodies[0].append(...rows.map((pair) => pair[1]));
    });
  });
  if (table.tBodies[0].rows.length < 12) return;
  const tools = document.createElement("p");
  const input = document.createElement("input");
  tools.className = "tools";
  input.type = "search";
  input.placeholder = "Filter coefficients by name";
  input.setAttribute("aria-label", input.placeholder);
  tools.append(input);
  table.parentElement.before(tools);
  input.addEventListener("input", () => {
    const wanted = input.value.trim().toLowerCase();
    document.querySelectorAll("[data-name]").forEach((item) => {
      item.hidden = !item.dataset.name.toLowerCase().includes(wanted);
    });
  });
})();
