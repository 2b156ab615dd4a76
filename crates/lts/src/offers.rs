//! What components offer where they are, as tables.
//!
//! Rules of stubborn sets ask the same of a component again and again: which edges it has with an action, and which transitions it
//! could take part in. Both are functions of the component's state, so they are found out once, if there is room.
//! **Checked by** what checks [`crate::Composition`], whose answers they are; without room it finds them out each time.

use std::ops::Range;
use stubborn_system::TransitionId;

/// Most entries of each table.
pub(crate) const ROOM: usize = 1 << 20;

/// By action of a component, and state of it: the edges with that action.
#[derive(Debug, Default)]
pub(crate) struct Edges {
    ranges: Vec<(u32, u32)>,
}

/// Where the table of an action begins, if it has one.
pub(crate) const NO_TABLE: u32 = u32::MAX;

impl Edges {
    /// Makes the table of an action; `edges` are those of each state.
    pub(crate) fn add(&mut self, n_states: usize, edges: impl Fn(u32) -> Range<usize>) -> u32 {
        if self.ranges.len() + n_states > ROOM {
            return NO_TABLE;
        }
        let first = self.ranges.len() as u32;
        let of = |state| {
            let range = edges(state);
            (range.start as u32, range.end as u32)
        };
        self.ranges.extend((0..n_states as u32).map(of));
        first
    }

    /// The edges of a state, if there is a table.
    #[inline]
    pub(crate) fn get(&self, table: u32, state: u32) -> Option<Range<usize>> {
        if table == NO_TABLE {
            return None;
        }
        let (start, end) = self.ranges[(table + state) as usize];
        Some(start as usize..end as usize)
    }
}

/// By component and state of it: the transitions that it could take part in.
#[derive(Debug, Default)]
pub(crate) struct Moves {
    /// The first state of each component in `ends`; empty if there is no room.
    firsts: Vec<u32>,
    /// Where the list of each state begins; and where the last one ends.
    starts: Vec<u32>,
    items: Vec<TransitionId>,
}

impl Moves {
    /// Makes the table of components with so many states; `list` appends those of a component and a state.
    pub(crate) fn new(n_states: &[usize], mut list: impl FnMut(usize, u32, &mut Vec<TransitionId>)) -> Self {
        if n_states.iter().sum::<usize>() > ROOM {
            return Self::default();
        }
        let mut moves = Self { starts: vec![0], ..Self::default() };
        for (component, &n) in n_states.iter().enumerate() {
            moves.firsts.push(moves.starts.len() as u32 - 1);
            for state in 0..n as u32 {
                list(component, state, &mut moves.items);
                if moves.items.len() > ROOM {
                    return Self::default();
                }
                moves.starts.push(moves.items.len() as u32);
            }
        }
        moves
    }

    /// The transitions, if there is a table.
    #[inline]
    pub(crate) fn get(&self, component: usize, state: u32) -> Option<&[TransitionId]> {
        let place = (self.firsts.get(component)? + state) as usize;
        Some(&self.items[self.starts[place] as usize..self.starts[place + 1] as usize])
    }
}
