import { labelEnd } from "../format";

/** A code's label that is shortened before its line number or address. */
export function CodeLabel({ label }: { label: string }) {
  const line = labelEnd(label);
  if (!line) return <>{label}</>;
  return (
    <span class="code-label">
      <span>{label.slice(0, label.length - line.length)}</span>
      <span>{line}</span>
    </span>
  );
}
