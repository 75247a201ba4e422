/** A code block's name and place in the table of sites. */

import { codeColour } from "../codeColours";
import { CodeLabel } from "../components/CodeLabel";
import { Swatch } from "../components/widgets";
import type { CodeName } from "../data/contract";
import { dark } from "../theme/theme";
import type { Row } from "./siteRows";

export function BlockName(p: {
  of: Pick<Row, "code" | "name" | "place">;
  codes: readonly CodeName[];
}) {
  return (
    <span class="name sub">
      <Swatch of={codeColour(p.codes, p.of.code, dark.value)} />
      <span class="mono">
        <CodeLabel label={p.of.name} />
      </span>{" "}
      <span class="place">
        <CodeLabel label={p.of.place} />
      </span>
    </span>
  );
}
