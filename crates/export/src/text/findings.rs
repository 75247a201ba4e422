//! The findings: where most worker time was lost, why, and what to do about it.

mod phrases;

use workspan_analysis::causes::{Cause, Finding, WORTH_A_FINDING};
use workspan_analysis::{CriticalBlock, Suggestion, Target, WaitKind, blocked_in, hot_function_of};
use workspan_dag::StartKind;

use super::advice::advice;
use super::{View, code};
use crate::page::{Page, Piece, Tone, plain, strong};
use crate::position::{is_thread, label, owner_words};
use crate::quantity::{percent_of, ratio, share, thousands};
use crate::what_if::command;
use phrases::{after, counted, each, idle, in_all, task_time};
pub(super) use phrases::{block, capital};

/// The words of a finding.
pub(super) struct FindingWords {
    /// What happened and where.
    pub(super) what: Vec<Piece>,
    /// Its share of the loss.
    pub(super) share: String,
    /// What to do about it.
    pub(super) advice: &'static str,
    /// What the samples show about the place, if they show anything.
    pub(super) code: Vec<Piece>,
}

pub(super) fn words(view: &View, finding: &Finding) -> FindingWords {
    let mut what = what(view, finding);
    if let Some(first) = what.first_mut() {
        first.1 = capital(&first.1);
    }
    let mut code = match hot_function_of(view.dag, finding) {
        Some(hot) => code::sentence(&hot),
        None => Vec::new(),
    };
    if let Some(at) = blocked_in(view.dag, finding) {
        code = code::blocked(view.dag, &at);
    } else if finding.cause.is_blocked() && view.dag.meta.recorded {
        code = vec![plain(
            "What it waited for is not known: no stack was taken where it gave up the CPU.",
        )];
    }
    if let Some(sentence) = undisturbed(view, finding) {
        code.insert(0, plain(sentence));
    }
    FindingWords {
        what,
        share: share(view.report.causes.percent(finding.lost)),
        advice: advice(view, finding),
        code,
    }
}

/// What a wait would cost on a quiet machine, where that is more than its share of the loss.
fn undisturbed(view: &View, finding: &Finding) -> Option<String> {
    let causes = &view.report.causes;
    let percent = causes.undisturbed_percent(finding)?;
    let is_more = percent >= WORTH_A_FINDING && percent > causes.percent(finding.lost);
    is_more.then(|| {
        let ticks = causes.undisturbed.ticks;
        format!(
            "On a quiet machine it would take about {} of the worker time, judged by the {} of the \
             run in which no worker waited for a CPU. ",
            share(percent),
            share(percent_of(ticks, causes.total))
        )
    })
}

/// The findings that lead the report, one paragraph each.
pub(super) fn show(view: &View, page: &mut Page) {
    let findings = view.report.causes.findings();
    for (number, &finding) in findings.iter().enumerate() {
        let said = words(view, finding);
        let mut words = said.what;
        words.push(strong(format!(": {} of the lost time. ", said.share)));
        words.push(plain(said.advice));
        page.prose("  > ", 4, &words);
        if !said.code.is_empty() {
            page.prose("    ", 4, &said.code);
        }
        let suggested = view.report.suggestion.as_ref();
        if let Some(suggestion) = suggested.filter(|s| s.finding == number) {
            page.prose("  > ", 4, &faster(view, suggestion));
        }
    }
    if let Some(quiet) = view.report.on_a_quiet_machine() {
        page.prose("  > ", 4, &on_a_quiet_machine(view, quiet));
        let suggested = view.report.suggestion.as_ref();
        if let Some(suggestion) = suggested.filter(|s| s.finding == findings.len()) {
            page.prose("  > ", 4, &faster(view, suggestion));
        }
    }
    if findings.is_empty() {
        page.prose("  > ", 4, &[plain(NO_CAUSE)]);
    }
}

/// What would limit the program on an otherwise idle machine.
pub(super) fn on_a_quiet_machine(view: &View, quiet: &CriticalBlock) -> Vec<Piece> {
    let mut words = vec![plain("On a quiet machine, ")];
    let workers = view.report.breakdown.workers;
    let parallelism = ratio(view.report.work_span.parallelism());
    if quiet.is_enough {
        words.push(plain(format!(
            "the program's parallelism of {parallelism} would keep {} busy. The largest part of its critical path, ",
            super::headline::workers(workers)
        )));
    }
    let many = quiet.strands > 1;
    let percent = share(quiet.percent());
    if quiet.is_enough {
        words.push(strong(percent));
        words.push(plain(", is "));
        words.extend(block(view, &quiet.block, many));
    } else {
        words.extend(block(view, &quiet.block, many));
        words.push(plain(" would still be "));
        words.push(strong(percent));
        words.push(plain(format!(
            " of the critical path, which limits the parallelism to {parallelism}"
        )));
    }
    if words.last().is_some_and(|last| last.1.ends_with(',')) {
        words.pop();
    }
    words.push(plain("."));
    words
}

