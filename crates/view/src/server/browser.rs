//! The user's browser.

use std::process::{Command, Stdio};

/// Opens `url` in a browser when this session has a display; true when one was started.
pub fn open_browser(url: &str) -> bool {
    let display = ["DISPLAY", "WAYLAND_DISPLAY"]
        .iter()
        .any(|name| std::env::var_os(name).is_some_and(|v| !v.is_empty()));
    if !display {
        return false;
    }
    let mut command = Command::new("xdg-open");
    command
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let Ok(mut child) = command.spawn() else {
        return false;
    };
    // It ends once the browser has taken the address; nobody needs its outcome.
    std::thread::spawn(move || child.wait());
    true
}
