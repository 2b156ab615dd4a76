//! Edges of a graph in flat arrays, by source; those of a state are sorted by label and target without repetition.

/// Labelled edges.
#[derive(Clone, Debug, Default)]
pub(crate) struct Edges {
    starts: Vec<usize>,
    labels: Vec<u32>,
    targets: Vec<u32>,
}

impl Edges {
    /// The edges in a list of (source, label, target), of a graph with `n` states.
    pub(crate) fn new(n: usize, list: Vec<(u32, u32, u32)>) -> Self {
        let mut starts = vec![0; n + 1];
        for &(source, ..) in &list {
            starts[source as usize + 1] += 1;
        }
        for i in 0..n {
            starts[i + 1] += starts[i];
        }
        // To each state its edges, then what little each has is sorted.
        let mut next = starts.clone();
        let mut pairs = vec![0u64; list.len()];
        for &(source, label, target) in &list {
            pairs[next[source as usize]] = u64::from(label) << 32 | u64::from(target);
            next[source as usize] += 1;
        }
        drop((list, next));
        let mut kept = 0;
        for state in 0..n {
            let (start, end) = (starts[state], starts[state + 1]);
            pairs[start..end].sort_unstable();
            starts[state] = kept;
            for i in start..end {
                if i == start || pairs[i] != pairs[i - 1] {
                    pairs[kept] = pairs[i];
                    kept += 1;
                }
            }
        }
        starts[n] = kept;
        pairs.truncate(kept);
        let labels = pairs.iter().map(|pair| (pair >> 32) as u32).collect();
        Self { starts, labels, targets: pairs.iter().map(|&pair| pair as u32).collect() }
    }

    /// The same edges from target to source; they are in no order.
    pub(crate) fn reversed(&self) -> Self {
        let n = self.n_states();
        let mut starts = vec![0; n + 1];
        for &target in &self.targets {
            starts[target as usize + 1] += 1;
        }
        for i in 0..n {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut labels = vec![0; self.labels.len()];
        let mut targets = vec![0; self.labels.len()];
        for source in 0..n as u32 {
            for (label, target) in self.of(source) {
                let at = &mut next[target as usize];
                (labels[*at], targets[*at]) = (label, source);
                *at += 1;
            }
        }
        Self { starts, labels, targets }
    }

    pub(crate) fn n_states(&self) -> usize {
        self.starts.len() - 1
    }

    #[inline]
    pub(crate) fn range(&self, state: u32) -> std::ops::Range<usize> {
        self.starts[state as usize]..self.starts[state as usize + 1]
    }

    /// Labels and targets of the edges of a state.
    #[inline]
    pub(crate) fn of(&self, state: u32) -> impl ExactSizeIterator<Item = (u32, u32)> + '_ {
        let range = self.range(state);
        self.labels[range.clone()].iter().copied().zip(self.targets[range].iter().copied())
    }

    /// Label and target of an edge by its number.
    #[inline]
    pub(crate) fn at(&self, edge: usize) -> (u32, u32) {
        (self.labels[edge], self.targets[edge])
    }
}
