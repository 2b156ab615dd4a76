//! Compositions of processes: the token ring of HVV with six servers, 950,400 states, 5,562,240 transitions.
//!
//! `cargo bench -p stubborn-bench --bench processes [-- ROUNDS]` measures speed and bytes per state: `search` visits
//! everything and keeps the states, `keys` does the same with successors that are remembered, `states` only asks which there
//! are, `explicit` makes the explicit system, with propositions. `all-full` and `all-reduced` answer for all rejections, without stubborn
//! sets and with them; states and transitions are those of all searches together.
//! `cargo bench -p stubborn-bench --bench processes -- table` prints the states of reduced searches beside the full
//! ones: plain strong components, which keep deadlocks only, sets towards the first `rej`, and goal-oriented sets for the
//! guards of the first `rej` and the first `ll_rej`.

use stubborn_bench::{Measured, median};
use stubborn_explore::{
    Crew, Job, Keep, Limits, Scout, Unobserved, Unwatched, Work, breadth_first, breadth_first_alone,
};
use stubborn_gallery::process_ring::ProcessRing;
use stubborn_lts::{
    Composition, Files, MemoryFiles, NoComponent, Plan, ReadOptions, read_lsts, read_rules, unfold,
};
use stubborn_packed::{Packed, Sample};
use stubborn_reduce::{Full, GoalOriented, Reduction, StrongComponents, Towards};
use stubborn_store::{Exact, Regions, Store};
use stubborn_system::{Batch, Fault, Rejecting, RejectionKind, System};
use stubborn_verdict::{Options, RejectionOptions, check_rejections};

/// Rings of up to nine pairs fit into one word.
type State = [u64; 1];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    match arguments.first().map(String::as_str) {
        Some("search") => {
            let plan = plan(ProcessRing::new(6));
            Measured::of(|| {
                let composition = Composition::<State>::new(&plan).expect("it fits");
                let (stats, _) = search(&composition, &mut Full);
                (stats.states, stats.edges)
            })
            .print();
        }
        Some(name @ ("keys" | "states")) => {
            let plan = plan(ProcessRing::new(6));
            Measured::of(|| {
                let composition = Composition::<State>::new(&plan).expect("it fits");
                let sample = Sample::new(&composition, 1 << 12).expect("compositions do not break");
                let Ok(packed) = Packed::<_, 1>::new(&composition, sample.expect("it tells its parts"))
                else {
                    panic!("it fits")
                };
                let stats = if name == "keys" {
                    search(&packed, &mut Full).0
                } else {
                    breadth_first_alone(
                        &Alone(&packed),
                        &Regions::of_keys(),
                        Limits::default(),
                        &mut Unwatched,
                    )
                    .1
                };
                (stats.states, stats.edges)
            })
            .print();
        }
        Some(name @ ("all-full" | "all-reduced")) => {
            let reduced = name == "all-reduced";
            let plan = plan(ProcessRing::new(6));
            Measured::of(|| {
                let composition = Composition::<State>::new(&plan).expect("it fits");
                let options = Options { all_errors: true, check: None, ..Options::default() };
                let reduced = RejectionOptions { reduced };
                let analysis = check_rejections(&composition, reduced, &options, &mut Unwatched);
                let phases = analysis.expect("compositions do not break").phases;
                let stats = phases.iter().map(|phase| phase.stats);
                stats.fold((0, 0), |sum, stats| (sum.0 + stats.states, sum.1 + stats.edges))
            })
            .print();
        }
        Some("explicit") => {
            let plan = plan(ProcessRing::new(6));
            Measured::of(|| {
                let unfolded = unfold(&plan, Limits::default(), false, &mut Unwatched).expect("it ends");
                (unfolded.stats.states, unfolded.stats.edges)
            })
            .print();
        }
        Some("table") => table(),
        rounds => compare(rounds.and_then(|r| r.parse().ok()).unwrap_or(3)),
    }
}

fn compare(rounds: usize) {
    let names = ["search", "keys", "states", "explicit", "all-full", "all-reduced"];
    println!("ring of 6, medians of {rounds} rounds, processor time");
    println!("| run | states | transitions | cpu s | M transitions/s | bytes/state |");
    println!("|---|---|---|---|---|---|");
    for name in names {
        let m = median((0..rounds).map(|_| Measured::in_child(&[name])).collect());
        println!(
            "| {name} | {} | {} | {:.2} | {:.2} | {:.1} |",
            m.states,
            m.edges,
            m.cpu,
            m.edges / m.cpu / 1e6,
            m.rss / m.states
        );
    }
}

