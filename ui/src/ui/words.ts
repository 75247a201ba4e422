/** Sentences that more than one view says. */

import type { RunMeta } from "../data/contract";

/** Why there are no steals; of a trace that could be read in part, what is known of it. */
export const nothingStolen = (meta: Pick<RunMeta, "unread">): string =>
  meta.unread
    ? "Nothing was stolen in the part of the trace that could be read."
    : "Nothing was stolen: tasks ran where they were created, or where the program itself put them.";
