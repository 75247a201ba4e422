//! `workspan flame`.

use std::io::BufWriter;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use workspan_analysis::stretch::{StretchOptions, stretch};
use workspan_analysis::{
    FlameOf, FlameOptions, FlameStack, Options, Stretched, flame, report, stretched,
};
use workspan_dag::Dag;
use workspan_export::flame::{figure, folded, svg};
use workspan_export::plot::{Page, PlotRun, flame_png, flame_svg};

use crate::plot::{PIXELS_PER_POINT, page};
use crate::trace::TraceArgs;

/// Draws a flame graph of logical stacks: the spawn sites from the root, then the code
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Examples:
  workspan flame run.wspan -o flame.svg                        # all CPU time
  workspan flame run.wspan --of critical-path -o critical.svg  # what bounds the speedup
  workspan flame run.wspan --size column -o flame.svg          # a still figure for a paper
  workspan flame run.wspan --size slide -o flame.png
  workspan flame run.wspan --of no-work-app                    # folded text: what ran while workers idled
  workspan flame run.wspan --of site=sort.rs:37 -o sort.svg
  workspan flame run.wspan --of stretch --serial one.wspan -o stretch.svg

What can be shown:
  all            CPU time
  critical-path  the heaviest path: less of this makes any number of workers faster
  ready-path     what the run waited for, as it was scheduled
  no-work-app    workers idle for want of work, given to the code that ran meanwhile
  site=TEXT      tasks of the spawn sites that TEXT names, with what they created
  stretch        what took longer than in the serial run of --serial (memory, caches, locks)

Stacks go from the root through the spawn sites of a task's ancestors, wherever it was stolen to, and end in the sampled
code; the runtime's own frames are left out. A file that ends in .svg is a picture that can be zoomed and searched in a
browser, or a still figure with --size; .png is a still figure; any other is folded text.")]
pub struct FlameArgs {
    #[command(flatten)]
    trace: TraceArgs,
    /// Which samples to show: all, critical-path, ready-path, no-work-app, site=TEXT, stretch
    #[arg(long, value_name = "WHAT", default_value = "all", value_parser = what)]
    of: FlameOf,
    /// A run of the same program on one worker, for --of stretch
    #[arg(long, value_name = "FILE")]
    serial: Option<PathBuf>,
    /// Show each level of recursion separately, instead of merging tasks that create tasks of their
    /// own site
    #[arg(long)]
    recursion: bool,
    /// Draw a still figure with a legend: its width and height in points, `column` of a paper
    /// (252x180, text of 7 points) or `slide` (960x540, text of 18)
    #[arg(long, value_name = "WxH|column|slide", value_parser = page)]
    size: Option<Page>,
    /// Output file (default: folded text to stdout)
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
}

fn what(text: &str) -> Result<FlameOf, String> {
    Ok(match text {
        "all" => FlameOf::All,
        "critical-path" => FlameOf::CriticalPath,
        "ready-path" => FlameOf::ReadyPath,
        "no-work-app" => FlameOf::NoWorkApp,
        "stretch" => FlameOf::Stretch(Stretched::new()),
        other => match other.strip_prefix("site=") {
            Some(site) if !site.is_empty() => FlameOf::Site(site.to_owned()),
            _ => {
                return Err(
                    "expected all, critical-path, ready-path, no-work-app, site=TEXT or stretch"
                        .to_owned(),
                );
            }
        },
    })
}

/// The heading of the picture.
fn title(dag: &Dag, selection: &FlameOf) -> String {
    let name = dag.meta.name.as_deref().unwrap_or("run");
    let shown = match selection {
        FlameOf::All => "CPU time".to_owned(),
        FlameOf::CriticalPath => "Critical path".to_owned(),
        FlameOf::ReadyPath => "Ready path".to_owned(),
        FlameOf::NoWorkApp => "Idle workers, by what ran meanwhile".to_owned(),
        FlameOf::Site(site) => format!("Tasks of {site}"),
        FlameOf::Stretch(_) => "Longer than in the serial run".to_owned(),
    };
    format!("{name}: {shown}")
}

