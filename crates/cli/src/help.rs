//! `workspan help`: the commands, and the terms of the report in a sentence or two.

use anyhow::bail;
use clap::CommandFactory;

use crate::command::Cli;
use crate::output::print;
use crate::targets::closest;

/// Explains a command, or a term of the report
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  workspan help
  workspan help report
  workspan help span
  workspan help terms      # the list of terms")]
pub struct HelpArgs {
    /// A command or a term
    #[arg(value_name = "TOPIC", num_args = 0..)]
    topic: Vec<String>,
}

/// The terms, each with what it means for a reader of the report.
const TERMS: [(&str, &str); 38] = [
    (
        "strand",
        "A stretch of one task on one thread without any task-parallel primitive in it. Strands are what the\n\
      measures add up.",
    ),
    (
        "task",
        "One run of a piece of work that was created: one side of a join, one spawned closure. The root task is\n\
      the program's main thread.",
    ),
    (
        "spawn site",
        "The line that creates tasks. All tasks created there are one row of the report.",
    ),
    (
        "work",
        "The time all strands took together, as if one worker had run them: T1. Time off the CPU and the\n\
      recorder's own time are taken out.",
    ),
    (
        "span",
        "The heaviest chain of strands that had to run one after the other: T-infinity. No number of workers can\n\
      be faster.",
    ),
    (
        "parallelism",
        "Work divided by span: the speedup that no number of workers can exceed.",
    ),
    (
        "burden",
        "What a steal costs. It is added to every edge a thief can take for the burdened span, which so shows\n\
      what scheduling may cost at worst.",
    ),
    (
        "burdened",
        "Burdened parallelism is work divided by the burdened span. Far below the parallelism: the tasks are\n\
      too small for their number.",
    ),
    (
        "average maximal strand",
        "Work divided by 1 + 2 spawns + waits: the mean stretch between primitives. It should be\n\
      well above the cost of a steal.",
    ),
    (
        "speedup",
        "`at most` is the smaller of the workers and the parallelism; `at least` is Cilkview's lower bound with\n\
      the burdened span. `busy, here` is the mean number of workers at work in this run.",
    ),
    (
        "delay",
        "Worker time in which a worker was free while a strand was ready: the scheduler had not brought them\n\
      together yet.",
    ),
    (
        "no work",
        "Worker time in which a worker was free and nothing was ready. `program`: the program offered nothing.\n\
      `scheduler`: a strand that would have offered something was itself waiting to be started.",
    ),
    (
        "descheduled",
        "Time inside strands in which the thread could have run, but the system ran something else.",
    ),
    (
        "blocked",
        "Time inside strands in which the thread gave up the CPU itself: I/O, a lock, a channel.",
    ),
    (
        "recording",
        "Time the recorder's own probes took inside strands: their number times what one costs. Where it is more\n\
         than 10 % of the work, work and span carry it as ±: the correction can be off by its own size.",
    ),
    (
        "oversubscribed",
        "Time in which more strands ran than there are workers.",
    ),
    (
        "buried",
        "A wait that is over while its thread runs an unrelated task above it, so that it can't go on.",
    ),
    (
        "steal",
        "A strand started by another worker than the one that made it ready.",
    ),
    (
        "leapfrog",
        "A steal while a task of the thief was in a wait: it runs something else instead of idling (`report --statistics`).",
    ),
    (
        "critical",
        "The share of the span that belongs to strands of the site's tasks. The shares add up to 100 %.",
    ),
    (
        "edge",
        "What made a strand ready. create: the task was created; create continuation, wait continuation, yield\n\
         continuation: the task's own strand before; end: the last task it waited for ended; depend: the last task\n\
         it depends on ended; signal: the signal was set.",
    ),
    (
        "code block",
        "The strands of a site's tasks that lie between the same two positions, as `join sort.rs:37 -> end`: from\n\
         the return of that join to the end of the task. `start` is the task's start.",
    ),
    (
        "root",
        "The program's main thread as a task, from the start of recording to its end, so that serial parts count.\n\
         Other threads that enter the runtime by themselves are roots too.",
    ),
    (
        "ready path",
        "From the strand that ended last back to the strand that made it ready, and so on: what the run\n\
      waited for. It splits the elapsed time into work, waiting for a busy worker, and waiting for the scheduler.",
    ),
    (
        "stretch",
        "What the same work took longer in a run on many workers than in a run on one: caches and memory are\n\
         shared. `workspan stretch` says where.",
    ),
    (
        "noise",
        "What runs of one program differ by. A difference between two sides of several runs is within the noise\n\
         when the 95 % interval of the difference of their means holds 0.",
    ),
    (
        "low parallelism",
        "The times in which fewer strands ran than there are workers, those that lost most first, with\n\
      the strands that ran in them. `alone`: nothing else ran.",
    ),
    (
        "cause",
        "Why worker time was lost. Every lost tick has exactly one: serial-strand, spawn-loop, grain-fine, grain-coarse,\n\
         slow-thief, buried-wait, bounded-queue, stretch, descheduled, oversubscription, blocked, other-threads, other-pool,\n\
         or none of these. docs/causes.md defines them.",
    ),
    (
        "serial-strand",
        "A cause: everything waited for one strand, a serial part of the program. Make it parallel or shorter, or let it\n\
         run beside something else.",
    ),
    (
        "spawn-loop",
        "A cause: one task creates the tasks one after the other, slower than the workers run them. Let tasks create tasks.",
    ),
    (
        "grain-fine",
        "A cause: the tasks are so small that getting or recording one costs about what it does. A cutoff or a chunk size\n\
         helps.",
    ),
    (
        "grain-coarse",
        "A cause: at the end of a phase workers have nothing to do while the last, long tasks run. Smaller, more even\n\
         tasks help.",
    ),
    (
        "slow-thief",
        "A cause: a strand was ready and a worker free for longer than four steals take.",
    ),
    (
        "buried-wait",
        "A cause: a wait was over, but its thread ran an unrelated task above it. See also: buried.",
    ),
    (
        "oversubscription",
        "A cause: strands could have run, but more threads of the program itself wanted to than there are CPUs. Use as many\n\
         threads as CPUs.",
    ),
    (
        "other-threads",
        "A cause: a thread waited for threads that call no runtime, and that the report has no strands of.",
    ),
    (
        "other-pool",
        "A cause: a pool's workers were all busy, and those of another pool, which had nothing to do, can't take its tasks.",
    ),
    (
        "bounded-queue",
        "A cause: the runtime ran a new task on its creator's thread at once, as when its queue is full, and the creator\n\
         created no more meanwhile.",
    ),
];