fn plan(ring: ProcessRing) -> Plan {
    let files = MemoryFiles(ring.files().into_iter().map(|(name, text)| (name, text.into_bytes())).collect());
    let options = ReadOptions::default();
    let mut load = |path: &str| {
        let bytes = files.load(path).map_err(NoComponent::Load)?;
        read_lsts(path, bytes, &files, options).map_err(NoComponent::Refused)
    };
    let bytes = files.load("ring.ext").expect("it was made");
    read_rules("ring.ext", bytes, &files, &mut load, options).expect("it is right")
}

/// Who only asks which states there are.
struct Alone<'a, 'y, Y: System>(&'a Packed<'y, Y, 1>);

impl<Y: System> Crew<1> for Alone<'_, '_, Y> {
    fn initial(&self, out: &mut Batch<State>) -> Result<(), Fault> {
        self.0.initial(out)
    }

    fn join(&self, work: &mut Work<'_, 1>) {
        work(&mut Scout::new(self.0, Unobserved));
    }
}

fn search<Y: System<State = State>>(
    composition: &Y,
    reduction: &mut dyn Reduction<Y>,
) -> (stubborn_explore::Stats, Exact<State>) {
    let mut store = Exact::new();
    let outcome = breadth_first(Job {
        system: composition,
        reduction,
        store: &mut store,
        visitor: &mut Unobserved,
        watch: &mut Unwatched,
        limits: Limits::default(),
        keep: Keep::Nothing,
        all_errors: false,
        no_ignoring: false,
    });
    (outcome.stats, store)
}

/// States of searches, and how many transitions sets fire in all states of the full space.
fn table() {
    let sizes = "fewer / same / more fired than plain";
    println!("| n | fault | full | plain | towards rej | goal, rej | {sizes} | goal, ll_rej | {sizes} |");
    println!("|---|---|---|---|---|---|---|---|---|");
    for (n, fault) in (2..=6).map(|n| (n, 0)).chain((2..=4).flat_map(|n| [(n, 1), (n, 2), (n, 3)])) {
        let plan = plan(ProcessRing::new(n).with_fault(fault));
        let composition = Composition::<State>::new(&plan).expect("it fits");
        let guard = |kind: RejectionKind| {
            let rejections = composition.rejections();
            rejections.iter().find(|r| r.kind == kind).map(|r| r.guard).expect("there is one")
        };
        let (full, store) = search(&composition, &mut Full);
        let (plain, _) = search(&composition, &mut StrongComponents::default());
        let guards = [guard(RejectionKind::State), guard(RejectionKind::Livelock)];
        let [rej, ll] =
            guards.map(|guard| search(&composition, &mut GoalOriented::new(&composition, guard)).0);
        let is_state = |r: &stubborn_system::Rejection| r.kind == RejectionKind::State;
        let first = composition.rejections().iter().position(is_state).expect("there is one");
        let (towards, _) = search(&composition, &mut Towards::new(first));
        let [rej_sizes, ll_sizes] = guards.map(|guard| {
            if n > 5 {
                return "-".to_owned();
            }
            let (mut fewer, mut same, mut more) = (0, 0, 0);
            let mut goal = GoalOriented::new(&composition, guard);
            let mut scc = StrongComponents::default();
            let (mut a, mut b, mut room) = (Batch::new(), Batch::new(), Default::default());
            for id in 0..full.states as u32 {
                let state = store.state(id, &mut room).expect("the store keeps states");
                a.clear();
                b.clear();
                goal.expand(&composition, state, &mut a).expect("compositions do not break");
                scc.expand(&composition, state, &mut b).expect("compositions do not break");
                match a.len().cmp(&b.len()) {
                    std::cmp::Ordering::Less => fewer += 1,
                    std::cmp::Ordering::Equal => same += 1,
                    std::cmp::Ordering::Greater => more += 1,
                }
            }
            format!("{fewer} / {same} / {more}")
        });
        println!(
            "| {n} | {fault} | {} | {} | {} | {} | {rej_sizes} | {} | {ll_sizes} |",
            full.states, plain.states, towards.states, rej.states, ll.states
        );
    }
}
