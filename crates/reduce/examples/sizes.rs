//! scratch
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use stubborn_promela::{Options, compile};
use stubborn_reduce::{NetworkReduction, Reduction, ReductionKind};
use stubborn_system::{Batch, System};
use stubborn_text::{LoadError, Loader};
struct Directory(PathBuf);
impl Loader for Directory {
    fn load(&self, path: &str) -> Result<String, LoadError> {
        std::fs::read_to_string(self.0.join(path)).map_err(|_| LoadError::Missing)
    }
}
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let most: usize = args[1].parse().unwrap();
    for file in &args[2..] {
        let path = Path::new(file);
        let text = String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
        let c = compile(file, &text, &Directory(path.parent().unwrap().to_owned()), &Options::default());
        let Some(network) = c.network else {
            println!("{file}: refused");
            continue;
        };
        print!("{}", path.file_name().unwrap().to_string_lossy());
        for k in 0..ReductionKind::ALL.len() {
            if k > 0
                && k < 8
                && std::env::var("ALL").is_err()
                && !matches!(
                    ReductionKind::ALL[k],
                    ReductionKind::Persistent3 | ReductionKind::StrongComponents
                )
            {
                continue;
            }
            let mut reduction = (k > 0).then(|| NetworkReduction::new(&network, &[], ReductionKind::ALL[k]));
            let mut states = vec![network.initial_state().unwrap()];
            let mut seen: HashSet<Vec<u8>> = states.iter().cloned().collect();
            let mut next = 0;
            let mut batch = Batch::new();
            let mut edges = 0;
            let t = std::time::Instant::now();
            while next < states.len() && states.len() < most {
                batch.clear();
                match &mut reduction {
                    Some(r) => r.expand(&network, &states[next], &mut batch).unwrap(),
                    None => network.successors(&states[next], &mut batch).unwrap(),
                }
                edges += batch.len();
                for i in 0..batch.len() {
                    if !seen.contains(batch.state(i)) {
                        seen.insert(batch.state(i).to_vec());
                        states.push(batch.state(i).to_vec());
                    }
                }
                next += 1;
            }
            let _ = edges;
            print!(
                "  {}:{}{} {:.2}s",
                ReductionKind::ALL[k].word(),
                states.len(),
                if next < states.len() { "+" } else { "" },
                t.elapsed().as_secs_f64()
            );
        }
        println!();
    }
}
