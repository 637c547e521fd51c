//! Draws in memory, with the names of their coefficients.

/// Draws of all chains.
#[derive(Debug, Clone, PartialEq)]
pub struct Draws {
    /// The names of the coefficients.
    pub names: Vec<String>,
    /// One table for each chain: one row for each draw, one column for each coefficient, row after
    /// row.
    pub chains: Vec<Vec<f64>>,
    /// How many draws each chain made. [`read_draws`](super::read_draws) gives no more of any chain
    /// than all have.
    pub made: Vec<u64>,
    /// Whether the run has not made, or not yet, all it was to make.
    pub incomplete: bool,
}

impl Draws {
    /// The number of coefficients d.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.names.len()
    }

    /// The number of draws of each chain; of the shortest, if they differ.
    #[must_use]
    pub fn draws(&self) -> usize {
        self.chains.iter().map(Vec::len).min().unwrap_or(0) / self.dimension().max(1)
    }

    /// The tables, as [`summaries_of_table`](ridgewalk_diagnostics::summaries_of_table) takes
    /// them.
    #[must_use]
    pub fn tables(&self) -> Vec<&[f64]> {
        self.chains.iter().map(Vec::as_slice).collect()
    }

    /// One coefficient of one chain, draw by draw; empty if there is no such chain or coefficient.
    #[must_use]
    pub fn trace(&self, chain: usize, coefficient: usize) -> Vec<f64> {
        let table = self.chains.get(chain).map_or(&[][..], Vec::as_slice);
        let step = self.dimension().max(1);
        if coefficient >= step {
            return Vec::new();
        }
        table.iter().skip(coefficient).step_by(step).take(self.draws()).copied().collect()
    }
}
