//! Finds out which messages overtook others.

use std::collections::{BTreeMap, BTreeSet};

use super::recording::Entry;

/// The entries of `left` that have to move for the others to be in the order of the right side.
/// Only what one side sends in one conversation has an order.
pub(super) fn moved(left: &[Entry], to_right: &[Option<usize>]) -> BTreeSet<usize> {
    let mut groups: BTreeMap<_, Vec<(usize, usize)>> = BTreeMap::new();
    for (index, (entry, other)) in left.iter().zip(to_right).enumerate() {
        if let Some(other) = other {
            let side = entry.from.map(|side| side as usize);
            groups.entry((side, entry.session)).or_default().push((index, *other));
        }
    }
    let mut moved = BTreeSet::new();
    for group in groups.into_values() {
        let others: Vec<usize> = group.iter().map(|(_, other)| *other).collect();
        let kept: BTreeSet<usize> = longest_increasing(&others).into_iter().collect();
        let is_moved = |position: &usize| !kept.contains(position);
        moved.extend((0..group.len()).filter(is_moved).map(|position| group[position].0));
    }
    moved
}

/// Positions of a longest increasing subsequence, last one first.
fn longest_increasing(values: &[usize]) -> Vec<usize> {
    // The position of the smallest value that ends a subsequence of each length.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(values.len());
    for (position, value) in values.iter().enumerate() {
        let length = ends.partition_point(|end| values[*end] < *value);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        match ends.get_mut(length) {
            Some(end) => *end = position,
            None => ends.push(position),
        }
    }
    let mut positions = Vec::with_capacity(ends.len());
    let mut next = ends.last().copied();
    while let Some(position) = next {
        positions.push(position);
        next = before[position];
    }
    positions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fewest_have_to_move() {
        for (values, expected) in [
            (&[0, 1, 2, 3][..], 4),
            (&[3, 0, 1, 2], 3),
            (&[1, 0, 3, 2], 2),
            (&[3, 2, 1, 0], 1),
            (&[], 0),
        ] {
            let kept = longest_increasing(values);
            assert_eq!(kept.len(), expected, "{values:?}");
            assert!(kept.windows(2).all(|two| values[two[1]] < values[two[0]]));
        }
    }
}
