// Light or dark before anything is drawn: as the screen is, unless the person said otherwise.
(() => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const paint = () => {
    const wished = localStorage.getItem("theme") ?? (dark.matches ? "dark" : "light");
    document.documentElement.dataset.theme = wished;
  };
  dark.addEventListener("change", paint);
  paint();
})();
