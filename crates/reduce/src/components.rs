//! Stubborn sets by strong components of the rule graph, exactly as ASSET computes them.
//!
//! **Implements** V93 Algorithm 4.3's core as described in V15 section IV: Tarjan's algorithm (in the
//! variant of Eve and Kurki-Suonio: the low-link is an index into the component stack) over "if this one is
//! in, these must be". The first completed component with an enabled member is fired. Everything that it
//! reaches lies in components completed before, which have no enabled member, so the stubborn set is the
//! closure of the component, and nothing else of it can be fired.
//! **Preserves** D0, D1, D2 (`Preserves::Basic`).
//! **Differs from the text** nowhere; the order is ASSET's: starts from the highest number down, members
//! fired in the order of discovery, and what an earlier start visited is not entered again.
//! **Checked by** Table I of V15 (the mutex-violating rows notice the order), `Checked`, and the campaign.

use crate::closure::{Closer, next_stamp};
use crate::{Preserves, Reduction};
use stubborn_system::{Batch, Fault, Requirements, Rules, TransitionId};

/// The first strong component of the rule graph with an enabled member.
#[derive(Debug, Default)]
pub struct StrongComponents {
    /// A node has been found in this state if its stamp is the current one.
    stamps: Vec<u32>,
    stamp: u32,
    /// Low-link of each node on the component stack; [`DONE`] for nodes of completed components.
    low: Vec<u32>,
    /// Nodes of components that are not complete yet, in the order of discovery.
    stack: Vec<TransitionId>,
    frames: Vec<Frame>,
    /// The required nodes of all frames, one list behind the other.
    required: Vec<TransitionId>,
    scratch: Requirements,
    closer: Closer,
}

const DONE: u32 = u32::MAX;

/// A node whose requirements are being visited.
#[derive(Clone, Copy, Debug)]
struct Frame {
    node: TransitionId,
    /// Its place on the component stack.
    place: u32,
    /// Every node from here on and below `below` is required and not visited yet.
    first: u32,
    below: u32,
    /// And so are these in `required`.
    next: usize,
    end: usize,
}

impl StrongComponents {
    /// Makes all nodes new, for another state.
    pub(crate) fn begin(&mut self, n_nodes: usize) {
        next_stamp(&mut self.stamps, &mut self.stamp, n_nodes);
        self.low.resize(n_nodes, 0);
    }

    /// Visits everything reachable from `start` that was not visited before. True as soon as a component is
    /// complete that `accept` accepts.
    pub(crate) fn search<Y: Rules + ?Sized>(
        &mut self,
        system: &Y,
        state: &Y::State,
        start: TransitionId,
        accept: &mut impl FnMut(&[TransitionId]) -> Result<bool, Fault>,
    ) -> Result<bool, Fault> {
        if self.stamps[start.index()] == self.stamp {
            return Ok(false);
        }
        self.stack.clear();
        self.frames.clear();
        self.required.clear();
        self.enter(system, state, start)?;
        while let Some(frame) = self.frames.last_mut() {
            let child = if frame.first < frame.below {
                frame.first += 1;
                Some(TransitionId(frame.first - 1))
            } else if frame.next < frame.end {
                frame.next += 1;
                Some(self.required[frame.next - 1])
            } else {
                None
            };
            if let Some(child) = child {
                let node = frame.node.index();
                if self.stamps[child.index()] != self.stamp {
                    self.enter(system, state, child)?;
                } else if self.low[child.index()] != DONE {
                    self.low[node] = self.low[node].min(self.low[child.index()]);
                }
                continue;
            }
            let Frame { node, place, .. } = *frame;
            self.frames.pop();
            self.required.truncate(self.frames.last().map_or(0, |f| f.end));
            let low = self.low[node.index()];
            if low == place && self.complete(place as usize, accept)? {
                return Ok(true);
            }
            if let Some(parent) = self.frames.last()
                && low != place
            {
                let parent = parent.node.index();
                self.low[parent] = self.low[parent].min(low);
            }
        }
        Ok(false)
    }

    fn enter<Y: Rules + ?Sized>(
        &mut self,
        system: &Y,
        state: &Y::State,
        node: TransitionId,
    ) -> Result<(), Fault> {
        let place = self.stack.len() as u32;
        self.stamps[node.index()] = self.stamp;
        self.low[node.index()] = place;
        self.stack.push(node);
        let next = self.required.len();
        let below = match system.ready(state, node) {
            Some(nodes) => {
                self.required.extend_from_slice(nodes);
                0
            }
            None => {
                self.scratch.clear();
                system.require(state, node, &mut self.scratch)?;
                let smallest = self.scratch.smallest();
                self.required.extend_from_slice(smallest.nodes);
                smallest.below
            }
        };
        let end = self.required.len();
        self.frames.push(Frame { node, place, first: 0, below, next, end });
        Ok(())
    }

    /// Shows the component from `place` up. If it is not accepted, it is done with.
    fn complete(
        &mut self,
        place: usize,
        accept: &mut impl FnMut(&[TransitionId]) -> Result<bool, Fault>,
    ) -> Result<bool, Fault> {
        let is_accepted = accept(&self.stack[place..])?;
        if !is_accepted {
            for t in self.stack.drain(place..) {
                self.low[t.index()] = DONE;
            }
        }
        Ok(is_accepted)
    }
}

impl<Y: Rules + ?Sized> Reduction<Y> for StrongComponents {
    fn name(&self) -> String {
        "scc".into()
    }

    fn preserves(&self) -> Preserves {
        Preserves::Basic
    }

    fn expand(&mut self, system: &Y, state: &Y::State, out: &mut Batch<Y::State>) -> Result<(), Fault> {
        self.begin(system.n_nodes());
        let n = system.n_transitions();
        // Every member of a component is tried; the component is wanted if one of them can be fired.
        let mut fire = |component: &[TransitionId]| {
            let mut fired = false;
            for &t in component.iter().filter(|t| t.index() < n) {
                fired |= system.fire(state, t, out)?;
            }
            Ok(fired)
        };
        for t in (0..n).rev().map(TransitionId::from) {
            if self.search(system, state, t, &mut fire)? {
                return Ok(());
            }
        }
        Ok(())
    }

    fn stubborn_set(
        &mut self,
        system: &Y,
        state: &Y::State,
        out: &mut Vec<TransitionId>,
    ) -> Result<(), Fault> {
        let mut successors = Batch::new();
        self.expand(system, state, &mut successors)?;
        self.closer.close_fired(system, state, &successors, out)
    }
}
