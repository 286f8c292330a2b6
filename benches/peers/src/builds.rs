//! The other builds of this program: made by cargo when they are asked for, beside the one that runs.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::libraries::{Build, Entry};

/// Where each build lies.
#[derive(Default)]
pub(crate) struct Builds {
    main: PathBuf,
    others: Vec<(Build, PathBuf)>,
}

impl Builds {
    /// Makes the builds that hold `libraries`.
    pub(crate) fn make(libraries: &[&Entry]) -> Result<Self, String> {
        let main = env::current_exe().map_err(|e| format!("where this program lies: {e}"))?;
        let mut others: Vec<(Build, PathBuf)> = Vec::new();
        for build in libraries.iter().map(|library| library.build) {
            if let Some([profile, features]) = build.how()
                && !others.iter().any(|(made, _)| *made == build)
            {
                others.push((build, cargo(&main, profile, features)?));
            }
        }
        Ok(Self { main, others })
    }

    /// The program that holds `library`.
    pub(crate) fn of(&self, library: &Entry) -> &Path {
        let other = self.others.iter().find(|(build, _)| *build == library.build);
        other.map_or(&self.main, |(_, path)| path)
    }
}

/// Builds into the target directory that `main` lies in, where each profile has a folder of its own.
fn cargo(main: &Path, profile: &str, features: &str) -> Result<PathBuf, String> {
    let profiles = main.parent().and_then(Path::parent).ok_or("no target directory")?;
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["build", "--locked", "--quiet", "--manifest-path", manifest]);
    command.args(["--profile", profile, "--no-default-features", "--features", features]);
    command.arg("--target-dir").arg(profiles);
    eprintln!("building the profile {profile} with {features}");
    match command.status() {
        Ok(status) if status.success() => {
            let name = main.file_name().ok_or("no file name")?;
            Ok(profiles.join(profile).join(name))
        }
        Ok(status) => Err(format!("cargo could not build the profile {profile}: {status}")),
        Err(error) => Err(format!("cargo could not be run: {error}")),
    }
}
