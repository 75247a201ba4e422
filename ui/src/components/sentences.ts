/** Sentences used by more than one view. */

import type { RunMeta } from "../data/contract";

/** Why there are no steals; for a partly read trace, how far that is known. */
export const noStealsSentence = (meta: Pick<RunMeta, "unread">): string =>
  meta.unread
    ? "Nothing was stolen in the part of the trace that could be read."
    : "Nothing was stolen: tasks ran where they were created, or where the program placed them.";

/**
 * What strands do in charts: they run, or are only known to have a task. In a preview, and in a
 * trace of which a part was not read, times off the CPU may be missing.
 */
export const runningWords = (meta: Pick<RunMeta, "unread" | "overview">): string =>
  meta.overview !== null || meta.unread ? "in a task" : "running";
