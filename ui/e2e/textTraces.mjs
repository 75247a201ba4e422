/** Text traces (docs/TEXT_TRACE.md) of runs that this machine cannot record. */

const WORKERS = 8;
/** Times of a round in microseconds: outside of the lock and inside. */
const FREE = 300;
const HELD = 200;
const ROUNDS = 12;

/**
 * A program whose speedup is limited by a lock: each of its tasks computes, and then adds to a sum
 * under one mutex. Its bound is not work / span.
 */
export function lockTrace() {
  const lines = [];
  const say = (line) => lines.push(JSON.stringify(line));
  say({ workspan_trace: 1, workers: WORKERS, time_unit: "us", steals: "child", name: "sum" });
  const frames = [
    ["add", "src/sum.c", 21],
    ["release", "src/sum.c", 24],
    ["body", "src/sum.c", 12],
  ];
  frames.forEach(([name, file, line], frame) =>
    say({ ev: "frame", frame, function: name, file, line }),
  );
  say({ ev: "stack", stack: 0, frames: [0, 2] });
  say({ ev: "stack", stack: 1, frames: [1, 2] });
  say({ ev: "begin", t: 0, w: 0, task: 0 });
  for (let task = 1; task <= WORKERS; task++) {
    say({ ev: "create", t: task, w: 0, task: 0, child: task, site: "sum.c:40" });
    say({ ev: "resume", t: task, w: 0, task: 0 });
  }
  say({ ev: "wait", t: WORKERS + 1, w: 0, task: 0 });
  const ends = run(say);
  const end = Math.max(...ends);
  say({ ev: "resume", t: end, w: 0, task: 0 });
  say({ ev: "end", t: end + 50, w: 0, task: 0 });
  return `${lines.join("\n")}\n`;
}

/** Lets the tasks run, one a worker, in the order in which they come to the lock. */
function run(say) {
  const starts = Array.from({ length: WORKERS }, (_, w) => WORKERS + 2 + w);
  starts.forEach((t, w) => {
    say({ ev: "begin", t, w, task: w + 1 });
    if (w > 0) say({ ev: "steal", t, w, victim: 0, task: w + 1 });
  });
  const now = [...starts];
  const left = starts.map(() => ROUNDS);
  let [free, holder] = [0, -1];
  for (;;) {
    const next = left.reduce(
      (best, n, w) => (n > 0 && (best < 0 || now[w] < now[best]) ? w : best),
      -1,
    );
    if (next < 0) break;
    const asked = now[next] + FREE;
    const got = Math.max(asked, free);
    if (got > asked) {
      say({ ev: "off", t: asked, w: next, why: "blocked", on: "lock" });
      say({ ev: "on", t: got, w: next });
      const wait = { on: "mutex", object: 1, by: holder, released: 1 };
      say({ ev: "stop", t: asked, w: next, stack: 0, ticks: got - asked, ...wait });
    }
    free = got + HELD;
    holder = next;
    now[next] = free;
    left[next]--;
  }
  now.forEach((t, w) => say({ ev: "end", t, w, task: w + 1 }));
  return now;
}

/** Each of many workers takes a task from the one before it. */
export function manyWorkers(workers) {
  const head = { workspan_trace: 1, workers, time_unit: "us", steals: "child" };
  const lines = [head, { ev: "begin", t: 0, w: 0, task: 0 }];
  for (let task = 1; task < workers; task++)
    lines.push(
      { ev: "create", t: task, w: 0, task: 0, child: task, site: "spread.c:9" },
      { ev: "resume", t: task, w: 0, task: 0 },
    );
  lines.push({ ev: "wait", t: workers, w: 0, task: 0 });
  for (let w = 1; w < workers; w++)
    lines.push(
      { ev: "begin", t: workers + 1, w, task: w },
      { ev: "steal", t: workers + 1, w, victim: w - 1, task: w },
      { ev: "end", t: 2 * workers, w, task: w },
    );
  lines.push({ ev: "resume", t: 2 * workers, w: 0, task: 0 });
  lines.push({ ev: "end", t: 2 * workers + 1, w: 0, task: 0 });
  return `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`;
}

/** Tasks that begin and end at the same moment. */
export function noLength() {
  const lines = [
    { workspan_trace: 1, workers: 2, time_unit: "ns", steals: "child", name: "nothing" },
    { ev: "begin", t: 7, w: 0, task: 0 },
    { ev: "create", t: 7, w: 0, task: 0, child: 1, site: "nothing.c:3" },
    { ev: "resume", t: 7, w: 0, task: 0 },
    { ev: "wait", t: 7, w: 0, task: 0 },
    { ev: "begin", t: 7, w: 0, task: 1 },
    { ev: "end", t: 7, w: 0, task: 1 },
    { ev: "resume", t: 7, w: 0, task: 0 },
    { ev: "end", t: 7, w: 0, task: 0 },
  ];
  return `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`;
}

/** A run of one strand that stands for a subtree: 70 us of work, with a span of 50 us. */
export function foldedTrace() {
  const site = { site: "fib.c:9", count: 2, work: 30, span: 30, critical_work: 20 };
  const lines = [
    { workspan_trace: 1, workers: 1, time_unit: "us", steals: "child", name: "fib" },
    { ev: "begin", t: 0, w: 0, task: 0 },
    {
      ev: "folded",
      t: 10,
      w: 0,
      task: 0,
      work: 70,
      span: 50,
      ready_integral: 60,
      tasks: 2,
      spawns: 1,
      syncs: 1,
      strands: 4,
      levels: 1,
      envelope: [
        [50, 0],
        [30, 2],
      ],
      sites: [{ ...site, lengths: [0, 0, 0, 1, 1] }],
      blocks: [
        ["fib.c:9", null, 30],
        [0, "fib.c:9", 40],
      ],
    },
    { ev: "end", t: 90, w: 0, task: 0 },
  ];
  return `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`;
}
