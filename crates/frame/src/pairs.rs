//! Paired comparisons: `pair(winner, loser)` is +1 for the level of its first column and -1 for that
//! of its second, over the levels of both together.

use std::collections::HashSet;

use crate::error::DataError;
use crate::evaluate::Source;
use crate::factors::sort_naturally;
use crate::formula::syntax::{Kind, Node};
use crate::levels::{Key, Levels};

/// The name of the function.
pub(crate) const PAIR: &str = "pair";

/// The first and the second column of a `pair(...)`.
pub(crate) type Sides = [Key; 2];

/// Whether an expression is `pair(...)`.
pub(crate) fn is_pair(node: &Node) -> bool {
    matches!(&node.bare().kind, Kind::Call(function, _) if function == PAIR)
}

/// The levels of both columns together, in natural order, and those of each row.
pub(crate) fn levels(
    source: &Source<'_>, sides: &Sides, rows: &[usize],
) -> Result<(Vec<String>, Vec<[u32; 2]>), DataError> {
    let [first, second] =
        [Levels::of_key(source, &sides[0], rows)?, Levels::of_key(source, &sides[1], rows)?];
    let known: HashSet<&String> = first.names.iter().collect();
    let others = second.names.iter().filter(|name| !known.contains(name));
    let all: Vec<String> = first.names.iter().chain(others).cloned().collect();
    let mut order: Vec<usize> = (0..all.len()).collect();
    sort_naturally(&mut order, |&k| &all[k]);
    let names: Vec<String> = order.iter().map(|&k| all[k].clone()).collect();
    let codes = coded(source, sides, rows, &names, [&first, &second])?;
    Ok((names, codes))
}

/// The numbers that the levels of each row have in a list; `u32::MAX` for one that is not there.
pub(crate) fn within(
    source: &Source<'_>, sides: &Sides, rows: &[usize], names: &[String],
) -> Result<Vec<[u32; 2]>, DataError> {
    let [first, second] =
        [Levels::of_key(source, &sides[0], rows)?, Levels::of_key(source, &sides[1], rows)?];
    coded(source, sides, rows, names, [&first, &second])
}

fn coded(
    source: &Source<'_>, sides: &Sides, rows: &[usize], names: &[String], each: [&Levels; 2],
) -> Result<Vec<[u32; 2]>, DataError> {
    let name = |levels: &Levels, at: usize| levels.names[levels.codes[at] as usize].clone();
    // Names are compared, because a level that is not in the list has no number.
    let second = each[1].codes_within(&each[0].names, u32::MAX);
    if let Some(at) = (0..rows.len()).find(|&at| each[0].codes[at] == second[at]) {
        let place = source.table.cell(rows[at], sides[0].column());
        let (level, other) = (name(each[0], at), sides[1].column().to_owned());
        return Err(DataError::SamePair { place, level, other });
    }
    let [a, b] = each.map(|levels| levels.codes_within(names, u32::MAX));
    Ok(a.into_iter().zip(b).map(|(a, b)| [a, b]).collect())
}

/// The number of parts that were never compared with each other.
pub(crate) fn parts(levels: usize, rows: &[[u32; 2]]) -> usize {
    let mut above: Vec<usize> = (0..levels).collect();
    let mut count = levels;
    for pair in rows {
        let [a, b] = pair.map(|mut level| {
            while above[level as usize] != level as usize {
                let next = above[above[level as usize]];
                above[level as usize] = next;
                level = u32::try_from(next).unwrap_or(level);
            }
            level as usize
        });
        if a != b {
            above[a] = b;
            count -= 1;
        }
    }
    count
}

/// What to say where levels were not all compared with each other, directly or through others.
pub(crate) fn note(name: &str, levels: usize, rows: &[[u32; 2]]) -> Option<String> {
    let parts = parts(levels, rows);
    (parts > 1).then(|| {
        format!(
            "the levels of `{name}` fall into {parts} parts that no row compares: the data say nothing \
             about differences between levels of different parts, and the priors decide"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn levels_that_no_chain_of_rows_joins_are_in_different_parts() {
        assert_eq!(parts(5, &[[0, 1], [2, 1], [3, 4]]), 2);
        assert_eq!(parts(5, &[[0, 1], [2, 1], [3, 4], [4, 0], [1, 3]]), 1);
        assert_eq!(parts(3, &[]), 3);
    }
}
