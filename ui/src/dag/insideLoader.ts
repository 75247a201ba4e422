/** Loads the insides of nodes: many per request from a server, one by one from a report. */

import { signal } from "@preact/signals";
import type { DagAnswer, DagInside, Meta, RunId } from "../data/contract";
import { requests } from "../data/requests";
import { Unavailable, type DataSource } from "../data/source";
import { RUN } from "./model";

const MAX_IDS = 64;
/** Number of items kept in all insides together, at some hundred bytes each. */
const MAX_ITEMS = 200_000;

export class InsideLoader {
  readonly loaded = new Map<string, DagInside>();
  /** Ids without data in this source, with the source's message. */
  readonly missing = new Map<string, string>();
  /** Requests in flight. */
  readonly busy = signal(0);
  /** True for nodes that are shown and must stay loaded. */
  isExpanded: (id: string) => boolean = () => false;
  private items = 0;

  constructor(
    private readonly source: DataSource,
    private readonly run: RunId,
    private readonly meta: Meta,
    private readonly sections = false,
  ) {}

  /**
   * Loads the missing nodes. Unavailable ones are recorded in `missing`; throws if the source is
   * loading or gone.
   */
  load = async (ids: string[]): Promise<void> => {
    const wanted = [...new Set(ids)].filter((id) => !this.loaded.has(id) && !this.missing.has(id));
    if (wanted.length === 0) return;
    const batch = this.meta.mode === "report" ? 1 : MAX_IDS;
    this.busy.value++;
    try {
      for (let i = 0; i < wanted.length; i += batch) await this.ask(wanted.slice(i, i + batch));
    } finally {
      this.busy.value--;
    }
  };

  private async ask(ids: string[]): Promise<void> {
    try {
      const answer = await this.source.json<DagAnswer>(requests.dag(this.run, ids, this.sections));
      for (const id of ids) {
        const inside = answer.nodes[id];
        if (inside) this.keep(id, inside);
        else this.missing.set(id, "This node is empty.");
      }
    } catch (e) {
      if (!(e instanceof Unavailable) || e.why === "loading" || e.why === "gone") throw e;
      // Ask one by one, so that an unavailable node does not affect the others.
      if (ids.length > 1) for (const id of ids) await this.ask([id]);
      else {
        const why =
          this.meta.mode === "report" && e.why === "absent"
            ? "This report leaves out the contents of this node."
            : e.message;
        this.missing.set(ids[0]!, e.remedy ? `${why} ${e.remedy}` : why);
      }
    }
  }

  private keep(id: string, inside: DagInside): void {
    this.items += inside.items.length - (this.loaded.get(id)?.items.length ?? 0);
    this.loaded.set(id, inside);
    if (this.items <= MAX_ITEMS) return;
    for (const [old, { items }] of this.loaded) {
      if (this.items <= MAX_ITEMS * 0.8) break;
      if (old === RUN || old === id || this.isExpanded(old)) continue;
      this.loaded.delete(old);
      this.items -= items.length;
    }
  }
}
