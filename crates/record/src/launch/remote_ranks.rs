//! Passes the recorder's variables to ranks on other hosts. Open MPI starts those by `ssh` and
//! passes only the variables in its list. MPICH and Slurm pass the whole environment.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;

use crate::launch::preflight;

/// Open MPI's list of variables for all ranks, as an environment variable.
const LIST: &str = "OMPI_MCA_mca_base_env_list";
/// The same list as a parameter on the command line.
const PARAMETER: &str = "mca_base_env_list";
/// Names of Open MPI's launcher, which MPICH's may have too.
const LAUNCHERS: [&str; 4] = ["mpirun", "mpiexec", "orterun", "prterun"];

/// How the variables get into the launcher's list.
#[derive(Debug, PartialEq, Eq)]
enum PassingMethod {
    /// By its environment, which launchers of other families ignore.
    Environment,
    /// By `-x` arguments, because the user gave some, and Open MPI refuses a mixture.
    Arguments,
    /// The user's own list replaces all others, or an `-x` is of an unknown program.
    User,
}

fn passing_method(program: &OsStr, arguments: &[OsString]) -> PassingMethod {
    let has = |word: &str| arguments.iter().any(|argument| argument == word);
    match (has("-x"), has(PARAMETER)) {
        (false, false) => PassingMethod::Environment,
        (true, false) if is_open_mpi(program) => PassingMethod::Arguments,
        _ => PassingMethod::User,
    }
}

/// Whether the launcher is certainly Open MPI's. Others have no `-x`.
fn is_open_mpi(program: &OsStr) -> bool {
    let path = preflight::find(program).unwrap_or_else(|_| program.into());
    let path = path.canonicalize().unwrap_or(path);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.ends_with(".openmpi") || name == "orterun" || name == "prterun"
}

/// Whether the program is a launcher that may be Open MPI's.
fn is_launcher(program: &OsStr) -> bool {
    let name = Path::new(program).file_name().unwrap_or_default();
    let name = name.to_string_lossy();
    let (stem, family) = name.split_once('.').unwrap_or((&name, "openmpi"));
    LAUNCHERS.contains(&stem) && family == "openmpi"
}

/// The names of the variables that the command gets for the preloaded library.
fn variables(command: &Command) -> Vec<OsString> {
    let is_ours = |name: &OsStr| name == "LD_PRELOAD" || is_workspan(name);
    let changed = || command.get_envs();
    let unset = |name: &OsStr| changed().any(|(other, value)| other == name && value.is_none());
    let inherited = std::env::vars_os().map(|(name, _)| name);
    let set = changed().filter(|(_, value)| value.is_some());
    let set = set.map(|(name, _)| name.to_owned());
    let mut names: Vec<OsString> = inherited
        .chain(set)
        .filter(|name| is_ours(name) && !unset(name))
        .collect();
    names.sort();
    names.dedup();
    names
}

fn is_workspan(name: &OsStr) -> bool {
    name.to_string_lossy().starts_with("WORKSPAN_")
}

/// Makes the launcher pass the recorder's variables on to all hosts, if `program` is one of Open
/// MPI. Returns a sentence if the user has to do something.
pub(crate) fn pass_variables(
    program: &OsStr,
    arguments: &[OsString],
    command: &mut Command,
) -> Option<String> {
    if !is_launcher(program) {
        return None;
    }
    let names = variables(command);
    match passing_method(program, arguments) {
        PassingMethod::Environment => {
            let user = std::env::var_os(LIST).filter(|list| !list.is_empty());
            let all: Vec<OsString> = user.into_iter().chain(names).collect();
            command.env(LIST, all.join(OsStr::new(";")));
            None
        }
        PassingMethod::Arguments => {
            let mut with = Command::new(command.get_program());
            for name in &names {
                with.arg("-x").arg(name);
            }
            with.args(command.get_args());
            for (name, value) in command.get_envs() {
                match value {
                    Some(value) => with.env(name, value),
                    None => with.env_remove(name),
                };
            }
            *command = with;
            None
        }
        PassingMethod::User => {
            let names: Vec<String> = names
                .iter()
                .map(|name| name.to_string_lossy().into_owned())
                .collect();
            Some(format!(
                "-x or {PARAMETER} is on the command line: ranks on other hosts are recorded only if Open MPI passes {} on as well",
                names.join(", ")
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split(' ').map(OsString::from).collect()
    }

    fn passed(text: &str) -> (Command, Option<String>) {
        let all = words(text);
        let mut command = Command::new(&all[0]);
        command
            .args(&all[1..])
            .env("LD_PRELOAD", "/tool/lib.so")
            .env("WORKSPAN_SPOOL_DIR", "/shared/spool")
            .env_remove("WORKSPAN_LIBRARY");
        let message = pass_variables(&all[0], &all[1..], &mut command);
        (command, message)
    }

    fn list(command: &Command) -> Option<String> {
        let mut set = command.get_envs();
        let (_, value) = set.find(|(name, _)| *name == LIST)?;
        Some(value?.to_string_lossy().into_owned())
    }

    #[test]
    fn open_mpi_gets_the_list_of_variables() {
        let (command, message) = passed("mpirun -n 4 --host a,b ./solve");
        let list = list(&command).unwrap();
        let names: Vec<&str> = list.split(';').collect();
        assert!(names.contains(&"LD_PRELOAD"), "{list}");
        assert!(names.contains(&"WORKSPAN_SPOOL_DIR"), "{list}");
        assert!(!list.contains("WORKSPAN_LIBRARY"), "{list}");
        assert_eq!((message, command.get_args().count()), (None, 5));
    }

    #[test]
    fn a_users_own_variables_stay() {
        let (command, message) = passed("/usr/bin/mpirun.openmpi -x OMP_NUM_THREADS -n 4 ./solve");
        let arguments: Vec<_> = command.get_args().collect();
        assert_eq!(arguments[..3], ["-x", "LD_PRELOAD", "-x"], "{arguments:?}");
        assert!(
            arguments.ends_with(&["-x", "OMP_NUM_THREADS", "-n", "4", "./solve"].map(OsStr::new))
        );
        assert_eq!((list(&command), message), (None, None));
        let (command, message) = passed("mpirun --mca mca_base_env_list A=1 -n 4 ./solve");
        assert_eq!(list(&command), None);
        assert!(message.is_some_and(|message| message.contains("LD_PRELOAD, WORKSPAN_")));
    }

    #[test]
    fn other_programs_get_nothing() {
        for other in [
            "srun -n 4 ./solve",
            "mpiexec.hydra -n 4 ./solve",
            "./solve -x y",
        ] {
            let (command, message) = passed(other);
            assert_eq!((list(&command), message), (None, None), "{other}");
        }
    }
}
