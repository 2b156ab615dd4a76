//! Networks that several tests go through: those of all models that there are, and of random ones.

use crate::files::{EXAMPLES, compile_file, models, promela_files};
use std::path::PathBuf;
use stubborn_network::Network;
use stubborn_oracle::Rng;
use stubborn_oracle::campaign::{fail, seeds};
use stubborn_oracle::promela::{Model, compiled};

/// The networks of our models and of SPIN's examples, with their files.
pub(crate) fn all_networks() -> impl Iterator<Item = (PathBuf, Network)> {
    let directories = [models(), PathBuf::from(EXAMPLES)];
    let files = directories.into_iter().flat_map(|directory| promela_files(&directory));
    files.filter_map(|path| compile_file(&path).network.map(|network| (path, network)))
}

/// Shows `look` random networks for so many seeds, with the seed and random numbers to go on with. If something is wrong, the test of the
/// name in the file says with what, and how to repeat it.
pub(crate) fn for_random_networks(
    n: usize,
    (file, test): (&str, &str),
    mut look: impl FnMut(u64, &mut Rng, &Network) -> Result<(), String>,
) {
    for seed in seeds(n) {
        let mut rng = Rng::new(seed);
        let model = Model::random(&mut rng);
        let Ok((network, _)) = compiled(&model.to_string(), &[]) else { continue };
        if let Err(wrong) = look(seed, &mut rng, &network) {
            fail(file, test, seed, format!("{wrong}\n{model}"));
        }
    }
}
