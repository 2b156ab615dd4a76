//! A situation as a rule graph, for the algorithms of the kernel.

use super::nodes::Block;
use super::situation::{Chooser, Situation};
use fixedbitset::FixedBitSet;
use stubborn_system::{Batch, Fault, Requirements, Rules, System, TransitionId};

/// The rule graph of one state, for the algorithms of the kernel: nodes that may be enabled some time, and
/// behind them the checks. Its states mean nothing.
pub(super) struct Graph<'a, 'n> {
    situation: Situation<'a, 'n>,
    /// The node of the situation for each node here.
    global: Vec<usize>,
    local: Vec<u32>,
    n_steps: usize,
}

impl<'a, 'n> Graph<'a, 'n> {
    pub(super) fn new(situation: Situation<'a, 'n>) -> Self {
        let global: Vec<usize> = situation.live.ones().collect();
        let mut local = vec![u32::MAX; situation.n_nodes()];
        global.iter().enumerate().for_each(|(i, &n)| local[n] = i as u32);
        let n_steps = global.iter().filter(|&&n| situation.is_step(n)).count();
        Self { situation, global, local, n_steps }
    }

    pub(super) fn nodes(&self, set: &[TransitionId]) -> FixedBitSet {
        let mut nodes = FixedBitSet::with_capacity(self.situation.n_nodes());
        nodes.extend(set.iter().map(|t| self.global[t.index()]));
        nodes
    }
}

impl System for Graph<'_, '_> {
    type State = [u8];

    fn n_transitions(&self) -> usize {
        self.n_steps
    }

    fn transition_name(&self, t: TransitionId) -> String {
        t.to_string()
    }

    fn initial(&self, out: &mut Batch<[u8]>) -> Result<(), Fault> {
        out.push(TransitionId(0), &[]);
        Ok(())
    }

    fn fire(&self, _: &[u8], t: TransitionId, out: &mut Batch<[u8]>) -> Result<bool, Fault> {
        let is_enabled = self.situation.enabled().contains(self.global[t.index()]);
        if is_enabled {
            out.push(t, &[]);
        }
        Ok(is_enabled)
    }

    fn values(&self, _: &[u8]) -> Vec<(String, String)> {
        Vec::new()
    }
}

impl Rules for Graph<'_, '_> {
    fn n_nodes(&self) -> usize {
        self.global.len()
    }

    fn require(&self, _: &[u8], t: TransitionId, out: &mut Requirements) -> Result<(), Fault> {
        let mut lists = Lists { local: &self.local, out, is_first: true };
        self.situation.alternatives(self.global[t.index()], &mut lists);
        Ok(())
    }
}

/// Takes every alternative.
struct Lists<'g, 'o> {
    local: &'g [u32],
    out: &'o mut Requirements,
    is_first: bool,
}

impl Chooser for Lists<'_, '_> {
    fn is_welcome(&mut self, _: &[Block]) -> bool {
        true
    }

    fn take(&mut self, nodes: &[Block]) -> bool {
        if !std::mem::take(&mut self.is_first) {
            self.out.or();
        }
        let local = nodes.iter().flat_map(|block| block.ones()).map(|n| self.local[n]);
        local.filter(|&n| n != u32::MAX).for_each(|n| self.out.add(TransitionId(n)));
        false
    }
}
