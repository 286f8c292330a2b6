//! A chunked vector: the column in which per-rank rows are kept.
//!
//! Elements live in boxed chunks of [`CHUNK`] elements, so growing never moves an element that is
//! already there and never needs more than one new chunk at once.
//!
//! The chunks are boxes, or shared: then whoever holds one reads its elements without the column, and elements are changed
//! through cells of their own.
//!
//! What it does not know: what its elements mean. Nothing here is about ranks or graphs.
//!
//! Invariants:
//! - I1: `chunks` holds enough chunks for `len` elements and at most one chunk more.
//! - I2: every element at or after `len` is `T::default()`, so a popped element keeps nothing alive.
//!
//! Costs: `push`, `pop`, and indexing are O(1); no operation but `shrink_to_fit` touches elements
//! other than those it is asked for. A chunk in use occupies its full size.

use std::marker::PhantomData;
use std::mem;
use std::ops::{Deref, DerefMut, Index, IndexMut};
use std::rc::Rc;

/// Elements to a chunk; a power of two.
pub(crate) const CHUNK: usize = 1024;
/// `log2(CHUNK)`.
const SHIFT: u32 = CHUNK.trailing_zeros();

/// A vector in chunks that never moves its elements when it grows.
#[derive(Clone, Debug)]
pub(crate) struct Column<T, C = Box<[T; CHUNK]>> {
    /// The chunks, all of the same size.
    chunks: Vec<C>,
    /// Elements in use.
    len: usize,
    _element: PhantomData<T>,
}

/// A column whose chunks are shared.
pub(crate) type SharedColumn<T> = Column<T, Rc<[T; CHUNK]>>;

impl<T, C: Deref<Target = [T; CHUNK]>> Default for Column<T, C> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T, C: Deref<Target = [T; CHUNK]>> Column<T, C> {
    /// An empty column; allocates nothing.
    pub(crate) const fn new() -> Self {
        Self { chunks: Vec::new(), len: 0, _element: PhantomData }
    }

    /// The number of elements.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The number of elements for which there is memory.
    pub(crate) fn capacity(&self) -> usize {
        self.chunks.len() * CHUNK
    }

    /// The heap bytes held, not counting what the elements themselves own.
    pub(crate) fn bytes(&self) -> usize {
        self.capacity() * size_of::<T>() + self.chunks.capacity() * size_of::<C>()
    }

    /// The element at `index`, if there is one.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> Option<&T> {
        (index < self.len).then(|| &self.chunks[index >> SHIFT][index % CHUNK])
    }

    /// The chunk that holds the element at `index`, if there is memory for one: the element is at `index % CHUNK` in it.
    /// Elements of the chunk past the end of the column are default ones.
    #[inline]
    pub(crate) fn chunk_of(&self, index: usize) -> Option<&C> {
        self.chunks.get(index >> SHIFT)
    }

    /// The elements in order.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        let (full, rest) = (self.len >> SHIFT, self.len % CHUNK);
        let tail = self.chunks.get(full).map_or(&[][..], |last| &last[..rest]);
        let full = self.chunks[..full].iter();
        full.flat_map(|chunk| chunk.iter()).chain(tail)
    }

    /// Gives back the spare chunk and the slack of the chunk table.
    pub(crate) fn shrink_to_fit(&mut self) {
        self.chunks.truncate(self.len.div_ceil(CHUNK));
        self.chunks.shrink_to_fit();
    }

    /// Shortens it to `len` elements, where those behind are default ones.
    pub(crate) fn cut(&mut self, len: usize) {
        debug_assert!(len <= self.len);
        self.len = len;
        if len.is_multiple_of(CHUNK) || self.chunks.len() > (len >> SHIFT) + 2 {
            self.drop_surplus();
        }
    }

    /// Keeps one spare chunk at most.
    #[cold]
    fn drop_surplus(&mut self) {
        self.chunks.truncate(self.len.div_ceil(CHUNK) + 1);
    }
}

impl<T: Default, C: Chunk<T>> Column<T, C> {
    /// Appends a default element.
    #[inline]
    pub(crate) fn extend(&mut self) -> &T {
        let index = self.len;
        if index >> SHIFT == self.chunks.len() {
            self.add_chunk();
        }
        self.len = index + 1;
        &self.chunks[index >> SHIFT][index % CHUNK]
    }

    /// Adds one chunk of default elements.
    #[cold]
    fn add_chunk(&mut self) {
        self.chunks.push(C::of_defaults());
    }
}

/// What a column is made of.
pub(crate) trait Chunk<T>: Deref<Target = [T; CHUNK]> {
    /// A chunk of default elements, made where it stays.
    fn of_defaults() -> Self;
}