/// `workspan flame`.
///
/// # Errors
/// The trace can't be read or has no samples, the selection is empty, or the output can't be
/// written.
pub fn run(args: &FlameArgs) -> anyhow::Result<()> {
    let dag = args.trace.open_each_task()?;
    let stacks = stacks(&dag, args)?;
    let Some(path) = &args.output else {
        if args.size.is_some() {
            bail!("--size draws a picture: name a file that ends in .svg or .png with -o");
        }
        let mut out = BufWriter::new(std::io::stdout().lock());
        folded(&stacks, &mut out)?;
        return Ok(());
    };
    let ending = path.extension().and_then(|ending| ending.to_str());
    let ending = ending.unwrap_or_default().to_ascii_lowercase();
    let title = title(&dag, &args.of);
    let still = || -> anyhow::Result<_> { Ok(figure(&stacks, &title, &subtitle(&dag, &stacks)?)) };
    let bytes = match (ending.as_str(), args.size) {
        ("svg", Some(page)) => flame_svg(&still()?, &page).into_bytes(),
        ("png", page) => flame_png(&still()?, &page.unwrap_or(Page::SLIDE), PIXELS_PER_POINT)
            .context("the picture could not be made; try another --size")?,
        (_, Some(_)) => bail!(
            "{}: --size draws a picture, so the file must end in .svg or .png",
            path.display()
        ),
        (ending, None) => {
            let mut out = Vec::new();
            match ending {
                "svg" => svg(&stacks, &title, &subtitle(&dag, &stacks)?, &mut out)?,
                _ => folded(&stacks, &mut out)?,
            }
            out
        }
    };
    crate::plot::put(path, bytes)
}

/// # Errors
/// The trace at `file` has no samples; the message says why.
pub(crate) fn need_samples(dag: &Dag, file: &Path) -> anyhow::Result<()> {
    if dag.samples.is_empty() {
        let file = file.display();
        let why = if dag.samples.hertz > 0 {
            "the run was too short for one; record a longer one, or more often with --sample 9973"
        } else {
            "it was recorded with --sample off or where the kernel takes none; record it again (`workspan info` shows the \
             reason)"
        };
        bail!("{file}: has no samples of the code: {why}");
    }
    Ok(())
}

fn stacks(dag: &Dag, args: &FlameArgs) -> anyhow::Result<Vec<FlameStack>> {
    need_samples(dag, &args.trace.file)?;
    let file = args.trace.file.display();
    let how = FlameOptions {
        recursion: args.recursion,
    };
    let selection = selection_of(dag, args)?;
    let stacks = flame(dag, &Options::default(), &selection, how)?;
    if stacks.iter().all(|stack| stack.ns == 0) {
        let hint = match &args.of {
            FlameOf::Site(_) => "; `workspan report` lists the spawn sites",
            _ => "",
        };
        bail!(
            "{file}: none of its {} samples fell there{hint}",
            dag.samples.len()
        );
    }
    Ok(stacks)
}

/// The selection of samples, with the serial run if that is needed.
fn selection_of(dag: &Dag, args: &FlameArgs) -> anyhow::Result<FlameOf> {
    if !matches!(args.of, FlameOf::Stretch(_)) {
        return Ok(args.of.clone());
    }
    let Some(serial) = &args.serial else {
        bail!(
            "--of stretch needs a run of the same program on one worker: give it with --serial FILE"
        );
    };
    let options = args.trace.reading.each_task();
    let serial = crate::trace::open(serial, &options)?;
    let report = report(dag, &Options::default())?;
    let found = stretch(&serial, dag, &report, &StretchOptions::default())?;
    Ok(FlameOf::Stretch(stretched(&found, dag)))
}

fn subtitle(dag: &Dag, stacks: &[FlameStack]) -> anyhow::Result<String> {
    let report = report(dag, &Options::default())?;
    let run = PlotRun {
        name: String::new(),
        dag,
        report: &report,
    };
    let total: u64 = stacks.iter().map(|stack| stack.ns).sum();
    let parts = [
        run.verdict(),
        format!("{:.1} ms shown", total as f64 / 1e6),
        format!("{} samples at {} Hz", dag.samples.len(), dag.samples.hertz),
    ];
    Ok(parts.join(" · "))
}
