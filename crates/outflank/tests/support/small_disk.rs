//! A small file system, for tests of full disks.

use crate::sandbox::Sandbox;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// A small file system in the folder `small` of a sandbox, unmounted when dropped.
pub struct SmallDisk<'a> {
    path: PathBuf,
    _sandbox: &'a Sandbox,
}

impl<'a> SmallDisk<'a> {
    /// Mounts it; `None` and a message if that is not permitted.
    pub fn mount(sandbox: &'a Sandbox, size: &str) -> Option<SmallDisk<'a>> {
        let path = sandbox.file("small");
        fs::create_dir(&path).unwrap();
        let disk = SmallDisk { path, _sandbox: sandbox };
        let mounted = disk.call(&format!("size={size}"));
        if !mounted {
            eprintln!("skipped: a small file system cannot be mounted here");
        }
        mounted.then_some(disk)
    }

    /// Mounts with these options; returns whether it succeeded.
    pub fn call(&self, options: &str) -> bool {
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", options, "none"]).arg(&self.path);
        mount.output().is_ok_and(|output| output.status.success())
    }
}

impl Drop for SmallDisk<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.path).output();
    }
}
