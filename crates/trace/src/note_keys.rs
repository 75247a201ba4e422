//! Keys of the notes that readers understand, shared by writers and readers. Notes with other keys
//! are shown as they are.

/// The program's name.
pub const NAME: &str = "name";
/// The command line.
pub const COMMAND: &str = "command";
/// The machine's name.
pub const HOST: &str = "host";
/// The number of CPUs that the process could use.
pub const CPUS: &str = "cpus";
/// The number of cores that these CPUs are hardware threads of, if it is smaller.
pub const CPU_CORES: &str = "cores";
/// The kinds of cores among them, if there are several.
pub const CPU_KINDS: &str = "kinds of cores";
/// The number of NUMA nodes that they belong to, if there are several.
pub const NUMA_NODES: &str = "NUMA nodes";
/// The CPUs of each NUMA node, if there are several: `0: 0-3,8; 1: 4-7`.
pub const NUMA_NODE_CPUS: &str = "CPUs of NUMA nodes";
/// The CPU time that the process's control group allows, in CPUs, if that is less than the number
/// of CPUs.
pub const CPU_QUOTA: &str = "CPU quota";
/// A runtime with its version; there may be several.
pub const RUNTIME: &str = "runtime";
/// A sentence that warns the user; there may be several.
pub const WARNING: &str = "warning";
/// What thieves take: `child` or `continuation`.
pub const STEALS: &str = "steals";
/// `late` if the ends of tasks may be recorded after their waiters went on.
pub const ENDS: &str = "ends";
/// The process that started the recorded one.
pub const PARENT_PROCESS: &str = "parent process";
/// The number that the launcher gave the process among those of its run (MPI, torchrun, Slurm).
pub const RANK: &str = "rank";
/// The number of these processes.
pub const RANKS: &str = "ranks";
/// The run of a launcher that the process belongs to, if several have to be told apart.
pub const LAUNCH: &str = "launch";
/// Set for a process that the kernel's watch of the run cannot reach, as one on another host.
pub const OUTSIDE_WATCH: &str = "outside the kernel's watch";
/// The number of children that the process forked.
pub const FORKED_CHILDREN: &str = "forked children";
/// The largest grain that the recorder folded below, such as `10 µs`.
pub const FOLDED_BELOW: &str = "folded below";
/// The value of [`FOLDED_BELOW`] if subtrees of any length were folded.
pub const FOLDED_ANY_LENGTH: &str = "any length";
/// The folder in which the program was started.
pub const WORKING_FOLDER: &str = "cwd";
/// The folder that names of source files are relative to.
pub const SOURCE_FOLDER: &str = "source folder";
/// The time at which the recording began, such as `2026-11-20 23:59:59 UTC`.
pub const RECORDED: &str = "recorded";
/// The window of the run that the trace contains.
pub const PART_OF_RUN: &str = "part of the run";
/// Samples per second of CPU time.
pub const SAMPLE_HZ: &str = "sample_hz";
/// Whether samples cover the time in the kernel; the value begins with `yes` or `no`. Without the
/// note they do not.
pub const SAMPLES_IN_KERNEL: &str = "samples in the kernel";
/// CPU time of the process since its recording began, in nanoseconds.
pub const PROCESS_CPU_NS: &str = "process_cpu_ns";
/// Nanoseconds in which threads were on a CPU according to their context switches, but did not run
/// according to their CPU clocks, summed over all threads. They are off-CPU times in the trace.
pub const UNSEEN_OFF_NS: &str = "unseen_off_ns";
/// CPU time of the process while it was recorded, such as `0.270123 s`.
pub const CPU_TIME: &str = "CPU time";
/// The part of [`CPU_TIME`] that threads used while the trace has no records of them, with the
/// number of threads that it never has records of: `0.130000 s, 2 threads`.
pub const CPU_TIME_OF_OTHERS: &str = "CPU time of other threads";
/// The variable that sets the number of threads, with its value: `RAYON_NUM_THREADS=16`.
pub const THREADS_SET_BY: &str = "number of threads from";
/// What a thread may run while a task waits on it: `any`, `descendants` or `own children`.
pub const TASKS_IN_WAITS: &str = "tasks in waits";
/// Where the threads of a team find tasks: `shared` if it is one queue under one lock.
pub const TASK_QUEUE: &str = "task queue";
/// Whether stacks were taken where threads gave up the CPU.
pub const STOPS: &str = "stacks where threads blocked";
/// The cost of a probe, in ticks.
pub const PROBE_COST: &str = "probe_cost_ticks";
/// The cost of a steal, in ticks.
pub const BURDEN: &str = "burden_ticks";
/// How [`BURDEN`] was measured, and for which runtime.
pub const BURDEN_SOURCE: &str = "steal cost of";
/// The time that a join without a steal takes its thread in a run without the recorder, in ticks.
pub const BARE_JOIN: &str = "bare_join_ticks";
/// The cost of a join that is skipped for the overhead budget, in ticks, with decimals.
pub const SKIPPED_JOIN: &str = "left_out_join_ticks";
/// The cost of a task that is skipped for the overhead budget, in ticks, with decimals.
pub const SKIPPED_TASK: &str = "left_out_task_ticks";
/// The time that recording adds to the three strands of a task that is created and waited for, in
/// ticks, with decimals. Without an even share of it, each strand has its unrecorded length.
pub const RECORDED_TASK: &str = "recorded_task_ticks";
/// The number of waits of threads, or of their call stacks, that the process did not log for lack
/// of space.
pub const WAITS_LEFT_OUT: &str = "waits left out";
