// The page of a question: draws a report in this browser, shows it, and sends that and nothing else.
"use strict";

(() => {
  const at = (id) => document.getElementById(id);
  const asked = JSON.parse(at("asked").textContent);
  const form = at("form");
  let body = null;

  function complain(words) {
    at("problem").textContent = words;
    at("problem").hidden = !words;
  }

  // The answers that a report names, where it names any.
  function named(report) {
    if (asked.protocol === "randomized response") return [report];
    if (asked.protocol === "subset selection") return report;
    if (asked.protocol.endsWith("unary")) return [...report].flatMap((bit, i) => (bit === "1" ? [i] : []));
    return null;
  }

  if (!window.crypto || !window.crypto.getRandomValues) {
    complain(asked.words.no_randomness);
    return;
  }
  form.hidden = false;
  form.addEventListener("change", () => {
    at("draw").disabled = false;
    at("first").hidden = true;
  });

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const code = Number(new FormData(form).get("answer"));
    const take = (size) => {
      const bytes = new Uint8Array(size);
      for (let start = 0; start < size; start += 65536) {
        crypto.getRandomValues(bytes.subarray(start, start + 65536));
      }
      return Array.from(bytes);
    };
    const report = drawReport(asked, code, take);
    body = JSON.stringify({ protocol: asked.protocol, epsilon: asked.epsilon, report });
    // One draw: whoever drew again until the report suits would undo the protection.
    form.hidden = true;
    form.reset();
    const names = named(report);
    at("means").textContent = names
      ? asked.words.names + " " + (names.map((i) => asked.labels[i]).join(", ") || asked.words.none)
      : asked.words.mixed;
    at("report").textContent = body;
    at("look").hidden = false;
    at("send").focus();
  });

  at("send").addEventListener("click", async () => {
    at("send").disabled = true;
    complain("");
    try {
      const answer = await fetch(location.href, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body,
        credentials: "omit",
        referrerPolicy: "no-referrer",
      });
      if (answer.ok) {
        at("send").hidden = true;
        at("sent").hidden = false;
        return;
      }
      complain(asked.words[answer.status] || asked.words.failed);
    } catch {
      complain(asked.words.failed);
    }
    at("send").disabled = false;
  });
})();
