/** Sentences used by more than one view. */

import type { RunMeta } from "../data/contract";

/** Why there are no steals; for a partly read trace, how far that is known. */
export const noStealsSentence = (meta: Pick<RunMeta, "unread">): string =>
  meta.unread
    ? "Nothing was stolen in the part of the trace that could be read."
    : "Nothing was stolen: tasks ran where they were created, or where the program placed them.";
