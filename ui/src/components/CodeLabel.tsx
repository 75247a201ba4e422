/** A code's label that is shortened before its line number: blocks of one function differ by it. */
export function CodeLabel({ label }: { label: string }) {
  const line = /:\d+$/.exec(label)?.[0] ?? "";
  if (!line) return <>{label}</>;
  return (
    <span class="code-label">
      <span>{label.slice(0, label.length - line.length)}</span>
      <span>{line}</span>
    </span>
  );
}
