/**
 * Details of a task: alone, or with all descendants as a small report; and of the tasks of a site.
 */

import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useJson, valueOf } from "../answers";
import type { RunMeta, TaskDetail } from "../data/contract";
import { requests } from "../data/requests";
import { count, sized } from "../format";
import { useTasksReport } from "../report/TasksReport";
import type { Selection } from "../store";
import { Choice } from "../components/widgets";
import { WhenAnswered } from "../components/placeholders";
import { SourceAround, DrawerColumns, FactTable, SiteActions } from "./DrawerColumns";
import { taskFacts } from "./facts";
import { Stack } from "./LogicalStack";

/** Shows the task alone, or the sums over its descendants. The choice is kept. */
const taskMode = signal<"task" | "subtree">("task");

export function TaskDetails(p: {
  id: number;
  run: RunMeta;
  close: ComponentChildren;
  group?: string;
}) {
  const choice = (
    <Choice
      label="Which tasks"
      value={taskMode.value}
      of={[
        { value: "task", label: "Task" },
        { value: "subtree", label: "With descendants" },
      ]}
      onChange={(v) => (taskMode.value = v)}
    />
  );
  return taskMode.value === "task" ? (
    <SingleTask {...p} choice={choice} />
  ) : (
    <Subtree {...p} choice={choice} />
  );
}

function nameOf(d: TaskDetail | undefined, r: RunMeta): string {
  const site = d && r.sites[d.site];
  return sized(
    d?.kind === "root" ? "root task" : (site?.function ?? site?.label ?? "task"),
    d?.size,
  );
}

function Subtree(p: {
  id: number;
  run: RunMeta;
  close: ComponentChildren;
  choice: ComponentChildren;
}) {
  const d = valueOf(useJson<TaskDetail>(requests.task(p.run.id, p.id)));
  const { where, code, more } = useTasksReport({ task: p.id }, p.run);
  return (
    <DrawerColumns
      close={p.close}
      title={<span class="fn">{nameOf(d, p.run)}</span>}
      note={`task ${count(d?.number ?? p.id)} with its descendants`}
      facts={
        <>
          {p.choice}
          {where}
        </>
      }
      labels={["Code by time", "Steals and findings"]}
      stack={code}
      source={more}
    />
  );
}

/** Details of all tasks that a site created. */
export function SiteTasksDetails({
  of: s,
  run: r,
  close,
}: {
  of: Extract<Selection, { kind: "site" }>;
  run: RunMeta;
  close: ComponentChildren;
}) {
  const site = r.sites[s.site];
  const { where, code, more } = useTasksReport({ site: s.site }, r);
  return (
    <DrawerColumns
      close={close}
      title={<span class="fn">{site?.function ?? site?.label ?? "site"}</span>}
      note={site?.function ? `tasks of spawn site ${site.label}` : "tasks of the spawn site"}
      facts={where}
      labels={["Code by time", "Steals and findings"]}
      stack={code}
      source={
        <>
          {more}
          <SiteActions of={s} />
        </>
      }
    />
  );
}

/** Details of the task without its descendants. */
function SingleTask({
  id,
  run: r,
  close,
  group,
  choice,
}: {
  id: number;
  run: RunMeta;
  close: ComponentChildren;
  group?: string;
  choice: ComponentChildren;
}) {
  const asked = useJson<TaskDetail>(requests.task(r.id, id));
  const d = valueOf(asked);
  const site = d ? r.sites[d.site] : undefined;
  const top = d?.stack[0];
  const code = d ? r.codes[d.code] : undefined;
  const at = code?.file
    ? { file: code.file, line: code.line }
    : top?.file
      ? { file: top.file, line: top.line }
      : site?.file
        ? { file: site.file, line: site.line }
        : null;
  const part = group ? /^g\d+\.(\d+)\.(\d+)$/.exec(group) : null;
  return (
    <DrawerColumns
      close={close}
      title={<span class="fn">{nameOf(d, r)}</span>}
      note={
        <>
          task {count(d?.number ?? id)}
          {r.numbered_tasks < r.tasks && ", not counting folded tasks"}
          {part &&
            `, its strands and children ${count(Number(part[1]) + 1)} to ${count(Number(part[2]))} in program order`}
        </>
      }
      facts={
        <>
          {choice}
          <WhenAnswered answer={asked} what="the task" height={150} small>
            {(t) => <FactTable of={taskFacts(t, r)} />}
          </WhenAnswered>
        </>
      }
      stack={
        <>
          <h2>
            Logical stack<span>innermost first, across steals</span>
          </h2>
          <WhenAnswered answer={asked} what="the stack" height={150} small>
            {(t) => <Stack of={t} run={r} />}
          </WhenAnswered>
        </>
      }
      source={<SourceAround at={at} run={r} what={code?.label ?? null} />}
    />
  );
}
