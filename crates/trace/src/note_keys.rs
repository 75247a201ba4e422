//! Keys of the notes that readers understand, shared by those who write and those who read them.
//! Notes with other keys are shown as they are.

/// The program's name.
pub const NAME: &str = "name";
/// The command line.
pub const COMMAND: &str = "command";
/// The machine's name.
pub const HOST: &str = "host";
/// CPUs that the process could use.
pub const CPUS: &str = "cpus";
/// Cores that these CPUs are hardware threads of, where they are fewer.
pub const CPU_CORES: &str = "cores";
/// Kinds of cores among them, where they are several.
pub const CPU_KINDS: &str = "kinds of cores";
/// NUMA nodes that they belong to, where they are several.
pub const NUMA_NODES: &str = "NUMA nodes";
/// CPUs' worth of time that the process's control group allows, where that is less than the CPUs.
pub const CPU_QUOTA: &str = "CPU quota";
/// A runtime with its version; there may be several.
pub const RUNTIME: &str = "runtime";
/// A sentence to warn the user with; there may be several.
pub const WARNING: &str = "warning";
/// What thieves take: `child` or `continuation`.
pub const STEALS: &str = "steals";
/// `late` if the ends of tasks may be recorded after their waiters went on.
pub const ENDS: &str = "ends";
/// The process that started the recorded one.
pub const PARENT_PROCESS: &str = "parent process";
/// The number that the launcher gave the process among those of its run (MPI, torchrun, Slurm).
pub const RANK: &str = "rank";
/// How many of them there are.
pub const RANKS: &str = "ranks";
/// Which run of a launcher it belongs to, where several are told apart.
pub const LAUNCH: &str = "launch";
/// Children that the process forked.
pub const FORKED_CHILDREN: &str = "forked children";
/// The largest grain that the recorder folded below, such as `10 µs`.
pub const FOLDED_BELOW: &str = "folded below";
/// What that key says where subtrees of any length were folded.
pub const FOLDED_ANY_LENGTH: &str = "any length";
/// Where the program was started.
pub const WORKING_FOLDER: &str = "cwd";
/// The folder that names of source files are relative to.
pub const SOURCE_FOLDER: &str = "source folder";
/// When the recording began, such as `2026-11-20 23:59:59 UTC`.
pub const RECORDED: &str = "recorded";
/// The window of the run that the trace has.
pub const PART_OF_RUN: &str = "part of the run";
/// Samples per second of CPU time.
pub const SAMPLE_HZ: &str = "sample_hz";
/// CPU time of the process since its recording began, in nanoseconds.
pub const PROCESS_CPU_NS: &str = "process_cpu_ns";
/// Nanoseconds that threads were on a CPU by their context switches and did not run by their CPU
/// clocks, all threads together; they are times off the CPU in the trace.
pub const UNSEEN_OFF_NS: &str = "unseen_off_ns";
/// CPU time of the process while it was recorded, such as `0.270123 s`.
pub const CPU_TIME: &str = "CPU time";
/// The part of [`CPU_TIME`] of threads while the trace has no records of them, with the number of
/// threads that it never has any of: `0.130000 s, 2 threads`.
pub const CPU_TIME_OF_OTHERS: &str = "CPU time of other threads";
/// The variable that sets the number of threads, with its value: `RAYON_NUM_THREADS=16`.
pub const THREADS_SET_BY: &str = "number of threads from";
/// What a thread may run while a task waits on it: `any`, `descendants` or `own children`.
pub const TASKS_IN_WAITS: &str = "tasks in waits";
/// Whether stacks were taken where threads gave up the CPU.
pub const STOPS: &str = "stacks where threads blocked";
/// The cost of a probe in ticks.
pub const PROBE_COST: &str = "probe_cost_ticks";
/// The cost of a steal in ticks.
pub const BURDEN: &str = "burden_ticks";
/// How [`BURDEN`] was measured, and for which runtime.
pub const BURDEN_SOURCE: &str = "steal cost of";
/// What a join that nobody steals takes its thread in a run without the recorder, in ticks.
pub const BARE_JOIN: &str = "bare_join_ticks";
/// What a join costs that is skipped for the overhead budget, in ticks, with decimals.
pub const SKIPPED_JOIN: &str = "left_out_join_ticks";
/// What a task costs that is skipped for the overhead budget, in ticks, with decimals.
pub const SKIPPED_TASK: &str = "left_out_task_ticks";
/// What recording adds to the three strands of a task that is created and waited for, in ticks,
/// with decimals. Taken out of them evenly, it leaves what the task takes bare.
pub const RECORDED_TASK: &str = "recorded_task_ticks";
/// Waits of threads, or call stacks of them, that the process did not log for want of room.
pub const WAITS_LEFT_OUT: &str = "waits left out";
