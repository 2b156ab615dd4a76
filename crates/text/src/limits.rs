//! What a hostile or careless text runs into. One place, each limit with its error code.

/// Limits of the front-ends and of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Nesting of expressions, blocks and types (`P0006`).
    pub nesting: usize,
    /// Tokens after preprocessing and inlining (`P0007`).
    pub tokens: usize,
    /// Includes within includes (`P0105`).
    pub includes: usize,
    /// Bytes of a state vector (`P0401`, and a fault when a `run` exceeds it).
    pub vector: usize,
    /// Processes that exist at a time (`P0402`, and a fault when a `run` exceeds it).
    pub processes: usize,
    /// Errors after which a front-end stops looking for more.
    pub errors: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { nesting: 250, tokens: 1_000_000, includes: 16, vector: 64 * 1024, processes: 255, errors: 20 }
    }
}
