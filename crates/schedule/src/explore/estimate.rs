//! How many runs there will be, as far as one can tell.
//!
//! **Implements** Knuth's estimate of the size of a search tree on the part that was explored: at each node of the
//! present run, the share of its branches that is done, weighted by the shares of the nodes above. Branches that
//! races will add later are not known, so the estimate grows on the way.

use super::search::Explorer;
use crate::program::Program;

impl<P: Program + ?Sized> Explorer<'_, P> {
    /// The share of the known work that is done, from 0 to 1.
    pub fn share_done(&self) -> f64 {
        let mut weight = 1.0;
        let mut done = 0.0;
        for node in &self.nodes[self.floor.min(self.nodes.len())..] {
            let known = match node.tree.len() {
                0 => node.backtrack.without(&node.sleep).len().max(1),
                n => n + node.done.len(),
            };
            let share = weight / known as f64;
            done += share * node.done.len().min(known - 1) as f64;
            weight = share;
        }
        done + weight
    }

    /// About how many runs there are in all.
    pub fn estimated_runs(&self) -> f64 {
        let runs = (self.stats.runs + self.stats.blocked + self.stats.cut) as f64;
        (runs / self.share_done().max(f64::MIN_POSITIVE)).max(runs)
    }
}
