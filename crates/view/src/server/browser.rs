//! Opens the user's browser.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::token;

/// The file that gives a browser the address. It is removed when this is dropped.
#[derive(Debug)]
pub struct AddressFile {
    file: PathBuf,
}

impl Drop for AddressFile {
    fn drop(&mut self) {
        // The file is no longer needed, and may already be gone with its folder.
        let _ = fs::remove_file(&self.file);
    }
}

/// Opens `url` in a browser if this session has a display; `None` if no browser was started.
///
/// Every user of the machine can read the arguments of every process, and the address contains the
/// key. So the browser gets a file that only this user can read, and that redirects to the address.
pub fn open_browser(url: &str) -> Option<AddressFile> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    set("DISPLAY").or_else(|| set("WAYLAND_DISPLAY"))?;
    let folder = set("XDG_RUNTIME_DIR").map_or_else(std::env::temp_dir, PathBuf::from);
    let written = write(&folder, url).or_else(|_| write(&std::env::temp_dir(), url));
    let told = written.ok()?;
    let mut command = Command::new("xdg-open");
    command
        .arg(&told.file)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    // The process ends once the browser has taken the address. Its exit status is not needed.
    std::thread::spawn(move || child.wait());
    Some(told)
}

/// Writes a page that redirects to `url`, under a name that can't be guessed.
fn write(folder: &Path, url: &str) -> io::Result<AddressFile> {
    let told = AddressFile {
        file: folder.join(format!("workspan-{}.html", token::random()?)),
    };
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&told.file)?;
    // The address consists of digits, letters and `:/.` only.
    write!(
        file,
        "<!doctype html>\n<meta charset=\"utf-8\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta http-equiv=\"refresh\" content=\"0; url={url}\">\n<title>workspan</title>\n<a href=\"{url}\">The run</a>\n"
    )?;
    Ok(told)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that can't go on has failed")]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn the_page_is_its_users_alone_and_goes_with_the_server() {
        let folder = std::env::temp_dir();
        let told = write(&folder, "http://127.0.0.1:8417/key/").unwrap();
        let file = told.file.clone();
        let mode = fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert!(!file.to_string_lossy().contains("key"));
        let page = fs::read_to_string(&file).unwrap();
        assert!(
            page.contains("content=\"0; url=http://127.0.0.1:8417/key/\""),
            "{page}"
        );
        drop(told);
        assert!(!file.exists());
    }
}
