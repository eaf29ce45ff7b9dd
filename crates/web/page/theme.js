// Sets the light or dark theme before the first paint: the stored choice, or the system's preference.
(() => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => {
    const theme = localStorage.getItem("theme") ?? (dark.matches ? "dark" : "light");
    document.documentElement.dataset.theme = theme;
  };
  dark.addEventListener("change", apply);
  apply();
})();
