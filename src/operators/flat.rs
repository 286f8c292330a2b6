//! `flat!`: a closure over the nested pairs that chained `join`s give.

/// A closure over left-nested pairs, written with flat parameters: `flat!(|a, b, c| ..)` is `|((a, b), c)| ..`.
///
/// ```
/// use hyphae::{Cell, Pipeline, flat};
/// let (a, b, c) = (Cell::new(1), Cell::new(2), Cell::new(3));
/// let sum = a.join(&b).join(&c).map(flat!(|a, b, c| a + b + c)).materialize();
/// assert_eq!(sum.get(), 6);
/// ```
#[macro_export]
macro_rules! flat {
    (@nest $pattern:pat, |$next:ident $(, $rest:ident)*| $body:expr) => {
        $crate::flat!(@nest ($pattern, $next), |$($rest),*| $body)
    };
    (@nest $pattern:pat, | | $body:expr) => {
        |$pattern| $body
    };
    (|$first:ident, $second:ident $(, $rest:ident)* $(,)?| $body:expr) => {
        $crate::flat!(@nest ($first, $second), |$($rest),*| $body)
    };
}
