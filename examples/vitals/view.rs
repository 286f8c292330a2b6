//! Which part of the machine is shown.
//!
//! Knows the names and what belongs together, not how any of it is computed or written.

use std::fmt;

/// What is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum View {
    /// Processors, memory, swap space and load.
    Cpu,
    /// Network interfaces.
    Net,
    /// Disks.
    Disk,
    /// All of these.
    #[default]
    All,
}

impl View {
    /// All of them, as the usage names them.
    pub(crate) const ALL: [Self; 4] = [Self::Cpu, Self::Net, Self::Disk, Self::All];

    /// The view of this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|view| view.name() == name)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Net => "net",
            Self::Disk => "disk",
            Self::All => "all",
        }
    }

    /// Whether it shows what another view shows.
    pub(crate) fn has(self, part: Self) -> bool {
        self == part || self == Self::All
    }
}

impl fmt::Display for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_is_found_by_its_name_alone() {
        for view in View::ALL {
            assert_eq!(View::named(&view.to_string()), Some(view));
        }
        for name in ["", "CPU", "cpu ", "memory"] {
            assert_eq!(View::named(name), None, "{name}");
        }
    }

    #[test]
    fn all_has_every_view_and_the_others_themselves() {
        for (view, part) in
            View::ALL.into_iter().flat_map(|view| View::ALL.map(|part| (view, part)))
        {
            assert_eq!(view.has(part), view == View::All || view == part);
        }
    }
}
