/** Placeholders for data that is loading, empty or failed, each with its own text. */

import type { ComponentChildren } from "preact";
import type { AnswerState } from "../answers";
import type { Unavailable } from "../data/source";

export function LoadingPlaceholder({ what, height = 120 }: { what: string; height?: number }) {
  return (
    <div
      class="waiting"
      style={{ height: `${height}px` }}
      role="status"
      aria-label={`Loading ${what}`}
    >
      {height >= 40 && <span>Loading {what} …</span>}
    </div>
  );
}

export function EmptyState(p: {
  title: string;
  children?: ComponentChildren;
  command?: string;
  small?: boolean;
}) {
  return (
    <div class={p.small ? "state small" : "state"} role="note">
      <h2>{p.title}</h2>
      {p.children && <div>{p.children}</div>}
      {p.command && <pre>{p.command}</pre>}
    </div>
  );
}

const TITLES: Record<Unavailable["why"], string> = {
  loading: "Still loading",
  gone: "The server does not answer",
  absent: "Not in this report",
  refused: "This can't be shown",
};

export function ErrorState({
  error,
  small,
  what,
}: {
  error: Unavailable;
  small?: boolean;
  what: string;
}) {
  if (error.why === "loading") return <LoadingPlaceholder what={what} />;
  return (
    <div class={small ? "state small" : "state"} role="alert">
      <h2>{TITLES[error.why]}</h2>
      <div>
        {error.message}
        {error.remedy && <> {codeInBackticks(error.remedy)}</>}
      </div>
    </div>
  );
}

/** Renders `` `code` `` in a sentence of the server as code; no line breaks within a flag. */
export function codeInBackticks(text: string): ComponentChildren {
  return text
    .split("`")
    .map((part, i) =>
      i % 2 ? <code key={i}>{part}</code> : <span key={i}>{unbrokenFlags(part)}</span>,
    );
}

const unbrokenFlags = (text: string): ComponentChildren =>
  text.split(/((?<![\w-])--?\w[\w-]*)/).map((part, i) =>
    i % 2 ? (
      <span key={i} style={{ whiteSpace: "nowrap" }}>
        {part}
      </span>
    ) : (
      part
    ),
  );

/** The children for the value, or a placeholder for its state. */
export function WhenAnswered<T>(p: {
  answer: AnswerState<T>;
  what: string;
  small?: boolean;
  height?: number;
  children: (value: T) => ComponentChildren;
}) {
  if (p.answer.state === "there") return <>{p.children(p.answer.value)}</>;
  if (p.answer.state === "failed")
    return <ErrorState error={p.answer.error} small={p.small ?? false} what={p.what} />;
  return <LoadingPlaceholder what={p.what} {...(p.height ? { height: p.height } : {})} />;
}
