//! Where in a data file something is, and how values and names are written in messages.

use std::fmt;

/// A row of a file, as shown to the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Row {
    /// The line of a text file where the row begins; the first line is 1.
    Line(u64),
    /// The row of a file without lines, such as Parquet; the first row is 1.
    Row(u64),
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Row(row) => write!(f, "row {row}"),
        }
    }
}

/// A place in a file: the file, and where known the row and the column.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Place {
    /// The file as the user named it.
    pub file: String,
    /// The row.
    pub row: Option<Row>,
    /// The name of the column.
    pub column: Option<String>,
}

impl Place {
    /// A file as a whole.
    #[must_use]
    pub fn file(file: &str) -> Box<Self> {
        Box::new(Self { file: file.to_owned(), row: None, column: None })
    }

    /// A line of a file.
    #[must_use]
    pub fn line(file: &str, line: u64) -> Box<Self> {
        Box::new(Self { file: file.to_owned(), row: Some(Row::Line(line)), column: None })
    }

    /// A column of a file.
    #[must_use]
    pub fn column(file: &str, column: &str) -> Box<Self> {
        Box::new(Self { file: file.to_owned(), row: None, column: Some(column.to_owned()) })
    }

    /// A cell of a file.
    #[must_use]
    pub fn cell(file: &str, row: Row, column: &str) -> Box<Self> {
        Box::new(Self { file: file.to_owned(), row: Some(row), column: Some(column.to_owned()) })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(row) = self.row {
            write!(f, ", {row}")?;
        }
        if let Some(column) = &self.column {
            write!(f, ", column `{}`", shown(column, NAME_SHOWN))?;
        }
        Ok(())
    }
}

/// Names are shown up to this many characters: long names must stay distinguishable.
pub const NAME_SHOWN: usize = 400;
/// Values of cells are shown up to this many characters.
pub const VALUE_SHOWN: usize = 60;

/// Text for a message: control characters escaped, so that a file cannot write to the terminal, and
/// cut at `limit` characters.
#[must_use]
pub fn shown(text: &str, limit: usize) -> String {
    let mut out = String::new();
    for (count, character) in text.chars().enumerate() {
        if count == limit {
            out.push('…');
            break;
        }
        if character.is_control() {
            out.extend(character.escape_default());
        } else {
            out.push(character);
        }
    }
    out
}

/// A number for a message: the shortest form that reads back, with an exponent if very large or
/// small.
#[must_use]
pub fn number(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 || (1e-5..1e16).contains(&size) {
        value.to_string()
    } else {
        format!("{value:e}")
    }
}

/// A list of names in backquotes: the first few, and how many more there are.
#[must_use]
pub fn listed<S: AsRef<str>>(names: &[S], most: usize) -> String {
    let mut parts: Vec<String> = names
        .iter()
        .take(most)
        .map(|name| format!("`{}`", shown(name.as_ref(), VALUE_SHOWN)))
        .collect();
    if names.len() > most {
        parts.push(format!("and {} more", names.len() - most));
    }
    parts.join(", ")
}

/// The most similar name, if at most a third of the characters and at most five differ.
#[must_use]
pub fn nearest<'a>(name: &str, among: impl Iterator<Item = &'a str>) -> Option<String> {
    let wanted: Vec<char> = name.to_lowercase().chars().collect();
    let mut limit = (wanted.len() / 3).clamp(1, 5);
    let mut best = None;
    for candidate in among {
        if candidate.chars().count().abs_diff(wanted.len()) > limit {
            continue;
        }
        let letters: Vec<char> = candidate.to_lowercase().chars().collect();
        if let Some(distance) = edits(&wanted, &letters, limit) {
            best = Some(candidate.to_owned());
            if distance == 0 {
                break;
            }
            limit = distance - 1;
        }
    }
    best
}

/// The end of a message about a name that does not exist.
#[must_use]
pub fn suggestion(nearest: Option<&str>, known: &[String]) -> String {
    match nearest {
        Some(name) => format!("; did you mean `{}`?", shown(name, NAME_SHOWN)),
        None => format!("; available: {}", listed(known, 12)),
    }
}

/// The number of insertions, deletions and replacements from one word to another, if it is at most
/// `limit`.
fn edits(from: &[char], to: &[char], limit: usize) -> Option<usize> {
    let mut above: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.iter().enumerate() {
        let mut current = Vec::with_capacity(above.len());
        current.push(i + 1);
        for (j, b) in to.iter().enumerate() {
            let replaced = above[j] + usize::from(a != b);
            current.push(replaced.min(above[j + 1] + 1).min(current[j] + 1));
        }
        // The smallest entry of a row never falls in the rows below it.
        if current.iter().min().is_none_or(|&least| least > limit) {
            return None;
        }
        above = current;
    }
    above.last().copied().filter(|&distance| distance <= limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_similar_name_is_suggested() {
        let names = ["age", "height", "weight_kg", "Response"];
        let near = |name| nearest(name, names.into_iter());
        assert_eq!(near("agee").as_deref(), Some("age"));
        assert_eq!(near("response").as_deref(), Some("Response"));
        assert_eq!(near("wieght_kg").as_deref(), Some("weight_kg"));
        assert_eq!(near("income"), None);
        assert_eq!(near(""), None);
    }

    #[test]
    fn edits_are_counted_as_in_the_textbook() {
        let chars = |text: &str| text.chars().collect::<Vec<_>>();
        assert_eq!(edits(&chars("kitten"), &chars("sitting"), 9), Some(3));
        assert_eq!(edits(&chars("kitten"), &chars("sitting"), 2), None);
        assert_eq!(edits(&[], &chars("ab"), 2), Some(2));
    }

    #[test]
    fn messages_have_no_control_characters_and_are_truncated() {
        assert_eq!(shown("a\u{1b}[2Jb\n", 40), "a\\u{1b}[2Jb\\n");
        assert_eq!(shown("abcdef", 3), "abc…");
    }
}
