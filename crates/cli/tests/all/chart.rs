//! Messages of a run, as a chart and as JSON, and names of mtypes.

use crate::common::{Files, stubborn};

const MODEL: &str = "
mtype = { data, ack, nack };
mtype:colour = { red, green };
chan q[2] = [2] of { mtype, byte };
chan r = [0] of { mtype };
mtype last;
mtype:colour c = green;
active proctype Sender() {
    chan mine = [1] of { byte };
    q[1]!data(7);
    q[1]!data(8);
    mine!3;
    d_step { mine?<_>; mine?_ }
    r?last;
    assert(last == nack)
}
active proctype Receiver() {
    byte x;
    atomic { q[1]??data(8); q[1]?data(x) }
    r!ack
}
";

const CHART: &str = "\
step  Sender[0]                  Receiver[1]
   1  #1 q[1]!data,7 -->         |
   2  #2 q[1]!data,8 -->         |
   3  |                          --> #2 q[1]?data,8
   3  |                          --> #1 q[1]?data,7
   4  #3 Sender[0].mine!3 -->    |
   5  --> #3 Sender[0].mine?<3>  |
   5  --> #3 Sender[0].mine?3    |
   6  |<--------- r!ack ---------|
";

#[test]
fn a_counterexample_is_drawn_with_its_messages() {
    let files = Files::new("chart");
    let model = files.write("model.pml", MODEL);
    let run = stubborn(&format!("check {model} --question safety --chart"));
    assert_eq!(run.code, 1, "{}{}", run.out, run.err);
    assert!(run.out.contains(CHART), "{}", run.out);
    let json = stubborn(&format!("check {model} --question safety --json"));
    let witness = files.write("witness.json", &json.out);
    let replayed = stubborn(&format!("replay {model} {witness} --chart"));
    assert_eq!(replayed.code, 1, "{}{}", replayed.out, replayed.err);
    assert!(replayed.out.contains(CHART), "{}", replayed.out);
}

#[test]
fn a_simulation_is_drawn_too() {
    let files = Files::new("chart-simulate");
    let model = files.write("model.pml", MODEL);
    let run = stubborn(&format!("simulate {model} --seed 3 --steps 1 --chart"));
    let first = "step  Sender[0]\n   1  #1 q[1]!data,7 -->\n";
    assert!(run.out.contains(first), "{}{}", run.out, run.err);
    let quiet = stubborn("simulate peterson --seed 1 --chart");
    assert!(quiet.out.contains("chart: no message is sent or received"), "{}{}", quiet.out, quiet.err);
}

#[test]
fn messages_are_in_the_json() {
    let files = Files::new("chart-json");
    let model = files.write("model.pml", MODEL);
    let json = stubborn(&format!("check {model} --question safety --json")).json();
    let steps = &json["witness"]["steps"];
    let sent = &steps[1]["parts"][0]["messages"][0];
    assert_eq!(
        (&sent["kind"], &sent["channel"], &sent["number"]),
        (&"send".into(), &"q[1]".into(), &2.into())
    );
    let received = &steps[2]["parts"][0]["messages"][0];
    assert_eq!((&received["kind"], &received["number"]), (&"receive".into(), &2.into()));
    assert_eq!(received["values"], serde_json::json!(["data", "8"]));
    let met = &steps[5]["parts"];
    assert_eq!(met[0]["process"], "Receiver[1]");
    assert_eq!(
        (&met[0]["messages"][0]["rendezvous"], &met[0]["messages"][0]["kind"]),
        (&true.into(), &"send".into())
    );
    assert_eq!(
        (&met[1]["process"], &met[1]["messages"][0]["kind"]),
        (&"Sender[0]".into(), &"receive".into())
    );
}

#[test]
fn mtypes_are_shown_by_name() {
    let files = Files::new("chart-mtype");
    let model = files.write("model.pml", MODEL);
    let run = stubborn(&format!("check {model} --question safety -v"));
    for words in ["c=green", "last: 0 -> ack", "(q): [data, 7] -> [data, 7] [data, 8]"] {
        assert!(run.out.contains(words), "{words} is not in\n{}", run.out);
    }
}

#[test]
fn a_chart_is_not_for_machines() {
    let run = stubborn("demo peterson --chart --json");
    assert_eq!(run.code, 2, "{}", run.out);
    assert!(run.err.contains("--chart"), "{}", run.err);
}
