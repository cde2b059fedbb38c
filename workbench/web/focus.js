// People who work by keyboard or by ear go on at the new page's heading, and the page begins at its top.
(() => {
  let shown = location.pathname;
  const take = (heading) => {
    heading.tabIndex = -1;
    heading.style.outline = "none";
    heading.focus({ preventScroll: true });
  };
  const settle = () => {
    const app = document.querySelector("[data-testid=stApp]");
    if (location.pathname === shown || app?.dataset.testScriptState !== "notRunning") return;
    const heading = document.querySelector("[data-testid=stMain] h1");
    if (!heading) return;
    shown = location.pathname;
    document.querySelector("[data-testid=stMain]").scrollTo(0, 0);
    take(heading);
    setTimeout(() => {
      const again = document.querySelector("[data-testid=stMain] h1"); // it may have been drawn anew
      if (again && document.activeElement === document.body) take(again);
    }, 600);
  };
  addEventListener("DOMContentLoaded", () =>
    new MutationObserver(settle).observe(document.body, {
      attributes: true,
      attributeFilter: ["data-test-script-state"],
      subtree: true,
    })
  );
})();
