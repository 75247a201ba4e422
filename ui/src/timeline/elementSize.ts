/** Reports an element's size and the screen's pixel density when either changes. */

export function observeSize(
  host: HTMLElement,
  changed: (width: number, height: number, dpr: number) => void,
): () => void {
  const tell = () => {
    const r = host.getBoundingClientRect();
    if (r.width > 0 && r.height > 0)
      changed(Math.floor(r.width), Math.floor(r.height), Math.min(4, window.devicePixelRatio || 1));
  };
  const sizes = new ResizeObserver(tell);
  sizes.observe(host);
  // Moving to another screen or zooming the page changes only the density.
  let query: MediaQueryList | null = null;
  const watch = () => {
    query?.removeEventListener("change", watch);
    query = matchMedia(`(resolution: ${window.devicePixelRatio}dppx)`);
    query.addEventListener("change", watch);
    tell();
  };
  watch();
  return () => {
    sizes.disconnect();
    query?.removeEventListener("change", watch);
  };
}