impl<T: Default> Chunk<T> for Box<[T; CHUNK]> {
    fn of_defaults() -> Self {
        let chunk: Box<[T]> = (0..CHUNK).map(|_| T::default()).collect();
        chunk.try_into().unwrap_or_else(|_| unreachable!("a chunk has CHUNK elements"))
    }
}

impl<T: Default> Chunk<T> for Rc<[T; CHUNK]> {
    fn of_defaults() -> Self {
        let chunk: Rc<[T]> = (0..CHUNK).map(|_| T::default()).collect();
        chunk.try_into().unwrap_or_else(|_| unreachable!("a chunk has CHUNK elements"))
    }
}

impl<T: Default> Column<T> {
    /// The element at `index`, to change it; `None` where there is no memory for one. Past the end of the column, in its
    /// last chunk, that is a spare one: the caller does not ask for it.
    #[cfg(feature = "trace")]
    #[inline]
    pub(crate) fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        debug_assert!(index < self.len || index >= self.capacity());
        self.chunks.get_mut(index >> SHIFT).map(|chunk| &mut chunk[index % CHUNK])
    }

    /// Appends an element.
    #[inline]
    pub(crate) fn push(&mut self, value: T) {
        let index = self.len;
        if index >> SHIFT == self.chunks.len() {
            self.add_chunk();
        }
        self.chunks[index >> SHIFT][index % CHUNK] = value;
        self.len = index + 1;
    }

    /// Removes the last element.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<T> {
        let last = self.len.checked_sub(1)?;
        let value = mem::take(&mut self.chunks[last >> SHIFT][last % CHUNK]);
        self.len = last;
        if last % CHUNK == 0 {
            self.drop_surplus();
        }
        Some(value)
    }
}

impl<T, C: Deref<Target = [T; CHUNK]>> Index<usize> for Column<T, C> {
    type Output = T;

    #[inline]
    fn index(&self, index: usize) -> &T {
        debug_assert!(
            index < self.len,
            "index {index} is out of bounds of a column of {}",
            self.len
        );
        &self.chunks[index >> SHIFT][index % CHUNK]
    }
}

impl<T, C: DerefMut<Target = [T; CHUNK]>> IndexMut<usize> for Column<T, C> {
    #[inline]
    fn index_mut(&mut self, index: usize) -> &mut T {
        debug_assert!(
            index < self.len,
            "index {index} is out of bounds of a column of {}",
            self.len
        );
        &mut self.chunks[index >> SHIFT][index % CHUNK]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::rc::Rc;

    fn cut_to<T: Default>(column: &mut Column<T>, len: usize) {
        while column.len() > len {
            column.pop();
        }
    }

    #[test]
    fn behaves_like_a_vector() {
        let mut column = Column::new();
        for i in 0..3 * CHUNK + 7 {
            column.push(i);
        }
        column[5] = 50;
        column[6] = 60;
        assert_eq!(column.get(5), Some(&50));
        assert_eq!(column.get(3 * CHUNK + 7), None);
        assert_eq!(column.iter().count(), column.len());
        assert_eq!(column.iter().nth(6), Some(&60));
        assert_eq!(column.iter().next_back(), Some(&(3 * CHUNK + 6)));
        cut_to(&mut column, CHUNK);
        assert_eq!(column.iter().count(), CHUNK);
        assert_eq!(column.pop(), Some(CHUNK - 1));
    }

    #[test]
    fn keeps_one_spare_chunk_at_most() {
        let mut column = Column::new();
        for _ in 0..4 * CHUNK {
            column.push(0u8);
        }
        cut_to(&mut column, CHUNK);
        assert_eq!(column.capacity(), 2 * CHUNK);
        cut_to(&mut column, 0);
        assert_eq!(column.capacity(), CHUNK);
        assert!(column.len() == 0 && column.pop().is_none());
        column.shrink_to_fit();
        assert_eq!(column.bytes(), 0);
    }

    #[test]
    fn popped_elements_are_not_kept_alive() {
        let value = Rc::new(());
        let mut column = Column::new();
        column.push(Some(Rc::clone(&value)));
        column.push(Some(Rc::clone(&value)));
        cut_to(&mut column, 1);
        assert_eq!(Rc::strong_count(&value), 2);
        assert_eq!(column.pop(), Some(Some(Rc::clone(&value))));
        assert_eq!(Rc::strong_count(&value), 1);
    }

    #[test]
    #[should_panic(expected = "out of bounds")]
    fn an_index_past_the_end_panics_inside_a_chunk() {
        let mut column = Column::new();
        column.push(1);
        let _ = column[1];
    }
}
