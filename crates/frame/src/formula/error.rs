//! Errors in a formula or condition: what was found, what is needed, and the place in the text.

use std::fmt;
use std::ops::Range;

use crate::place::shown;

/// Text around the place is shown up to this many characters on either side.
const AROUND: usize = 60;

/// Why a formula or a condition cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormulaError {
    /// The formula.
    text: String,
    /// The bytes that are wrong.
    span: Range<usize>,
    message: String,
}

impl FormulaError {
    pub(crate) fn new(text: &str, span: &Range<usize>, message: impl Into<String>) -> Self {
        Self { text: text.to_owned(), span: span.clone(), message: message.into() }
    }

    /// The message without the formula.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The bytes of the formula that are wrong; empty at its end.
    #[must_use]
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }
}

impl fmt::Display for FormulaError {
    /// The message, the formula, and marks below the place.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        let (before, rest) = match self.text.split_at_checked(self.span.start) {
            Some(parts) => parts,
            None => (self.text.as_str(), ""),
        };
        let length = self.span.end.saturating_sub(self.span.start);
        let (marked, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
        let skipped = before.chars().count().saturating_sub(AROUND);
        let start: String = before.chars().skip(skipped).collect();
        let start = format!("{}{}", if skipped > 0 { "…" } else { "" }, shown(&start, 2 * AROUND));
        let (marked, after) = (shown(marked, AROUND), shown(after, AROUND));
        let marks = "^".repeat(marked.chars().count().max(1));
        let blank = " ".repeat(start.chars().count());
        write!(f, "\n  {start}{marked}{after}\n  {blank}{marks}")
    }
}

impl std::error::Error for FormulaError {}
