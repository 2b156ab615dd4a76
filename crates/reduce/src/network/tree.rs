//! Trees of questions: what was found for the answers that were given.
//!
//! **Implements** decision trees that grow with use. Which question comes next depends on the answers before it, so all that was found for one
//! beginning are the leaves of a tree. Questions have numbers. Nodes, answers and what was found lie in three lists, a few bytes for each, because walking
//! through them is what most choices of a long search consist of.
//! **Checked by** the choices that are remembered this way ([`memo`](super::memo)).

/// What was found for one beginning after another.
#[derive(Debug)]
pub(super) struct Trees<T> {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    found: Vec<T>,
}

/// A question, and the answers that were given to it: the first one lies here, since most have no other. Or [`FOUND`].
#[derive(Clone, Copy, Debug)]
struct Node {
    question: u32,
    edge: Edge,
}

/// An answer that was given, what comes then, and the next of the answers. Where something was found: which of those.
#[derive(Clone, Copy, Debug)]
struct Edge {
    answer: i32,
    to: u32,
    next: u32,
}

/// No question is asked any more.
const FOUND: u32 = u32::MAX;

/// The end of a list.
const END: u32 = u32::MAX;

/// The root of a tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Root(u32);

impl<T> Default for Trees<T> {
    fn default() -> Self {
        Self { nodes: Vec::new(), edges: Vec::new(), found: Vec::new() }
    }
}

impl<T> Trees<T> {
    /// What was found for these answers.
    #[inline]
    pub(super) fn find(&self, root: Root, mut answer: impl FnMut(u32) -> i32) -> Option<&T> {
        let mut at = root.0;
        loop {
            let Node { question, edge } = self.nodes[at as usize];
            if question == FOUND {
                return self.found.get(edge.to as usize);
            }
            at = self.after(edge, answer(question))?;
        }
    }

    /// What comes after an answer, of those from an edge on.
    #[inline]
    fn after(&self, first: Edge, answer: i32) -> Option<u32> {
        let mut edge = first;
        while edge.answer != answer {
            edge = *self.edges.get(edge.next as usize)?;
        }
        (edge.to != END).then_some(edge.to)
    }

    /// Adds what was found after these questions and answers to a tree, or to a new one. Gives the root, which is a new one then.
    pub(super) fn insert(
        &mut self,
        root: Option<Root>,
        asked: impl Iterator<Item = (u32, i32)>,
        found: T,
    ) -> Root {
        let mut at = root.map(|root| root.0);
        let mut first = at;
        let mut parent = None;
        for (question, answer) in asked {
            let node = at.unwrap_or_else(|| self.grow(parent, question, END));
            first = first.or(Some(node));
            let known = self.nodes[node as usize];
            debug_assert_ne!(known.question, FOUND, "after these answers something was found");
            debug_assert_eq!(known.question, question, "the same answers lead to the same question");
            if known.question != question {
                return Root(first.unwrap_or(node));
            }
            at = self.after(known.edge, answer);
            parent = Some((node, answer));
        }
        debug_assert!(at.is_none(), "after these answers more was asked");
        let leaf = at.unwrap_or_else(|| {
            self.found.push(found);
            self.grow(parent, FOUND, self.found.len() as u32 - 1)
        });
        Root(first.unwrap_or(leaf))
    }

    /// Adds a node, behind an answer if it is not a root.
    fn grow(&mut self, parent: Option<(u32, i32)>, question: u32, found: u32) -> u32 {
        let to = self.nodes.len() as u32;
        if let Some((parent, answer)) = parent {
            let first = &mut self.nodes[parent as usize].edge;
            if first.to == END {
                (first.answer, first.to) = (answer, to);
            } else {
                let next = std::mem::replace(&mut first.next, self.edges.len() as u32);
                self.edges.push(Edge { answer, to, next });
            }
        }
        self.nodes.push(Node { question, edge: Edge { answer: 0, to: found, next: END } });
        to
    }

    /// Memory in use, in bytes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.nodes[..]) + size_of_val(&self.edges[..]) + size_of_val(&self.found[..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_is_found_again_for_the_same_answers_only() {
        fn asked(answers: &[i32]) -> impl Iterator<Item = (u32, i32)> {
            (10..).zip(answers.iter().copied())
        }
        let mut trees = Trees::default();
        let root = trees.insert(None, asked(&[1, 2]), 'a');
        for (answers, found) in [(&[1, 3][..], 'b'), (&[7, 2, 5], 'c'), (&[7, 2, 6], 'd')] {
            trees.insert(Some(root), asked(answers), found);
        }
        let other = trees.insert(None, asked(&[]), 'e');
        let find = |root: Root, answers: &[i32]| {
            trees.find(root, |question| answers[question as usize - 10]).copied()
        };
        assert_eq!(find(root, &[1, 2]), Some('a'));
        assert_eq!(find(root, &[1, 3]), Some('b'));
        assert_eq!(find(root, &[7, 2, 5]), Some('c'));
        assert_eq!(find(root, &[7, 2, 6]), Some('d'));
        assert_eq!(find(root, &[1, 4]), None);
        assert_eq!(find(root, &[2]), None);
        assert_eq!(find(other, &[]), Some('e'));
    }
}
