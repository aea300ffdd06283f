// Before anything is painted: the colour scheme and language that were chosen.
(function () {
  var root = document.documentElement;
  var scheme = "auto";
  try {
    scheme = localStorage.getItem("interlock-scheme") || "auto";
    root.lang = localStorage.getItem("interlock-language") || ((navigator.language || "").slice(0, 2) === "sv" ? "sv" : "en");
  } catch (_) {
    /* storage may be off */
  }
  if (scheme === "auto") scheme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  root.setAttribute("data-mantine-color-scheme", scheme);
  root.style.backgroundColor = scheme === "dark" ? "#101214" : "#ffffff";
})();
