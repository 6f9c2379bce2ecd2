//! Letting the fold take in what its checkpoint only refers to. An entry is applied
//! without I/O, so a fold that starts from a checkpoint over segments has to be given
//! their content afterwards; this must not change what the log says.

use super::Log;
use super::fold::Fold;

impl<F: Fold> Log<F> {
    /// Changes the fold in a way that leaves it the same function of the log.
    ///
    /// Writers and readers wait meanwhile, so only put in place what is ready. The state
    /// may have moved since the caller looked: check before changing anything.
    pub fn amend<R>(&self, amend: impl FnOnce(&mut F) -> R) -> R {
        amend(&mut self.state_mut().fold)
    }
}
