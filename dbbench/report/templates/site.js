"use strict";
const form = document.querySelector("form"), rows = [...document.querySelectorAll("tbody tr")];
function filter() {
  const wanted = Object.fromEntries(new FormData(form));
  let shown = 0;
  for (const row of rows) {
    row.hidden = (wanted.suite && row.dataset.suite !== wanted.suite)
      || (wanted.machine && row.dataset.machine !== wanted.machine)
      || (wanted.engine && !JSON.parse(row.dataset.engines).includes(wanted.engine));
    shown += !row.hidden;
    for (const more of row.querySelectorAll("details")) {
      more.open = [...more.querySelectorAll("li span:first-child")].some((each) => each.textContent === wanted.engine);
    }
  }
  document.querySelector("output").textContent = `${shown} of ${rows.length}`;
  const chosen = new URLSearchParams(Object.entries(wanted).filter(([, value]) => value));
  history.replaceState(null, "", `#${chosen}`);
}
function read() {
  const asked = new URLSearchParams(location.hash.slice(1));
  for (const box of form.querySelectorAll("select")) {
    const value = asked.get(box.name);
    box.value = [...box.options].some((option) => option.value === value) ? value : "";
  }
  filter();
}
form.hidden = false;
form.addEventListener("change", filter);
addEventListener("hashchange", read);
read();
