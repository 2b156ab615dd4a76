//! Trees of questions: what was found for the answers that were given.
//!
//! **Implements** decision trees that grow with use. Which question comes next depends on the answers before it, so all that was found for one
//! beginning are the leaves of a tree. Questions have numbers, and so has what was found. Most choices of a long search consist of walking through trees that lie far from the cache, so a node has its first two
//! answers with it, since most have no more, and an answer after which nothing is asked says itself what was found.
//! **Checked by** the choices that are remembered this way (`network/memo.rs` and `network/shortcuts.rs`).

/// What was found for one beginning after another.
#[derive(Debug, Default)]
pub struct Trees {
    nodes: Vec<Node>,
    /// Further answers.
    edges: Vec<(Edge, u32)>,
}

/// A question, and the answers that were given to it; the last number says where others are listed.
#[derive(Clone, Copy, Debug)]
struct Node {
    question: u32,
    first: [Edge; 2],
    others: u32,
}

/// An answer that was given, and what comes then.
#[derive(Clone, Copy, Debug)]
struct Edge {
    answer: i32,
    to: To,
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

/// The end of a list.
const END: u32 = u32::MAX;

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
        let first = node.first.iter().find(is_it);
        first.map(|edge| edge.to).or_else(|| self.after_others(node.others, answer))
    }

    fn after_others(&self, mut others: u32, answer: i32) -> Option<To> {
        loop {
            let &(edge, next) = self.edges.get(others as usize)?;
            if edge.answer == answer {
                return Some(edge.to);
            }
            others = next;
        }
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
        let mut at = root.map(|root| root.0);
        let mut first = at;
        let mut parent = None;
        for (question, answer) in asked {
            let to = at.unwrap_or_else(|| {
                self.nodes.push(Node {
                    question,
                    first: [Edge { answer: 0, to: To::NOTHING }; 2],
                    others: END,
                });
                let to = To::node(self.nodes.len() - 1);
                self.put(parent, to);
                to
            });
            first = first.or(Some(to));
            let Next::Node(number) = to.next() else {
                debug_assert!(false, "after these answers something was found");
                return first.map(Root);
            };
            let node = self.nodes[number];
            debug_assert_eq!(node.question, question, "the same answers lead to the same question");
            if node.question != question {
                return first.map(Root);
            }
            at = self.after(&node, answer);
            parent = Some((number, answer));
        }
        debug_assert!(at.is_none_or(|at| at == To::found(found)), "after these answers something else came");
        if at.is_none() {
            self.put(parent, To::found(found));
        }
        first.or(Some(To::found(found))).map(Root)
    }

    /// Notes what comes after an answer at a node; nothing for a root.
    fn put(&mut self, parent: Option<(usize, i32)>, to: To) {
        let Some((parent, answer)) = parent else { return };
        let node = &mut self.nodes[parent];
        let edge = Edge { answer, to };
        match node.first.iter_mut().find(|edge| edge.to == To::NOTHING) {
            Some(free) => *free = edge,
            None => {
                let next = std::mem::replace(&mut node.others, self.edges.len() as u32);
                self.edges.push((edge, next));
            }
        }
    }

    /// Memory in use, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&self.nodes[..]) + size_of_val(&self.edges[..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(answers: &[i32]) -> impl ExactSizeIterator<Item = (u32, i32)> {
        (10..20).zip(answers.iter().copied())
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
