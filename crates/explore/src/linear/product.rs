//! The product of the explored part of a system with an automaton.
//!
//! **Implements** the product as SPIN builds it: in a state the automaton reads the state's letter, then the
//! system moves; where the system cannot move and runs are to be extended, the automaton moves alone. So a
//! node is a state and where the automaton is before it has read the letter of that state.
//! **Differs from the text** in that states are kept, expanded and judged once, however many nodes they are
//! in, and that edges of the product are made from those of the system whenever they are asked for.
//! **Checked by** SPIN's counts of product states.

use super::tester::Tester;
use crate::Graph;
use stubborn_ltl::{Automaton, Letter, State};

const NONE: u32 = u32::MAX;
/// All edges of the system were looked at.
const OVER: u32 = u32::MAX - 1;

/// A state of the system with a state of the automaton.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// The number of the state in the store.
    pub(super) state: u32,
    /// Where the automaton is.
    pub(super) at: State,
    /// Another node of the same state.
    sibling: u32,
    /// The node from which it was found first; itself at the beginning.
    pub(super) parent: u32,
}

/// What is known of the product.
pub(super) struct Product<'a> {
    pub(super) automaton: &'a Automaton,
    /// If there, it moves in the place of the automaton.
    pub(super) tester: Option<Tester<'a>>,
    /// The edges of the system.
    pub(super) graph: Graph,
    /// By state of the automaton: whether its nodes are expanded each on its own; and the edges of such nodes.
    pub(super) is_guided: Vec<bool>,
    pub(super) own: Graph,
    /// By state: its letter.
    pub(super) letters: Vec<Letter>,
    pub(super) nodes: Vec<Node>,
    /// By state: the node of it that was found last.
    newest: Vec<u32>,
    /// Whether a run that ends goes on in its last state for ever.
    extends: bool,
}

/// Where an enumeration of moves is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor {
    /// Edge of the automaton.
    edge: u32,
    /// Edge of the system to look at next; [`NONE`] if the automaton's edge has not been looked at.
    at: u32,
}

impl Cursor {
    pub(super) const START: Self = Self { edge: 0, at: NONE };
}

/// An edge of the product.
#[derive(Clone, Copy, Debug)]
pub(super) struct Move {
    /// The state of the system that it leads to.
    pub(super) state: u32,
    /// Where the automaton goes.
    pub(super) at: State,
    /// The acceptance sets that it is in.
    pub(super) marks: u64,
    /// The system's edge; `None` if the system has ended.
    pub(super) edge: Option<u32>,
}

impl<'a> Product<'a> {
    /// `graphs` are without edges as yet: for states, and for nodes.
    pub(super) fn new(
        automaton: &'a Automaton,
        has_tester: bool,
        is_guided: Vec<bool>,
        graphs: [Graph; 2],
        extends: bool,
    ) -> Self {
        let (letters, nodes, newest) = (Vec::new(), Vec::new(), Vec::new());
        let tester = has_tester.then(|| Tester::new(automaton));
        let [graph, own] = graphs;
        Self { automaton, tester, graph, is_guided, own, letters, nodes, newest, extends }
    }

    /// Whether a node is expanded on its own, and not with all of its state.
    pub(super) fn is_guided(&self, node: u32) -> bool {
        let at = self.nodes[node as usize].at as usize;
        self.is_guided.get(at).copied().unwrap_or(false)
    }

    /// Where the edges of the system for a node are.
    fn edges_of(&self, node: u32) -> (&Graph, u32) {
        if self.is_guided(node) { (&self.own, node) } else { (&self.graph, self.nodes[node as usize].state) }
    }

    /// Whether the state of a node has no successor; or none that leads anywhere.
    pub(super) fn is_terminal(&self, node: u32) -> bool {
        let (graph, row) = self.edges_of(node);
        graph.is_terminal(row)
    }

    /// Makes room for `n` states.
    pub(super) fn cover(&mut self, n: usize) {
        self.graph.cover(n);
        if n > self.newest.len() {
            self.newest.resize(n, NONE);
        }
    }