/// The parallelism if the finding's code were twice as fast, and the command with details.
pub(super) fn faster(view: &View, suggestion: &Suggestion) -> Vec<Piece> {
    let trace = view.options.trace.as_ref();
    let file = trace.map_or("FILE", |trace| trace.name.as_str());
    let mut words = vec![
        plain(match suggestion.target {
            Target::Lock(_) => "If this lock were held half as long, the parallelism would be ",
            _ => "If this code were twice as fast, the parallelism would be ",
        }),
        strong(ratio(suggestion.outcome.parallelism())),
        plain(":"),
    ];
    let mut command = command(view.dag, file, suggestion, view.measured);
    command.extend(trace.iter().flat_map(|trace| trace.options.clone()));
    for word in command {
        // An option and its value stay on one line.
        words.extend([plain(" "), (Tone::Command, word.replace(' ', "\u{a0}"))]);
    }
    words
}

/// The text instead of findings if none of the known causes explains the loss.
pub(super) const NO_CAUSE: &str = "No known cause explains the lost time; see the tables below.";

fn what(view: &View, finding: &Finding) -> Vec<Piece> {
    let (at, e) = (&finding.block, &finding.evidence);
    let time = |ticks: u64| strong(view.time(ticks as f64));
    let site = || (Tone::Path, label(view.dag, at.site).to_string());
    // Strands may overlap, so a sum over several of them is not a time of the run. The count is the
    // number of times that strands gave up the CPU, which may be many for one strand.
    let unit = match finding.cause.is_blocked() {
        true => "times",
        false => "strands",
    };
    let together = |ticks: u64| strong(view.time(ticks as f64) + &in_all(e.strands, unit));
    match finding.cause {
        Cause::SerialStrand => serial(view, finding),
        Cause::SpawnLoop => vec![
            plain(format!(
                "one task creates all {}tasks of ",
                counted(e.tasks)
            )),
            site(),
            plain(format!(" one after the other{}, for ", each(view, e))),
            time(e.ticks),
            plain(idle(view, finding)),
        ],
        Cause::GrainFine
            if e.probe_ticks
                .is_some_and(|t| u128::from(t) * 2 > finding.lost) =>
        {
            let mut words = vec![plain("strands of ")];
            words.extend(owner_words(view.dag, at.site, true));
            words.push(plain(" are so short that recording them took "));
            words.push(time(e.probe_ticks.unwrap_or(0)));
            words
        }
        Cause::GrainFine => {
            // If the mean of all tasks is not small, the tasks that something waited for are.
            let small = |task: &u64| *task < 2 * e.steal_ticks.unwrap_or(u64::MAX / 2);
            let mean = e.task_ticks.filter(small);
            let subject = match (mean, e.task_ticks) {
                (None, Some(_)) => "many tasks created at ",
                _ => "the tasks created at ",
            };
            let mut words = vec![plain(subject), site()];
            words.push(plain(" are too small"));
            let task = mean.map(|task| task_time(view, e, task));
            let steal = e.steal_ticks.map(|steal| view.time(steal as f64));
            words.push(plain(match (task, steal) {
                (Some(task), Some(steal)) => format!(": {task} each, while a steal costs {steal}"),
                (Some(task), None) => format!(": {task} each"),
                (None, Some(steal)) => format!(" for a steal, which costs {steal}"),
                (None, None) => String::new(),
            }));
            words
        }
        Cause::GrainCoarse => {
            let few = view.report.breakdown.workers;
            let too_few = e.tasks.is_some_and(|tasks| tasks < u64::from(few));
            let tasks = match (e.tasks, too_few) {
                (Some(tasks), true) if is_thread(view.dag, at.site) => {
                    format!("only {} threads started at ", thousands(tasks.into()))
                }
                (Some(tasks), true) => {
                    format!("only {} tasks created at ", thousands(tasks.into()))
                }
                _ if is_thread(view.dag, at.site) => match e.strands {
                    1 => "the last thread started at ".into(),
                    _ => "the last threads started at ".into(),
                },
                _ if e.strands == 1 => "the last task created at ".into(),
                _ => "the last tasks created at ".into(),
            };
            vec![
                plain(tasks),
                site(),
                plain(if too_few {
                    ": they ran for "
                } else {
                    " ran for "
                }),
                together(e.ticks),
                plain(idle(view, finding)),
            ]
        }
        Cause::SlowThief => {
            let mut words = if at.from_kind == StartKind::Begin {
                owner_words(view.dag, at.site, e.strands > 1)
            } else {
                after(view, at, e.strands > 1)
            };
            let were = if e.strands > 1 { "were" } else { "was" };
            words.push(plain(format!(" {were} ready for ")));
            words.push(together(e.ticks));
            if e.strands > 1 {
                let longest = view.time(e.longest as f64);
                words.push(plain(format!(", the longest for {longest},")));
            }
            words.push(plain(" while workers were free"));
            words
        }
        Cause::RestrainedStealing => {
            let mut words = owner_words(view.dag, at.site, e.strands > 1);
            words.push(plain(if e.strands > 1 {
                " were ready for "
            } else {
                " was ready for "
            }));
            words.push(together(e.ticks));
            words.push(plain(" while free threads waited inside other tasks"));
            words
        }
        Cause::BuriedWait => {
            let mut words = after(view, at, e.strands > 1);
            words.push(plain(if e.strands > 1 {
                " could continue, but their threads ran an unrelated task"
            } else {
                " could continue, but its thread ran an unrelated task"
            }));
            if let Some(above) = e.above {
                let task = view.dag.strands.task[above as usize];
                let site = view.dag.tasks.site[task as usize];
                words.push(plain(" created at "));
                words.push((Tone::Path, label(view.dag, site).to_string()));
            }
            words.push(plain(" for "));
            words.push(together(e.ticks));
            words
        }
        Cause::BoundedQueue => vec![
            plain("the runtime ran tasks created at "),
            site(),
            plain(" at once on the thread that creates them, which created no others for "),
            time(e.ticks),
        ],
        Cause::Stretch => {
            let more = strong(view.time(finding.lost as f64));
            let mut words = owner_words(view.dag, at.site, true);
            words.push(plain(" took "));
            words.push(more);
            words.push(plain(" longer than in the serial run"));
            words
        }
        Cause::Descheduled => vec![
            plain("other programs used the CPUs, and preemption cost "),
            strong(view.time(finding.lost as f64)),
            plain(" of worker time"),
        ],
        Cause::Oversubscribed => too_many_threads(view, finding),
        Cause::OtherThreads => {
            let mut words = block(view, at, e.strands > 1);
            // The wait of one thread. It is cut into pieces if other waits began or ended
            // meanwhile.
            words.push(plain(" waited "));
            words.push(time(e.ticks));
            words.push(plain(" for threads outside the pool"));
            if let Some(hot) = view
                .report
                .other_threads
                .as_ref()
                .and_then(|o| o.hottest.as_ref())
            {
                words.push(plain(", which were mostly in "));
                words.extend(code::named(hot));
            }
            words
        }
        Cause::OtherPool => other_pool(view, finding),
        Cause::ThreadStart => {
            let mut words = owner_words(view.dag, at.site, e.strands > 1);
            words.push(plain(" took "));
            words.push(together(e.ticks));
            words.push(plain(" to begin to run while others had nothing to do"));
            words
        }
        Cause::LockAcrossJoin => {
            let mut words = block(view, at, e.strands > 1);
            words.push(plain(" waited "));
            words.push(together(e.ticks));
            words.push(plain(
                " for a lock whose holder waited in a join meanwhile, where a worker runs other tasks",
            ));
            words
        }
        Cause::LateRank => late_rank(view, finding),
        cause @ (Cause::Lock | Cause::Channel | Cause::Io | Cause::Sleep | Cause::Blocked) => {
            let mut words = block(view, at, e.strands > 1);
            let kind = blocked_in(view.dag, finding).map(|at| at.kind);
            words.push(plain(match cause {
                Cause::Lock => " waited for a lock for ",
                Cause::Channel if kind == Some(WaitKind::Channel) => " waited for a channel for ",
                Cause::Channel => " waited for another thread's signal for ",
                Cause::Io => " waited for I/O for ",
                Cause::Sleep => " slept for ",
                _ if kind == Some(WaitKind::Barrier) => " waited at a barrier for ",
                _ => " gave up the CPU (I/O, locks, channels) for ",
            }));
            words.push(together(e.ticks));
            words
        }
        Cause::None => Vec::new(),
    }
}

