//! Prints the random Promela model of a seed.
use stubborn_oracle::{Rng, promela::Model};

fn main() {
    let seed = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(0);
    print!("{}", Model::random(&mut Rng::new(seed)));
}
