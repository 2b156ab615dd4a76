//! Trees of questions: what was found for the answers that were given.
//!
//! **Implements** decision trees that grow with use. Which question comes next depends on the answers before it, so all that was found for one
//! beginning are the leaves of a tree. Questions have numbers, and so has what was found. Most choices of a long search consist of walking through trees that lie far from the cache, so a node has its first two
//! answers with it, since most have no more; where there are more, all are in a small table. An answer after which nothing is asked says itself what was found.
//! **Checked by** the choices that are remembered this way (`network/memo.rs` and `network/shortcuts.rs`).

/// What was found for one beginning after another.
#[derive(Debug, Default)]
pub struct Trees {
    nodes: Vec<Node>,
    /// Tables of answers, one behind the other: open addressing, at most half full.
    slots: Vec<Edge>,
}

/// A question, and the answers that were given to it: one or two, or a table.
#[derive(Clone, Copy, Debug)]
struct Node {
    question: u32,
    table: Table,
    few: [Edge; 2],
}

/// Where a table of answers begins, and its size as a power of two: none if that is zero.
#[derive(Clone, Copy, Debug, Default)]
struct Table(u32);

impl Table {
    /// Bits of the number where it begins, in units of the smallest table.
    const BITS: u32 = 27;
    const SMALLEST: u32 = 3;

    /// `None` if it begins too far behind.
    fn new(start: usize, log2: u32) -> Option<Self> {
        let number = start >> Self::SMALLEST;
        (number < 1 << Self::BITS && log2 < 1 << (32 - Self::BITS))
            .then_some(Self(log2 << Self::BITS | number as u32))
    }

    #[inline]
    fn is_none(self) -> bool {
        self.0 == 0
    }

    #[inline]
    fn start(self) -> usize {
        ((self.0 & ((1 << Self::BITS) - 1)) as usize) << Self::SMALLEST
    }

    #[inline]
    fn len(self) -> usize {
        1 << (self.0 >> Self::BITS)
    }

    /// The place of an answer, or where it would be.
    #[inline]
    fn find(self, slots: &[Edge], answer: i32) -> Option<usize> {
        let (start, mask) = (self.start(), self.len() - 1);
        // Answers are mostly small numbers in a row.
        let mut at = (answer as u32 ^ answer as u32 >> 16) as usize & mask;
        loop {
            let edge = slots.get(start + at)?;
            if edge.answer == answer || edge.to == To::NOTHING {
                return Some(start + at);
            }
            at = (at + 1) & mask;
        }
    }
}

/// An answer that was given, and what comes then.
#[derive(Clone, Copy, Debug)]
struct Edge {
    answer: i32,
    to: To,
}

impl Edge {
    const NONE: Self = Self { answer: 0, to: To::NOTHING };
}

/// What comes after an answer: a node, or what was found, twice the number and one if that. Or nothing yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct To(u32);

/// What comes next.
enum Next {
    Node(usize),
    Found(u32),
}

impl To {
    const NOTHING: Self = Self(u32::MAX);

    fn node(number: usize) -> Self {
        Self((number as u32) << 1)
    }

    fn found(number: u32) -> Self {
        Self(number << 1 | 1)
    }

    #[inline]
    fn next(self) -> Next {
        if self.0 & 1 == 0 { Next::Node((self.0 >> 1) as usize) } else { Next::Found(self.0 >> 1) }
    }
}

/// Nodes and finds that have numbers.
const MOST: usize = (u32::MAX >> 1) as usize;

/// The root of a tree.
#[derive(Clone, Copy, Debug)]
pub struct Root(To);

impl Trees {
    /// What was found for these answers, if all that are wanted are known.
    #[inline]
    pub(crate) fn find(&self, root: Root, mut answer: impl FnMut(u32) -> Option<i32>) -> Option<u32> {
        let mut at = root.0;
        loop {
            match at.next() {
                Next::Found(found) => return Some(found),
                Next::Node(number) => {
                    let node = &self.nodes[number];
                    at = self.after(node, answer(node.question)?)?;
                }
            }
        }
    }

    /// What comes after an answer at a node.
    #[inline]
    fn after(&self, node: &Node, answer: i32) -> Option<To> {
        let is_it = |edge: &&Edge| edge.answer == answer && edge.to != To::NOTHING;
        let edge = if node.table.is_none() {
            node.few.iter().find(is_it)?
        } else {
            self.slots.get(node.table.find(&self.slots, answer)?).filter(is_it)?
        };
        Some(edge.to)
    }

