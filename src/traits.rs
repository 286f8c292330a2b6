//! The traits of published hyphae, for programs that are generic over them: each method is the handle's own.

use std::panic::Location;

use uuid::Uuid;

use crate::arena;
use crate::cell::{Cell, CellMutable};
use crate::error::CellError;
use crate::id::CellId;
use crate::signal::Signal;
use crate::source::Source;
use crate::subscription::{SubscriptionGuard, SubscriptionId};

/// Something with a current value.
pub trait Gettable<T> {
    /// Clones the current value.
    fn get(&self) -> T;
}

/// A node of the dependency graph.
pub trait DepNode {
    /// Its id in the arena.
    fn cell_id(&self) -> CellId;

    /// Its UUID.
    fn id(&self) -> Uuid;

    /// Its name, if it has one.
    fn name(&self) -> Option<String> {
        arena::name(self.cell_id()).map(|name| name.to_string())
    }

    /// Its name, or `Cell(<first 8 digits of the UUID>)`.
    fn display_name(&self) -> String {
        self.name().unwrap_or_else(|| format!("Cell({})", &self.id().simple().to_string()[..8]))
    }

    /// The cells it reads directly.
    fn deps(&self) -> Vec<CellId> {
        arena::dependencies(self.cell_id()).unwrap_or_default()
    }

    /// How many cells it reads directly.
    fn dependency_count(&self) -> usize {
        self.deps().len()
    }

    /// Whether it reads any.
    fn has_dependencies(&self) -> bool {
        self.dependency_count() > 0
    }

    /// Callbacks and direct dependents together.
    fn subscriber_count(&self) -> usize {
        let dependents = arena::dependents(self.cell_id()).map_or(0, |cells| cells.len());
        arena::subscribers(self.cell_id()).unwrap_or(0) + dependents
    }

    /// Where it was made.
    fn place(&self) -> Option<&'static Location<'static>> {
        arena::place(self.cell_id())
    }

    /// All it depends on, as an indented tree.
    fn dependency_tree(&self) -> String {
        arena::dependency_tree(self.cell_id()).unwrap_or_default()
    }

    /// Prints [`DepNode::dependency_tree`].
    fn print_dependency_tree(&self) {
        print!("{}", self.dependency_tree());
    }
}

/// Something that can be subscribed to.
pub trait Watchable<T>: Clone + Gettable<T> + DepNode {
    /// See [`Cell::subscribe`].
    fn subscribe(&self, f: impl FnMut(&Signal<'_, T>) + 'static) -> SubscriptionGuard;

    /// See [`Cell::subscribe_result`].
    fn subscribe_result(
        &self,
        f: impl FnMut(&Signal<'_, T>) -> Result<(), String> + 'static,
    ) -> SubscriptionGuard;

    /// See [`Cell::unsubscribe`].
    fn unsubscribe(&self, id: SubscriptionId) {
        id.unsubscribe();
    }

    /// See [`Cell::is_complete`].
    fn is_complete(&self) -> bool;

    /// See [`Cell::is_error`].
    fn is_error(&self) -> bool {
        self.error().is_some()
    }

    /// See [`Cell::error`].
    fn error(&self) -> Option<CellError>;
}

/// Something that can be written.
pub trait Mutable<T> {
    /// See [`Cell::set`].
    fn set(&self, value: T);

    /// See [`Cell::complete`].
    fn complete(&self);

    /// See [`Cell::fail`].
    fn fail(&self, error: impl Into<Box<dyn std::error::Error>>);
}

impl<T: Clone + 'static, M> Gettable<T> for Cell<T, M> {
    #[track_caller]
    fn get(&self) -> T {
        Cell::get(self)
    }
}

impl<T: 'static, M> DepNode for Cell<T, M> {
    fn cell_id(&self) -> CellId {
        Cell::cell_id(self)
    }

    #[track_caller]
    fn id(&self) -> Uuid {
        Cell::id(self)
    }
}

impl<T: 'static> DepNode for Source<T> {
    fn cell_id(&self) -> CellId {
        Source::cell_id(self)
    }

    #[track_caller]
    fn id(&self) -> Uuid {
        Source::id(self)
    }
}

impl<T: Clone + 'static, M> Watchable<T> for Cell<T, M> {
    #[track_caller]
    fn subscribe(&self, f: impl FnMut(&Signal<'_, T>) + 'static) -> SubscriptionGuard {
        Cell::subscribe(self, f)
    }

    #[track_caller]
    fn subscribe_result(
        &self,
        f: impl FnMut(&Signal<'_, T>) -> Result<(), String> + 'static,
    ) -> SubscriptionGuard {
        Cell::subscribe_result(self, f)
    }

    fn is_complete(&self) -> bool {
        Cell::is_complete(self)
    }

    fn error(&self) -> Option<CellError> {
        Cell::error(self)
    }
}

impl<T: 'static> Mutable<T> for Cell<T, CellMutable> {
    #[track_caller]
    fn set(&self, value: T) {
        Cell::set(self, value);
    }

    #[track_caller]
    fn complete(&self) {
        Cell::complete(self);
    }

    #[track_caller]
    fn fail(&self, error: impl Into<Box<dyn std::error::Error>>) {
        Cell::fail(self, error);
    }
}

/// What a cell holds: any type that can be cloned. Implemented for all of them; no operator here asks for more than it
/// needs, so that new code has no use for this.
#[cfg(feature = "compat")]
pub trait CellValue: Clone + 'static {}

#[cfg(feature = "compat")]
impl<T: Clone + 'static> CellValue for T {}
