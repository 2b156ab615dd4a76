//! The interpreter on networks made by hand, without a front-end.

use stubborn_network::{
    Action, BinaryOp, ChannelKind, Event, Expr, Initial, Initialiser, Location, LocationId, Network, Pattern,
    Place, ProcessKind, Scope, Start, Step, Trouble, Variable, Width,
};
use stubborn_system::{Batch, Observed, System, TransitionId};
use stubborn_text::{FileId, Limits, Span};

fn place(offset: usize) -> Place {
    let text = format!("x{offset}");
    Place { scope: Scope::Global, offset, width: Width::Byte, indices: Vec::new(), text }
}

fn step(action: Action, next: u16, is_atomic: bool) -> Step {
    let span = Span::new(FileId(0), 0, 0);
    let text = format!("{action:?}");
    let (resets, mentions, next) = (Vec::new(), Vec::new(), LocationId(next));
    Step { line: 1, text, action, next, is_atomic, escape: 0, number: None, resets, mentions, span }
}

/// A process that goes through `steps`, one location each, and ends.
fn process(name: &str, steps: Vec<(Action, bool)>) -> ProcessKind {
    let mut locations = vec![Location::default()];
    for (i, (action, is_atomic)) in steps.into_iter().enumerate() {
        let steps = vec![step(action, i as u16 + 2, is_atomic)];
        locations.push(Location { steps, ..Location::default() });
    }
    locations.push(Location {
        steps: vec![step(Action::End, 0, false)],
        is_end: true,
        ..Location::default()
    });
    ProcessKind {
        name: name.to_owned(),
        parameters: Vec::new(),
        locals: Vec::new(),
        locals_size: 0,
        initialisers: Vec::new(),
        locations,
        entry: LocationId(1),
        provided: None,
    }
}

fn network(processes: Vec<ProcessKind>, capacity: usize) -> Network {
    let variable = |offset: usize| Variable {
        name: format!("x{offset}"),
        offset,
        width: Width::Byte,
        length: 1,
        stride: 1,
        is_channel: offset == 0,
        names: None,
        is_scalar: true,
        is_read: true,
    };
    let starts = (0..processes.len()).map(|kind| Start { kind, priority: 1 }).collect();
    let network = Network {
        processes,
        channels: vec![ChannelKind {
            name: "c".to_owned(),
            capacity,
            fields: vec![Width::Byte],
            names: vec![None],
        }],
        names: Vec::new(),
        globals: vec![variable(0), variable(1)],
        globals_size: 2,
        initialisers: vec![Initialiser { place: place(0), initial: Initial::Channel(0) }],
        starts,
        last: None,
        claims: Vec::new(),
        trace: None,
        has_priorities: false,
        limits: Limits::default(),
        n_steps: 0,
        n_slots: 0,
        n_outcomes: 0,
        compiled: Default::default(),
    };
    network.validated().expect("a sound network")
}

fn assign(value: i32) -> Action {
    Action::Assign(place(1), Expr::Constant(value))
}

fn send(value: i32) -> Action {
    Action::Send { channel: Expr::Load(place(0)), is_sorted: false, fields: vec![Expr::Constant(value)] }
}

fn receive(pattern: Pattern) -> Action {
    Action::Receive { channel: Expr::Load(place(0)), is_random: false, is_copy: false, fields: vec![pattern] }
}

fn is_equal(value: i32) -> Action {
    let (a, b) = (Box::new(Expr::Load(place(1))), Box::new(Expr::Constant(value)));
    Action::Guard(Expr::Binary(BinaryOp::Equal, a, b))
}

#[test]
fn an_atomic_sequence_is_one_transition() {
    let network = network(vec![process("A", vec![(assign(1), true), (assign(2), false)])], 1);
    let first = network.initial_state().unwrap();
    let expansion = network.expand(&first);
    assert_eq!(expansion.successors.len(), 1);
    assert_eq!(expansion.successors[0].trail.len(), 2);
    assert_eq!(expansion.successors[0].state[1], 2);
}