    /// The nodes of a state.
    pub(super) fn nodes_of(&self, state: u32) -> impl Iterator<Item = u32> + '_ {
        let first = Some(self.newest[state as usize]).filter(|&node| node != NONE);
        std::iter::successors(first, |&node| {
            Some(self.nodes[node as usize].sibling).filter(|&node| node != NONE)
        })
    }

    /// The node of a state of both, if it was found.
    pub(super) fn find(&self, state: u32, at: State) -> Option<u32> {
        self.nodes_of(state).find(|&node| self.nodes[node as usize].at == at)
    }

    /// Adds a node, if it is new; `parent` is `None` at the beginning.
    pub(super) fn add(&mut self, state: u32, at: State, parent: Option<u32>) -> Option<u32> {
        if self.find(state, at).is_some() {
            return None;
        }
        let node = self.nodes.len() as u32;
        let sibling = std::mem::replace(&mut self.newest[state as usize], node);
        self.nodes.push(Node { state, at, sibling, parent: parent.unwrap_or(node) });
        if self.is_guided(node) {
            self.own.cover(self.nodes.len());
        }
        Some(node)
    }

    /// Whether a state has no successor, and the run stays in it.
    pub(super) fn stays(&self, state: u32) -> bool {
        self.extends && self.graph.is_terminal(state)
    }

    /// Whether the automaton can read the letter of a state.
    pub(super) fn can_read(&self, at: State, state: u32) -> bool {
        let letter = self.letters[state as usize];
        self.automaton.edges(at).iter().any(|edge| edge.guard.holds(letter))
    }

    /// Whether the automaton can go on in a node.
    pub(super) fn is_alive(&self, node: Node) -> bool {
        if let Some(tester) = &self.tester {
            let behaviour = tester.behaviour(node.at, self.letters[node.state as usize]);
            return behaviour.is_livelock_monitor || !behaviour.hops.is_empty();
        }
        self.can_read(node.at, node.state)
    }

    /// The next move of a node whose state was expanded, and the cursor after it.
    pub(super) fn next_move(&self, node: u32, cursor: &mut Cursor) -> Option<Move> {
        let Node { state, at, .. } = self.nodes[node as usize];
        let letter = self.letters[state as usize];
        if let Some(tester) = &self.tester {
            return self.next_test(tester, node, cursor);
        }
        let (graph, row) = self.edges_of(node);
        loop {
            let edge = self.automaton.edges(at).get(cursor.edge as usize)?;
            let made = |to: u32, via: Option<u32>| Move {
                state: to,
                at: edge.target,
                marks: self.automaton.marks(at, edge),
                edge: via,
            };
            if cursor.at == NONE {
                let first = graph.first_edge(row).filter(|_| edge.guard.holds(letter));
                if let Some(first) = first {
                    cursor.at = first;
                } else {
                    cursor.edge += 1;
                    let is_last = self.extends && graph.is_terminal(row);
                    if is_last && edge.guard.holds(letter) {
                        return Some(made(state, None));
                    }
                    continue;
                }
            }
            let (target, next) = graph.edge(cursor.at);
            let found = made(target, Some(cursor.at));
            match next {
                Some(next) => cursor.at = next,
                None => *cursor = Cursor { edge: cursor.edge + 1, at: NONE },
            }
            return Some(found);
        }
    }

    /// The same for a tester: it stays as long as the letter does.
    fn next_test(&self, tester: &Tester<'_>, node: u32, cursor: &mut Cursor) -> Option<Move> {
        let Node { state, at, .. } = self.nodes[node as usize];
        let letter = self.letters[state as usize];
        if cursor.at == NONE {
            let Some(first) = self.graph.first_edge(state) else {
                let stays = self.extends && self.graph.is_terminal(state) && cursor.edge == 0;
                cursor.edge = 1;
                return stays.then_some(Move { state, at, marks: 0, edge: None });
            };
            cursor.at = first;
        }
        while cursor.at != OVER {
            let (target, next) = self.graph.edge(cursor.at);
            let edge = Some(cursor.at);
            let following = Cursor { edge: 0, at: next.unwrap_or(OVER) };
            if self.letters[target as usize] == letter {
                *cursor = following;
                return Some(Move { state: target, at, marks: 0, edge });
            }
            let behaviour = tester.behaviour(at, letter);
            if let Some(&(at, is_accepting)) = behaviour.hops.get(cursor.edge as usize) {
                cursor.edge += 1;
                return Some(Move { state: target, at, marks: u64::from(is_accepting), edge });
            }
            *cursor = following;
        }
        None
    }

    /// Whether the tester stays at a livelock monitor with a move: nothing is to be seen of it.
    pub(super) fn stays_at_monitor(&self, node: u32, found: &Move) -> bool {
        let Node { state, at, .. } = self.nodes[node as usize];
        let letter = self.letters[state as usize];
        let is_monitor = |tester: &Tester<'_>| tester.behaviour(at, letter).is_livelock_monitor;
        letter == self.letters[found.state as usize] && self.tester.as_ref().is_some_and(is_monitor)
    }

    /// All moves of a node to nodes that were found.
    pub(super) fn moves(&self, node: u32) -> impl Iterator<Item = (u32, Move)> + '_ {
        let mut cursor = Cursor::START;
        std::iter::from_fn(move || {
            loop {
                let found = self.next_move(node, &mut cursor)?;
                if let Some(target) = self.find(found.state, found.at) {
                    return Some((target, found));
                }
            }
        })
    }

    /// Memory in use, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.graph.bytes()
            + self.own.bytes()
            + self.nodes.len() * size_of::<Node>()
            + self.newest.len() * (4 + size_of::<Letter>())
    }
}
