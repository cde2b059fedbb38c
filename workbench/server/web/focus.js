// People who work by keyboard or by ear go on at the heading of a new page or step, and it begins at its top.
(() => {
  let shown = location.pathname; // the page whose heading was taken last
  let said = null; // the words of that heading, until the person does something
  let last = null; // the words of the heading that was on the screen last
  let pressed = false; // a page that moves between press and release would lose the click
  const preferred = document.documentElement.lang; // by the browser, as the server writes it
  const settle = () => {
    document.documentElement.lang = new URLSearchParams(location.search).get("lang") || preferred;
    const turned = location.pathname !== shown;
    const heading = document.querySelector("[data-testid=stMain] h1");
    const app = document.querySelector("[data-testid=stApp]");
    if (pressed || !heading || app?.dataset.testScriptState !== "notRunning") return;
    if (!turned && last !== null && last !== heading.textContent) {  // a button led to another step
      document.querySelector("[data-testid=stMain]").scrollTo(0, 0);
      said = ""; // the button may go only later, and the focus with it
    }
    last = heading.textContent;
    if (!turned && said === null) return;
    // A slow page shows the heading of the last one for a while, and may draw its own more than once.
    const lost = document.activeElement === document.body;
    const other = document.activeElement === heading && heading.textContent !== said;
    if (!turned && !lost && !other) return;
    if (turned) document.querySelector("[data-testid=stMain]").scrollTo(0, 0);
    shown = location.pathname;
    said = heading.textContent;
    heading.tabIndex = -1;
    heading.style.outline = "none";
    heading.blur(); // other words in the same place are read out only to who comes anew
    heading.focus({ preventScroll: true });
  };
  // Streamlit's own Stop, at the top of the page, leaves an empty page; the one by the progress leads back.
  document.head.insertAdjacentHTML("beforeend", "<style>[data-testid=stStatusWidget] button { display: none }</style>");
  for (const deed of ["pointerdown", "keydown"]) {
    addEventListener(deed, () => {
      said = null;
      shown = location.pathname; // who already works on a new page stays where they are
    }, true);
  }
  addEventListener("pointerdown", () => (pressed = true), true);
  for (const end of ["pointerup", "pointercancel"]) {
    addEventListener(end, () => {
      pressed = false;
      setTimeout(settle); // after the click that follows
    }, true);
  }
  addEventListener("DOMContentLoaded", () =>
    new MutationObserver(settle).observe(document.body, {
      attributes: true,
      attributeFilter: ["data-test-script-state"],
      characterData: true,
      childList: true,
      subtree: true,
    })
  );
})();
