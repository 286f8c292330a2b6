//! Operators without memory.

use super::{Gate, Stage, Verdict};
use crate::pipeline::{Empty, Seedness};

mod sealed {
    pub trait Sealed {}
    impl<T, E> Sealed for Result<T, E> {}
}

/// A `Result`, seen by the operators on results.
pub trait ResultLike: sealed::Sealed + 'static {
    /// The good value.
    type Ok: 'static;
    /// The bad value.
    type Err: 'static;
    /// The result itself.
    fn as_result(&self) -> Result<&Self::Ok, &Self::Err>;
}

impl<T: 'static, E: 'static> ResultLike for Result<T, E> {
    type Ok = T;
    type Err = E;

    fn as_result(&self) -> Result<&T, &E> {
        self.as_ref()
    }
}

/// Declares the type of an operator that is one closure.
macro_rules! closure_operator {
    ($($name:ident)*) => {$(
        #[doc(hidden)]
        pub struct $name<F>(pub(crate) F);

        impl<F> std::fmt::Debug for $name<F> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(stringify!($name))
            }
        }
    )*};
}

closure_operator!(Map Filter Tap MapOk MapErr CatchError UnwrapOr);

/// `unwrap_or_else` is `catch_error` under another name.
#[doc(hidden)]
pub type UnwrapOrElse<F> = CatchError<F>;

impl<T, U: 'static, F: FnMut(&T) -> U + 'static> Stage<T> for Map<F> {
    type Out = U;
    type Seed<Up: Seedness> = Up;
    const NAME: &'static str = "map";

    #[inline]
    fn step(&mut self, value: &T, _: bool) -> Option<U> {
        Some((self.0)(value))
    }
}

impl<T, F: FnMut(&T) -> bool + 'static> Gate<T> for Filter<F> {
    type Seed<Up: Seedness> = Empty;
    const NAME: &'static str = "filter";

    #[inline]
    fn admit(&mut self, value: &T, _: bool) -> Verdict {
        Verdict::pass_if((self.0)(value))
    }
}

impl<T, F: FnMut(&T) + 'static> Gate<T> for Tap<F> {
    type Seed<Up: Seedness> = Up;
    const NAME: &'static str = "tap";

    #[inline]
    fn admit(&mut self, value: &T, _: bool) -> Verdict {
        (self.0)(value);
        Verdict::PASS
    }
}

impl<R: ResultLike<Err: Clone>, U: 'static, F: FnMut(&R::Ok) -> U + 'static> Stage<R> for MapOk<F> {
    type Out = Result<U, R::Err>;
    type Seed<Up: Seedness> = Up;
    const NAME: &'static str = "map_ok";

    fn step(&mut self, value: &R, _: bool) -> Option<Self::Out> {
        Some(value.as_result().map(&mut self.0).map_err(R::Err::clone))
    }
}

impl<R: ResultLike<Ok: Clone>, U: 'static, F: FnMut(&R::Err) -> U + 'static> Stage<R>
    for MapErr<F>
{
    type Out = Result<R::Ok, U>;
    type Seed<Up: Seedness> = Up;
    const NAME: &'static str = "map_err";

    fn step(&mut self, value: &R, _: bool) -> Option<Self::Out> {
        Some(value.as_result().cloned().map_err(&mut self.0))
    }
}

impl<R: ResultLike<Ok: Clone>, F: FnMut(&R::Err) -> R::Ok + 'static> Stage<R> for CatchError<F> {
    type Out = R::Ok;
    type Seed<Up: Seedness> = Up;
    const NAME: &'static str = "catch_error";

    fn step(&mut self, value: &R, _: bool) -> Option<R::Ok> {
        Some(value.as_result().cloned().unwrap_or_else(&mut self.0))
    }
}

impl<R: ResultLike<Ok: Clone>> Stage<R> for UnwrapOr<R::Ok> {
    type Out = R::Ok;
    type Seed<Up: Seedness> = Up;
    const NAME: &'static str = "unwrap_or";

    fn step(&mut self, value: &R, _: bool) -> Option<R::Ok> {
        Some(value.as_result().unwrap_or(&self.0).clone())
    }
}