#[test]
fn an_atomic_sequence_that_blocks_lets_others_move() {
    let a = process("A", vec![(assign(1), true), (is_equal(7), true), (assign(2), false)]);
    let network = network(vec![a, process("B", vec![(assign(7), false)])], 1);
    let first = network.initial_state().unwrap();
    let blocked = network.expand(&first).successors.pop().unwrap();
    assert_eq!((blocked.state[1], blocked.trail.len()), (1, 1));
    let by_b = network.expand(&blocked.state).successors.pop().unwrap();
    assert_eq!((by_b.state[1], by_b.trail[0].pid), (7, 1));
}

#[test]
fn a_rendezvous_moves_both_and_the_receiver_takes_the_control() {
    let a = process("A", vec![(send(300), true), (assign(1), false)]);
    let b = process("B", vec![(receive(Pattern::Bind(place(1))), true), (assign(9), false)]);
    let network = network(vec![a, b], 0);
    let first = network.initial_state().unwrap();
    let successors = network.expand(&first).successors;
    assert_eq!(successors.len(), 1);
    let pids: Vec<usize> = successors[0].trail.iter().map(|m| m.pid).collect();
    assert_eq!(pids, [0, 1, 1]);
    assert_eq!(successors[0].state[1], 9);
}

#[test]
fn only_the_youngest_process_dies() {
    let network = network(vec![process("A", vec![]), process("B", vec![])], 1);
    let mut state = network.initial_state().unwrap();
    for pid in [1, 0] {
        let successors = network.expand(&state).successors;
        assert_eq!(successors.len(), 1);
        assert_eq!(successors[0].trail[0].pid, pid);
        state = successors[0].state.clone();
    }
    let end = network.expand(&state);
    assert!(end.successors.is_empty() && end.events.is_empty());
}

#[test]
fn waiting_for_ever_is_an_event_unless_the_location_allows_it() {
    let mut network = network(vec![process("A", vec![(receive(Pattern::Ignore), false)])], 1);
    let first = network.initial_state().unwrap();
    let event = Event { trouble: Trouble::InvalidEnd { processes: vec![0] }, step: None };
    assert_eq!(network.expand(&first).events, [event]);
    assert!(network.check_deadlock(&first).unwrap().is_some());
    network.processes[0].locations[1].is_end = true;
    assert_eq!(network.expand(&first).events, []);
}

#[test]
fn transitions_are_numbered_and_fire_alone() {
    let a = process("A", vec![(assign(1), false), (Action::Assert(Expr::Constant(0)), false)]);
    let network = network(vec![a, process("B", vec![(assign(2), false)])], 1);
    let first = network.initial_state().unwrap();
    let mut batch = Batch::new();
    network.successors(&first, &mut batch).unwrap();
    assert_eq!(batch.len(), 2);
    for i in 0..batch.len() {
        let mut alone = Batch::new();
        assert!(network.fire(&first, batch.via(i), &mut alone).unwrap());
        assert_eq!(alone.state(0), batch.state(i));
        assert!(batch.via(i).index() < network.n_transitions());
    }
    let other = (0..network.n_transitions())
        .map(TransitionId::from)
        .find(|t| (0..batch.len()).all(|i| batch.via(i) != *t));
    assert!(!network.fire(&first, other.unwrap(), &mut Batch::new()).unwrap());
    let after = (0..2).find(|&i| batch.state(i)[1] == 1).unwrap();
    assert!(network.check(batch.state(after)).unwrap().unwrap().starts_with("assertion violated"));
}

#[test]
fn components_cover_the_vector() {
    let a = process("A", vec![(send(5), false)]);
    let network = network(vec![a], 2);
    let mut state = network.initial_state().unwrap();
    for _ in 0..3 {
        let components = network.components(&state);
        let mut at = 0;
        for (_, range) in components {
            assert_eq!(range.start, at);
            at = range.end;
        }
        assert_eq!(at, state.len());
        match network.expand(&state).successors.pop() {
            Some(successor) => state = successor.state,
            None => break,
        }
    }
}