/// The rank that the others waited for, and where it was meanwhile.
fn late_rank(view: &View, finding: &Finding) -> Vec<Piece> {
    let time = |ticks: u64| strong(view.time(ticks as f64));
    let at = blocked_in(view.dag, finding);
    let known = at.as_ref().and_then(|at| Some((at, at.late?)));
    let Some((at, late)) = known else {
        let mut words = block(view, &finding.block, finding.evidence.strands > 1);
        words.push(plain(" waited "));
        words.push(time(finding.evidence.ticks));
        words.push(plain(" for other ranks"));
        return words;
    };
    let process = view.dag.meta.processes.list.get(late.process);
    let title = process.map_or_else(|| "a rank".to_owned(), |process| process.title());
    let mut words = vec![strong(title), plain(" was late: others waited ")];
    words.push(time(late.ticks));
    words.push(plain(" for it"));
    // A small share is not worth a sentence.
    if late.ticks < late.of - late.of / 20 {
        words.push(plain(", of "));
        words.push(time(late.of));
        words.push(plain(" for all ranks"));
    }
    let holder = at.holder.as_ref();
    let ran = holder.and_then(|holder| holder.ran.as_ref());
    let ran = ran.filter(|ran| ran.of >= code::MIN_SAMPLES);
    if let Some(ran) = ran {
        words.push(plain(", while it was in "));
        words.extend(code::at_line(
            &ran.at.function,
            ran.at.file.as_deref(),
            ran.at.line,
        ));
    } else if let Some(came) = holder.and_then(|holder| holder.released_at.as_ref()) {
        words.push(plain(" until it came to "));
        words.extend(code::at_line(
            &came.function,
            came.file.as_deref(),
            came.line,
        ));
    }
    words
}

