//! x
use stubborn_model::*;
use stubborn_verdict::*;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let n: usize = a[2].parse().unwrap();
    let m = stubborn_gallery::build(&a[1], Some(n), Some(&a[3])).unwrap();
    let red = match a[4].as_str() { "none" => ReductionKind::None, "scc" => ReductionKind::StrongComponents, "closure" => ReductionKind::Closure, "deletion" => ReductionKind::Deletion, _ => ReductionKind::Smaller };
    let src = if a[5] == "derived" { RuleSource::Derived } else { RuleSource::of(&*m) };
    let s = ModelSystem::<[u64; 1]>::new(&*m, src).unwrap();
    let t = std::time::Instant::now();
    let o = Options { reduction: red, symmetry: a.get(6).map(|s| s == "sym").unwrap_or(false), check: None,
        questions: a.get(7).map(|_| vec![Question::Safety]), ..Options::default() };
    let r = analyse(&s, &o, &mut stubborn_explore::Unwatched);
    match r { Ok(r) => { for p in &r.phases { println!("{} {:?} {:?} amt {:?}", p.reduction, p.stats, p.end, p.always_may_terminate); }
      for x in &r.answers { println!("{} {}", x.question, match &x.verdict { Verdict::Violated(v) => format!("violated {} len {} region {:?}", v.message(), v.trace().steps.len(), v.region()), Verdict::Holds(h) => format!("holds {}", h.row()), v => format!("{v:?}") }); } }
      Err(e) => println!("{e:?}") }
    println!("{:?}", t.elapsed());
    let st = std::fs::read_to_string("/proc/self/status").unwrap();
    println!("{}", st.lines().find(|l| l.starts_with("VmHWM")).unwrap());
}
