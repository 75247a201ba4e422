//! Which processes the kernel's watch of a run can reach.

/// The kernel of this process, and the namespaces in which its process ids and its clocks count.
/// Where two processes have different scopes, as on two hosts or in two containers, equal process
/// ids are different processes.
pub fn watch_scope() -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let namespace = |kind: &str| {
        let link = std::fs::read_link(format!("/proc/self/ns/{kind}"));
        link.map_or_else(|_| kind.to_owned(), |link| link.display().to_string())
    };
    format!("{} {} {}", boot.trim(), namespace("pid"), namespace("time"))
}