/// `workspan help`.
///
/// # Errors
/// There is no such topic, or stdout can't be written.
pub fn run(args: &HelpArgs) -> anyhow::Result<()> {
    let topic = args.topic.join(" ").to_lowercase();
    let mut command = Cli::command();
    if topic.is_empty() {
        return print(&command.render_help().to_string());
    }
    if topic == "terms" {
        return print(&format!("{}\n", list().join("\n")));
    }
    if let Some(sub) = command.find_subcommand_mut(&topic) {
        let help = sub
            .clone()
            .bin_name(format!("workspan {topic}"))
            .render_help();
        return print(&help.to_string());
    }
    let wanted = |name: &str| {
        name == topic || topic.strip_suffix('s') == Some(name) || topic == name.replace(' ', "-")
    };
    match TERMS.iter().find(|(name, _)| wanted(name)) {
        Some((name, meaning)) => print(&format!("{name}\n  {}\n", meaning.replace('\n', "\n  "))),
        None => {
            let mut known = list();
            known.extend(command.get_subcommands().map(clap::Command::get_name));
            bail!(
                "no command or term `{topic}`; the closest: {}; `workspan help terms` lists the terms",
                closest(&topic, &known).join(", ")
            )
        }
    }
}

fn list() -> Vec<&'static str> {
    TERMS.iter().map(|t| t.0).collect()
}
