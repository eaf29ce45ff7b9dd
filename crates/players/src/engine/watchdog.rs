//! Kills the engines if this program is killed.
//!
//! A program that is killed cannot kill its engines. So a second process, a shell that runs
//! [`SCRIPT`], reads the process groups of the engines from a pipe. The system closes the pipe when
//! this program ends for any reason, and the shell then kills the groups that are still registered.
//!
//! A parent-death signal (`PR_SET_PDEATHSIG`) would not be enough: it is sent when the *thread* that
//! started the engine ends, it does not reach the children of an engine, and only Linux has it.
//!
//! On systems without process groups nothing is registered. There an engine ends when its standard
//! input closes, which both protocols require.

/// The registration of a process group, which ends when it is dropped.
pub(super) struct Registration {
    #[cfg(unix)]
    group: u32,
}

#[cfg(unix)]
mod shell {
    use std::io::Write;
    use std::os::unix::process::CommandExt;
    use std::process::{ChildStdin, Command, Stdio};
    use std::sync::{Mutex, PoisonError};

    /// Reads `+ GROUP` and `- GROUP` until the pipe closes, then kills the remaining groups.
    const SCRIPT: &str = r#"trap '' HUP INT TERM
live=' '
while read -r sign group; do
  case $sign in
    +) live="$live$group " ;;
    -) live="${live%% $group *} ${live#* $group }" ;;
  esac
done
for group in $live; do kill -s KILL -- "-$group"; done"#;

    /// The input of the shell; `None` until the first engine starts.
    static INPUT: Mutex<Option<ChildStdin>> = Mutex::new(None);

    /// Starts the shell in its own process group, so that a signal to the group of this program does
    /// not end it.
    fn start() -> Option<ChildStdin> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", SCRIPT]).current_dir("/").process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().ok()?.stdin
    }

    /// Sends a line. Without a shell, engines run unprotected.
    pub(super) fn send(sign: char, group: u32) {
        let mut input = INPUT.lock().unwrap_or_else(PoisonError::into_inner);
        if input.is_none() {
            *input = start();
        }
        if let Some(pipe) = input.as_mut() {
            // One write, since the lines are shorter than a pipe's atomic size.
            let _ = pipe.write_all(format!("{sign} {group}\n").as_bytes());
        }
    }
}

impl Registration {
    /// Registers the process group of an engine.
    pub(super) fn new(group: u32) -> Registration {
        #[cfg(unix)]
        {
            shell::send('+', group);
            Registration { group }
        }
        #[cfg(not(unix))]
        {
            let _ = group;
            Registration {}
        }
    }
}

#[cfg(unix)]
impl Drop for Registration {
    fn drop(&mut self) {
        shell::send('-', self.group);
    }
}
