import { labelEnd } from "../format";

/** A code's label that is shortened before its line number, its address or a task's size. */
export function CodeLabel({ label }: { label: string }) {
  const line = labelEnd(label);
  if (!line) return <>{label}</>;
  return (
    <span class="code-label">
      <span>{label.slice(0, label.length - line.length)}</span>
      {/* A plain space at the start of a box would not be shown. */}
      <span>{line.replace(/^ /, "\u00a0")}</span>
    </span>
  );
}