#[test]
fn a_network_that_makes_no_sense_is_refused() {
    let mut network = network(vec![process("A", vec![(assign(1), false)])], 1);
    network.processes[0].locations[1].steps[0].next = LocationId(99);
    assert!(network.clone().validated().is_err());
    network.processes[0].locations[1].steps[0] = step(Action::Assign(place(5), Expr::Constant(1)), 2, false);
    assert!(network.validated().is_err());
}

#[test]
fn a_reset_happens_right_after_its_step() {
    let mut writer = process("A", vec![(assign(7), false), (is_equal(0), false)]);
    writer.locations[1].steps[0].resets = vec![place(1)];
    let network = network(vec![writer], 1);
    let after = network.expand(&network.initial_state().unwrap()).successors.pop().unwrap();
    assert_eq!(after.state[1], 0);
    assert_eq!(network.expand(&after.state).successors.len(), 1);
}

#[test]
fn a_reset_of_a_receiver_comes_after_the_message_of_a_rendezvous() {
    for reset in [false, true] {
        let a = process("A", vec![(send(3), false)]);
        let mut b = process("B", vec![(receive(Pattern::Bind(place(1))), false)]);
        b.locations[1].steps[0].resets = if reset { vec![place(1)] } else { Vec::new() };
        let network = network(vec![a, b], 0);
        let after = network.expand(&network.initial_state().unwrap()).successors.pop().unwrap();
        assert_eq!(after.state[1], if reset { 0 } else { 3 });
    }
}

#[test]
fn resets_within_a_sequence_happen_between_its_steps() {
    // Location 1: the sequence 3, 4; location 2: the end.
    let mut a = process("A", vec![(Action::Sequence(LocationId(3)), false)]);
    let exit = LocationId::EXIT.0;
    let mut first = step(assign(7), 4, false);
    first.resets = vec![place(1)];
    a.locations.push(Location { steps: vec![first], ..Location::default() });
    a.locations.push(Location { steps: vec![step(is_equal(0), exit, false)], ..Location::default() });
    let network = network(vec![a], 1);
    let expansion = network.expand(&network.initial_state().unwrap());
    assert_eq!(expansion.successors.len(), 1, "{:?}", expansion.events);
}

/// The engine finds in the first state what the reference finds, and by itself.
fn assert_engine_agrees(network: &Network) {
    let state = network.initial_state().unwrap();
    let mut engine = network.engine();
    let mut batch = Batch::new();
    engine.successors(&state, &mut batch).unwrap();
    let found: Vec<(TransitionId, &[u8])> =
        (0..batch.len()).map(|i| (batch.via(i), batch.state(i))).collect();
    let expansion = network.expand(&state);
    let expected: Vec<(TransitionId, &[u8])> =
        expansion.successors.iter().map(|s| (s.transition, &s.state[..])).collect();
    assert_eq!((found, engine.n_referred()), (expected, 0));
}

#[test]
fn the_engine_resets_where_the_reference_does() {
    // Alone, in a rendezvous as sender or receiver, and within a sequence that begins with its receive.
    for (sender, receiver, inner) in [(true, false, false), (false, true, false), (true, false, true)] {
        let mut a = process("A", vec![(send(3), false)]);
        let mut b = process("B", vec![(receive(Pattern::Bind(place(1))), false)]);
        if inner {
            let mut first = std::mem::replace(
                &mut b.locations[1].steps[0],
                step(Action::Sequence(LocationId(3)), 2, false),
            );
            first.next = LocationId(4);
            first.resets = vec![place(1)];
            let second = step(is_equal(0), LocationId::EXIT.0, false);
            b.locations.push(Location { steps: vec![first], ..Location::default() });
            b.locations.push(Location { steps: vec![second], ..Location::default() });
        }
        let resets = |wanted: bool| if wanted { vec![place(1)] } else { Vec::new() };
        a.locations[1].steps[0].resets = resets(sender && !inner);
        b.locations[1].steps[0].resets = resets(receiver);
        let network = network(vec![a, b], 0);
        let after = network.expand(&network.initial_state().unwrap()).successors.pop().unwrap();
        assert_eq!(after.state[1], 0, "something was reset");
        assert_engine_agrees(&network);
    }
}
