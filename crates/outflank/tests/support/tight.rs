//! A file system with hardly any room.

use crate::lab::Lab;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// A small file system in the folder `tight` of a lab, which goes with the test.
pub struct Tight<'a> {
    place: PathBuf,
    _lab: &'a Lab,
}

impl<'a> Tight<'a> {
    /// Mounts it; nothing, and a word about it, where that is not allowed.
    pub fn mount(lab: &'a Lab, size: &str) -> Option<Tight<'a>> {
        let place = lab.file("tight");
        fs::create_dir(&place).unwrap();
        let tight = Tight { place, _lab: lab };
        let mounted = tight.call(&format!("size={size}"));
        if !mounted {
            eprintln!("skipped: a small file system cannot be mounted here");
        }
        mounted.then_some(tight)
    }

    /// Mounts with these options; says whether that went well.
    pub fn call(&self, options: &str) -> bool {
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", options, "none"]).arg(&self.place);
        mount.output().is_ok_and(|output| output.status.success())
    }
}

impl Drop for Tight<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.place).output();
    }
}