/// Says that the program has more threads than there are CPUs, and what set their number.
fn too_many_threads(view: &View, finding: &Finding) -> Vec<Piece> {
    let (dag, lost) = (view.dag, view.time(finding.lost as f64));
    let threads = super::headline::workers(view.report.breakdown.workers);
    let cpus = match dag.meta.cpus.unwrap_or(1) {
        1 => "1 CPU".to_owned(),
        n => format!("{n} CPUs"),
    };
    let outside = dag.meta.cpus.is_some_and(|cpus| dag.meta.workers <= cpus);
    let mut words = vec![plain(if outside {
        format!("threads outside the pool shared {cpus} with its {threads}")
    } else {
        format!("{threads} shared {cpus}")
    })];
    let largest = dag.pools.list.iter().max_by_key(|pool| pool.size);
    if let Some(built) = largest.and_then(|pool| pool.built.as_ref()) {
        words.push(plain(" (the pool built at "));
        words.push((Tone::Path, built.clone()));
        words.push(plain(")"));
    } else if let (Some(set), false) = (&dag.meta.run.threads_set_by, outside)
        // Something else set the size of the pool if it differs.
        && set.ends_with(&format!("={}", view.report.breakdown.workers))
    {
        words.push(plain(format!(" ({set})")));
    }
    words.push(plain(", and waiting for a CPU cost "));
    words.push(strong(lost));
    words.push(plain(" of worker time"));
    words
}

/// The pool that had the work, while workers of another pool had none.
fn other_pool(view: &View, finding: &Finding) -> Vec<Piece> {
    let dag = view.dag;
    let strand = finding.strand as usize;
    let thread = dag
        .strands
        .thread
        .get(strand)
        .zip(dag.strands.start.get(strand));
    let pool = thread.and_then(|(&thread, &start)| dag.pools.of(thread, start));
    let Some(pool) = pool.and_then(|pool| dag.pools.list.get(pool as usize)) else {
        return vec![plain("workers of another pool had nothing to do")];
    };
    let size = match pool.size {
        1 => "1 thread".to_owned(),
        n => format!("{} threads", thousands(n.into())),
    };
    let process = thread.and_then(|(&thread, &start)| dag.meta.processes.of(thread, start));
    if let Some(process) = process.and_then(|process| dag.meta.processes.list.get(process)) {
        let of_one = match pool.size {
            1 => "its only thread".to_owned(),
            _ => format!("all of its {size}"),
        };
        return vec![
            strong(process.title()),
            plain(format!(
                " kept {of_one} busy, while threads of other processes had nothing to do and could not help"
            )),
        ];
    }
    let mut words = vec![plain("the pool of "), strong(size)];
    if let Some(built) = &pool.built {
        words.push(plain(" built at "));
        words.push((Tone::Path, built.clone()));
    }
    words.push(plain(" kept all of its workers busy for "));
    words.push(strong(view.time(finding.evidence.ticks as f64)));
    words.push(plain(
        ", while the workers of another pool had nothing to do and could not help",
    ));
    words
}

fn serial(view: &View, finding: &Finding) -> Vec<Piece> {
    let e = &finding.evidence;
    let mut words = block(view, &finding.block, e.strands > 1);
    let alone = e.alone == Some(e.ticks);
    words.push(plain(if alone {
        " ran alone for "
    } else {
        " ran for "
    }));
    words.push(strong(
        view.time(e.ticks as f64) + &in_all(e.strands, "strands"),
    ));
    words.push(plain(idle(view, finding)));
    words
}
