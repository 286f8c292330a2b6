//! Where lines of text go: standard output, or memory in tests.
//!
//! A failed write is kept for the main loop, since a subscriber has nobody to tell. Knows nothing of
//! what the lines say.

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

/// A shared page; clones write to the same one.
#[derive(Clone)]
pub(crate) struct Page {
    out: Rc<RefCell<dyn Write>>,
    failed: Rc<RefCell<Option<io::Error>>>,
}

impl Page {
    /// A page on standard output.
    pub(crate) fn stdout() -> Self {
        Self::on(Rc::new(RefCell::new(io::stdout())))
    }

    /// A page on something else.
    pub(crate) fn on(out: Rc<RefCell<dyn Write>>) -> Self {
        let failed = Rc::default();
        Self { out, failed }
    }

    /// Writes a line, without blanks at its end.
    pub(crate) fn line(&self, text: &str) {
        let written = writeln!(self.out.borrow_mut(), "{}", text.trim_end());
        if let Err(error) = written {
            self.failed.borrow_mut().get_or_insert(error);
        }
    }

    /// The first error of a write since the last check.
    pub(crate) fn check(&self) -> io::Result<()> {
        self.failed.borrow_mut().take().map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes one write, then none.
    struct Full(bool);

    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if std::mem::replace(&mut self.0, true) {
                return Err(io::ErrorKind::StorageFull.into());
            }
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_failed_write_is_told_once_at_the_next_check() {
        let page = Page::on(Rc::new(RefCell::new(Full(true))));
        page.line("a");
        page.clone().line("b");
        let error = page.check().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert!(page.check().is_ok());
    }

    #[test]
    fn lines_have_no_blanks_at_their_end() {
        let out = Rc::new(RefCell::new(Vec::new()));
        Page::on(out.clone()).line(" a  ");
        assert_eq!(*out.borrow(), b" a\n");
    }
}
