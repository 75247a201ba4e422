/**
 * A finding's title as a command: a verb, what to change, and where. The event is below it, in the
 * report's words.
 */

import type { FindingWords, RunMeta, Words } from "../data/contract";
import { fileName } from "../format";

/** A position in the code, as in `report.findings[].place.from` and `.to`. */
interface Position {
  kind: string;
  primitive: string | null;
  function: string | null;
}

/** `report.findings[].place` */
export interface FindingPlace {
  function: string | null;
  from: Position | null;
  to: Position | null;
}

const word = (text: string): Words[number] => ({ text });
const code = (text: string): Words[number] => ({ text, as: "code" });

/** The code of a finding: the function with its samples, or otherwise the calls around it. */
export function codeWords(f: FindingWords, place: FindingPlace | undefined, run: RunMeta): Words {
  const label = f.show.code === null ? undefined : run.codes[f.show.code]?.label;
  // `merge` is a function; `msort:55` and `after msort` are positions.
  if (label && !/^after |:\d+$/.test(label)) return [code(label)];
  const { from, to } = place ?? { from: null, to: null };
  if (label && !from?.function && /^after /.test(label)) return [word("the code "), code(label)];
  if (from?.primitive && from.kind.startsWith("after_"))
    return [
      word(`the code after the ${from.primitive}`),
      ...(from.function ? [word(" in "), code(from.function)] : []),
    ];
  if (to?.primitive)
    return [
      word(`the code before the ${to.primitive}`),
      ...(to.function ? [word(" in "), code(to.function)] : []),
    ];
  const site = f.show.site === null ? undefined : run.sites[f.show.site];
  if (site?.function) return [word("the tasks of "), code(site.function)];
  if (label && !/:\d+$/.test(label)) return [code(label)];
  return [word(site && site.label !== "root" ? "its tasks" : "this part")];
}

/** The tasks of a finding's spawn site, by the function that creates them. */
function tasks(f: FindingWords, run: RunMeta, kind = "tasks"): Words {
  const site = f.show.site === null ? undefined : run.sites[f.show.site];
  return site?.function ? [word(`the ${kind} of `), code(site.function)] : [word(`the ${kind}`)];
}

function command(f: FindingWords, place: FindingPlace | undefined, run: RunMeta): Words | null {
  const here = () => codeWords(f, place, run);
  switch (f.id) {
    case "serial-strand":
      return [word("Split "), ...here()];
    case "spawn-loop":
      return [word("Let tasks create "), ...tasks(f, run)];
    case "grain-fine":
      return [word("Give more work to each of "), ...tasks(f, run)];
    case "grain-coarse":
      return [word("Split "), ...tasks(f, run, "last tasks")];
    case "slow-thief":
      return [word("Start "), ...here(), word(" sooner")];
    case "buried-wait":
      return [word("Shorten the tasks that run inside the wait before "), ...here()];
    case "bounded-queue":
      return [word("Give more work to each of "), ...tasks(f, run), word(", and create fewer")];
    case "restrained-stealing":
      return [word("Let waiting threads take "), ...tasks(f, run)];
    case "stretch":
      return [word("Share less data between "), ...tasks(f, run)];
    case "descheduled":
      return [word("Run it alone on the machine")];
    case "oversubscription":
      return [word("Use as many threads as CPUs")];
    case "lock-across-join":
      return [word("Release the lock of "), ...here(), word(" before the join")];
    case "lock":
      return [word("Hold the lock for a shorter time in "), ...here()];
    case "io":
    case "sleep":
    case "channel":
    case "blocked":
      return [word("Wait less in "), ...here()];
    case "late-rank":
      return [word("Give less work to the rank that others wait for in "), ...here()];
    case "other-threads":
      return [word("Shorten what other threads do during "), ...here()];
    case "other-pool":
      return [word("Use one pool for both")];
    case "thread-start":
      return [word("Start fewer threads at "), ...here()];
    default:
      return null;
  }
}

/** Causes whose place is the machine or a pool, not a line of code. */
const WITHOUT_LINE = new Set(["descheduled", "oversubscription", "other-pool"]);

/** The line that a finding names in its title and wherever a view says what limits the run. */
export const lineOf = (f: FindingWords): FindingWords["source"] =>
  WITHOUT_LINE.has(f.id) ? null : f.source;

/** `Split merge — sort.rs:43`; for an unknown cause, the report's sentence. */
export function findingTitle(
  f: FindingWords,
  place: FindingPlace | undefined,
  run: RunMeta,
): Words {
  const words = command(f, place, run);
  if (!words) return f.title;
  const at = lineOf(f);
  if (!at) return words;
  const { file, line } = at;
  return [...words, word(" — "), { text: `${fileName(file)}:${line}`, as: "place", file, line }];
}
