/** Details of a strand, and of strands and tasks inside a folded one. */

import type { ComponentChildren } from "preact";
import { useJson, valueOf } from "../answers";
import type { InsideDetail, RunMeta, StrandDetail, TaskDetail } from "../data/contract";
import { requests } from "../data/requests";
import { count, sized } from "../format";
import { WhenAnswered } from "../components/placeholders";
import { SourceAround, DrawerColumns, FactTable } from "./DrawerColumns";
import { insideFacts, insideTaskFacts, strandFacts } from "./facts";
import { InnerStack, Stack } from "./LogicalStack";

export function StrandDetails({
  id,
  run: r,
  close,
}: {
  id: number;
  run: RunMeta;
  close: ComponentChildren;
}) {
  const asked = useJson<StrandDetail>(requests.strand(r.id, id));
  const detail = valueOf(asked);
  const task = useJson<TaskDetail>(detail ? requests.task(r.id, detail.task) : null);
  const code = detail ? r.codes[detail.code] : undefined;
  const hot = detail?.functions.find((f) => f.file !== null);
  const at =
    hot?.file && hot.line !== null
      ? { file: hot.file, line: hot.line }
      : code?.file
        ? { file: code.file, line: code.line }
        : detail?.from.file
          ? { file: detail.from.file, line: detail.from.line }
          : null;
  return (
    <DrawerColumns
      close={close}
      title={<span class="fn">{sized(code?.label ?? "strand", detail?.size)}</span>}
      note={
        <>
          strand {count(id)}
          {detail && <>, task {count(detail.task)}</>}
        </>
      }
      facts={
        <WhenAnswered answer={asked} what="the strand" height={150} small>
          {(d) => <FactTable of={strandFacts(d, r)} />}
        </WhenAnswered>
      }
      stack={
        <>
          <h2>
            Logical stack<span>innermost first, across steals</span>
          </h2>
          <WhenAnswered answer={task} what="the stack" height={150} small>
            {(t) => <Stack of={t} run={r} />}
          </WhenAnswered>
        </>
      }
      source={<SourceAround at={at} run={r} what={code?.label ?? null} />}
    />
  );
}

/** Details of a strand inside a folded one, from its records. */
export function InnerStrandDetails({
  id,
  at: t,
  run: r,
  close,
}: {
  id: number;
  at: number;
  run: RunMeta;
  close: ComponentChildren;
}) {
  const asked = useJson<InsideDetail>(requests.insideStrand(r.id, id, t));
  const d = valueOf(asked);
  const code = d ? r.codes[d.code] : undefined;
  const at = code?.file
    ? { file: code.file, line: code.line }
    : d?.from.file
      ? { file: d.from.file, line: d.from.line }
      : null;
  return (
    <DrawerColumns
      close={close}
      title={<span class="fn">{code?.label ?? "strand"}</span>}
      note="inside a folded strand"
      facts={
        <WhenAnswered answer={asked} what="the strand" height={150} small>
          {(x) => <FactTable of={insideFacts(x, r)} />}
        </WhenAnswered>
      }
      stack={
        <>
          <h2>
            Logical stack<span>innermost first, up to the folded strand</span>
          </h2>
          <WhenAnswered answer={asked} what="the stack" height={150} small>
            {(x) => <InnerStack of={x} run={r} />}
          </WhenAnswered>
        </>
      }
      source={<SourceAround at={at} run={r} what={code?.label ?? null} />}
    />
  );
}

/** Details of a task inside a folded strand, or of a stretch of its steps. */
export function InnerTaskDetails({
  id,
  run: r,
  close,
}: {
  id: string;
  run: RunMeta;
  close: ComponentChildren;
}) {
  const asked = useJson<InsideDetail>(requests.insideTask(r.id, id));
  const d = valueOf(asked);
  const code = d ? r.codes[d.code] : undefined;
  const at = code?.file
    ? { file: code.file, line: code.line }
    : d?.from.file
      ? { file: d.from.file, line: d.from.line }
      : null;
  const part = /^s\d+\.\d+\.(\d+)\.(\d+)$/.exec(id);
  return (
    <DrawerColumns
      close={close}
      title={<span class="fn">{code?.label ?? "task"}</span>}
      note={
        <>
          {d?.all && d.all.number > 0
            ? `task ${d.strand}.${d.all.number}, inside a folded strand`
            : "a folded strand's own task"}
          {part &&
            `, its strands and children ${count(Number(part[1]) + 1)} to ${count(Number(part[2]))} in program order`}
        </>
      }
      facts={
        <WhenAnswered answer={asked} what="the task" height={150} small>
          {(x) => <FactTable of={insideTaskFacts(x, r)} />}
        </WhenAnswered>
      }
      stack={
        <>
          <h2>
            Logical stack<span>innermost first, up to the folded strand</span>
          </h2>
          <WhenAnswered answer={asked} what="the stack" height={150} small>
            {(x) => <InnerStack of={x} run={r} />}
          </WhenAnswered>
        </>
      }
      source={<SourceAround at={at} run={r} what={code?.label ?? null} />}
    />
  );
}
