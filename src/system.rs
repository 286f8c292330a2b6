//! What is asked of the operating system, other than the time: environment variables.

/// The number in an environment variable; `None` where there is none.
pub(crate) fn number_of(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.trim().parse().ok()
}
