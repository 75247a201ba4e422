/** A small chart of mean running strands in equal bins of the run, from 0 to all workers. */

import { useMemo } from "preact/hooks";

export function Sparkline(p: {
  values: number[];
  top: number;
  width?: number;
  height?: number;
  fill: string;
  title?: string;
}) {
  const width = p.width ?? 116,
    height = p.height ?? 18;
  const d = useMemo(() => {
    const step = width / Math.max(1, p.values.length);
    let path = "";
    p.values.forEach((v, i) => {
      if (!(v > 0)) return;
      // Every bin with a strand is visible.
      const h = Math.max(1, Math.min(1, v / p.top) * (height - 1));
      path += `M${(i * step).toFixed(1)} ${height}v${(-h).toFixed(1)}h${Math.max(step, 1).toFixed(2)}v${h.toFixed(1)}z`;
    });
    return path;
  }, [p.values, p.top, width, height]);
  return (
    <svg
      class="spark"
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={p.title ?? "when it ran"}
    >
      <path d={d} fill={p.fill} />
    </svg>
  );
}
