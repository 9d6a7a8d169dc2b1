// The status page asks for itself again and takes over each part that changed.
"use strict";
(() => {
  const every = 1000 * Number(document.body.dataset.refresh);
  const said = document.getElementById("refreshed");
  const button = document.getElementById("pause");
  let stopped = false;
  let pause = every;
  let timer;

  // key names what stays the same thing when its part is taken over.
  const key = (e) => e && (e.dataset.key || e.id || e.getAttribute("aria-label") || e.getAttribute("href") || "");

  const inUse = (part) => {
    const selection = document.getSelection();
    return selection && !selection.isCollapsed && part.contains(selection.anchorNode);
  };

  const takeOver = (part, fresh) => {
    const open = new Map();
    part.querySelectorAll("details[data-key]").forEach((d) => open.set(d.dataset.key, d.open));
    const focused = part.contains(document.activeElement) ? key(document.activeElement) : "";
    part.replaceWith(fresh);
    fresh.querySelectorAll("details[data-key]").forEach((d) => {
      if (open.has(d.dataset.key)) d.open = open.get(d.dataset.key);
    });
    if (!focused) return;
    const again = [...fresh.querySelectorAll("a, button, summary, [tabindex]")].find((e) => key(e) === focused);
    if (again) again.focus({ preventScroll: true });
  };

  const show = (html) => {
    const fresh = new DOMParser().parseFromString(html, "text/html");
    const main = document.getElementById("main");
    const parts = [...fresh.querySelectorAll("main > [data-part]")];
    if (!parts.length) throw new Error("the answer is no status page");
    document.title = fresh.title;
    const ids = new Set(parts.map((p) => p.id));
    main.querySelectorAll(":scope > [data-part]").forEach((p) => { if (!ids.has(p.id)) p.remove(); });
    let before = null;
    for (const part of parts) {
      const old = document.getElementById(part.id);
      const mine = document.importNode(part, true);
      if (!old) {
        if (before) before.after(mine); else main.prepend(mine);
        before = mine;
      } else if (inUse(old)) {
        before = old;
      } else {
        takeOver(old, mine);
        before = mine;
      }
    }
    const stamp = fresh.querySelector("footer time");
    const old = document.querySelector("footer time");
    if (stamp && old) old.replaceWith(document.importNode(stamp, true));
  };

  const refresh = async () => {
    clearTimeout(timer);
    if (stopped || document.hidden) return;
    const begin = performance.now();
    try {
      const answer = await fetch(location.pathname, { cache: "no-store", redirect: "error" });
      if (!answer.ok && answer.status !== 503) throw new Error("the answer is " + answer.status);
      show(await answer.text());
      said.textContent = "";
      said.className = "";
      pause = Math.max(every, 20 * (performance.now() - begin));
    } catch (e) {
      said.textContent = "This page could not be refreshed: " + e.message + ".";
      said.className = "bad";
      pause = Math.min(2 * pause, 60000);
    }
    timer = setTimeout(refresh, pause);
  };

  button.hidden = false;
  button.addEventListener("click", () => {
    stopped = !stopped;
    button.textContent = stopped ? "Refresh by itself" : "Stop refreshing";
    said.textContent = stopped ? "It does not refresh itself now." : "";
    if (!stopped) refresh();
  });
  document.addEventListener("visibilitychange", refresh);
  timer = setTimeout(refresh, every);
})();