    /// Adds what was found after these questions and answers to a tree, or to a new one. Gives the root, which is a new one then; `None` if there is no room.
    pub(crate) fn insert(
        &mut self,
        root: Option<Root>,
        asked: impl ExactSizeIterator<Item = (u32, i32)>,
        found: u32,
    ) -> Option<Root> {
        if self.nodes.len() + asked.len() >= MOST || found as usize >= MOST {
            return None;
        }
        let (mut asked, mut parent) = (asked, None);
        let mut at = root.map(|root| root.0);
        while let Some(to) = at {
            let Some((question, answer)) = asked.next() else {
                debug_assert!(to == To::found(found), "after these answers something else came");
                return root;
            };
            let Next::Node(number) = to.next() else {
                debug_assert!(false, "after these answers something was found");
                return root;
            };
            let node = &self.nodes[number];
            debug_assert_eq!(node.question, question, "the same answers lead to the same question");
            if node.question != question {
                return root;
            }
            at = self.after(node, answer);
            parent = Some((number, answer));
        }
        // Whatever is asked from here on is new.
        let n = asked.len();
        let first = if n == 0 { To::found(found) } else { To::node(self.nodes.len()) };
        for (i, (question, answer)) in asked.enumerate() {
            let to = if i + 1 < n { To::node(self.nodes.len() + 1) } else { To::found(found) };
            let few = [Edge { answer, to }, Edge::NONE];
            self.nodes.push(Node { question, table: Table::default(), few });
        }
        self.put(parent, first);
        root.or(Some(Root(first)))
    }

    /// Notes what comes after an answer at a node; nothing for a root.
    fn put(&mut self, parent: Option<(usize, i32)>, to: To) {
        let Some((parent, answer)) = parent else { return };
        let (node, edge) = (&mut self.nodes[parent], Edge { answer, to });
        if node.table.is_none()
            && let Some(free) = node.few.iter_mut().find(|edge| edge.to == To::NOTHING)
        {
            *free = edge;
            return;
        }
        let node = self.nodes[parent];
        let known = if node.table.is_none() {
            &node.few[..]
        } else {
            &self.slots[node.table.start()..][..node.table.len()]
        };
        let mut edges: Vec<Edge> = known.iter().copied().filter(|edge| edge.to != To::NOTHING).collect();
        edges.push(edge);
        if 2 * edges.len() > known.len() {
            // The place of the old table stays empty; all of these together take no more than the new one.
            let size = (2 * edges.len()).next_power_of_two().max(1 << Table::SMALLEST);
            // Without room nothing is noted: the choice is made anew each time.
            let Some(table) = Table::new(self.slots.len(), size.trailing_zeros()) else { return };
            self.slots.resize(self.slots.len() + size, Edge::NONE);
            self.nodes[parent].table = table;
        } else {
            edges.drain(..edges.len() - 1);
        }
        let table = self.nodes[parent].table;
        for edge in edges {
            if let Some(at) = table.find(&self.slots, edge.answer) {
                self.slots[at] = edge;
            }
        }
    }

    /// Memory in use, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&self.nodes[..]) + size_of_val(&self.slots[..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(answers: &[i32]) -> impl ExactSizeIterator<Item = (u32, i32)> {
        (10..20).zip(answers.iter().copied())
    }

    #[test]
    fn many_answers_to_a_question_are_told_apart() {
        let mut trees = Trees::default();
        let answers = || (0..2_000).map(|i: i32| i * i * if i % 2 == 0 { 1 } else { -1 });
        let mut root = None;
        for (found, answer) in answers().enumerate() {
            root = trees.insert(root, asked(&[answer, 1]), found as u32).or(root);
        }
        let root = root.expect("room");
        for (found, answer) in answers().enumerate() {
            let find = |last| trees.find(root, |question| Some(if question == 10 { answer } else { last }));
            assert_eq!((find(1), find(2)), (Some(found as u32), None), "{answer}");
        }
        assert_eq!(trees.find(root, |_| Some(2)), None);
    }

    #[test]
    fn what_was_found_is_found_again_for_the_same_answers_only() {
        let mut trees = Trees::default();
        let root = trees.insert(None, asked(&[1, 2]), 0).expect("room");
        let others =
            [(&[1, 3][..], 1), (&[7, 2, 5], 2), (&[7, 2, 6], 3), (&[1, 0], 4), (&[1, -1], 5), (&[0], 6)];
        for (answers, found) in others {
            trees.insert(Some(root), asked(answers), found);
        }
        let other = trees.insert(None, asked(&[]), 7).expect("room");
        let find =
            |root: Root, answers: &[i32]| trees.find(root, |question| Some(answers[question as usize - 10]));
        for (answers, found) in others {
            assert_eq!(find(root, answers), Some(found), "{answers:?}");
        }
        assert_eq!(find(root, &[1, 2]), Some(0));
        assert_eq!(find(root, &[1, 4]), None);
        assert_eq!(find(root, &[2]), None);
        assert_eq!(find(root, &[7, 2, 0]), None);
        assert_eq!(find(other, &[]), Some(7));
        assert_eq!(trees.find(root, |question| (question == 10).then_some(1)), None, "not all is known");
    }
}
