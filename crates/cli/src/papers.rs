//! `papers`: published tables, ours beside theirs.
//!
//! Table I is of A. Valmari, "Stop It, and Be Stubborn!" (2015). The states of the token ring for ten
//! stations are published there too; all other figures of the ring, and all its edges, come from runs of
//! ASSET on the model as it is reconstructed in the gallery.

use crate::entry::{print, say};
use crate::machine;
use crate::run::{Failure, analyse_with};
use crate::watch::{Terminal, is_interrupted};
use stubborn_explore::{End, Limits};
use stubborn_model::RuleSource;
use stubborn_report::{PaperRow, paper_table};
use stubborn_verdict::{Options, ReductionKind};

/// A published run.
struct Published {
    model: &'static str,
    size: usize,
    variant: &'static str,
    stubborn: bool,
    symmetry: bool,
    states: u64,
    edges: u64,
}

/// States above which a row is left out of `--quick`.
const QUICK: u64 = 600_000;

const fn peterson(variant: &'static str, size: usize, stubborn: bool, states: u64, edges: u64) -> Published {
    Published { model: "peterson", size, variant, stubborn, symmetry: false, states, edges }
}

const TABLE_I: [Published; 24] = [
    peterson("naive", 2, false, 133, 266),
    peterson("naive", 2, true, 88, 124),
    peterson("naive", 3, false, 38_038, 114_114),
    peterson("naive", 3, true, 18_817, 34_083),
    peterson("naive", 4, false, 12_346_971, 49_387_884),
    peterson("naive", 4, true, 4_312_993, 8_988_034),
    peterson("revealing", 2, false, 163, 326),
    peterson("revealing", 2, true, 116, 162),
    peterson("revealing", 3, false, 43_675, 131_025),
    peterson("revealing", 3, true, 23_134, 41_562),
    peterson("revealing", 4, false, 14_186_506, 56_746_024),
    peterson("revealing", 4, true, 5_316_461, 10_903_336),
    peterson("correct", 2, false, 574, 1_148),
    peterson("correct", 2, true, 378, 522),
    peterson("correct", 3, false, 96_854, 290_562),
    peterson("correct", 3, true, 44_868, 78_750),
    peterson("correct", 4, false, 26_209_918, 104_839_672),
    peterson("correct", 4, true, 9_318_636, 18_581_236),
    peterson("violating", 2, false, 336, 602),
    peterson("violating", 2, true, 219, 258),
    peterson("violating", 3, false, 32_957, 87_081),
    peterson("violating", 3, true, 15_164, 22_100),
    peterson("violating", 4, false, 6_614_675, 23_547_787),
    peterson("violating", 4, true, 2_116_738, 3_527_255),
];

/// Plain, stubborn, symmetry, both: states and edges, for 2 to 10 stations.
const RING: [[(u64, u64); 4]; 9] = [
    [(68, 140), (44, 60), (34, 70), (22, 30)],
    [(468, 1_350), (219, 327), (156, 450), (73, 109)],
    [(2_928, 10_880), (920, 1_432), (732, 2_720), (230, 358)],
    [(17_280, 78_600), (3_505, 5_625), (3_456, 15_720), (701, 1_125)],
    [(98_064, 527_760), (12_540, 20_772), (16_344, 87_960), (2_090, 3_462)],
    [(541_296, 3_364_200), (43_015, 73_899), (77_328, 480_600), (6_145, 10_557)],
    [(2_927_232, 20_632_320), (143_408, 256_880), (365_904, 2_579_040), (17_926, 32_110)],
    [(15_583_104, 122_821_920), (469_053, 879_885), (1_731_456, 13_646_880), (52_117, 97_765)],
    [(81_933_120, 714_052_800), (1_514_900, 2_984_860), (8_193_312, 71_405_280), (151_490, 298_486)],
];

fn all_published() -> Vec<Published> {
    let mut all: Vec<Published> = TABLE_I.into();
    for (size, modes) in (2..).zip(RING) {
        for (mode, (states, edges)) in modes.into_iter().enumerate() {
            let (stubborn, symmetry) = (mode % 2 == 1, mode >= 2);
            all.push(Published {
                model: "token-ring",
                size,
                variant: "correct",
                stubborn,
                symmetry,
                states,
                edges,
            });
        }
    }
    all
}

/// Reruns the tables. Exit code 4 if a figure differs: then either we or the paper are wrong.
pub(crate) fn papers(quick: bool, only: Option<&str>) -> Result<u8, Failure> {
    let mut rows = Vec::new();
    for published in all_published() {
        let what = published.what();
        if (quick && published.states > QUICK) || only.is_some_and(|text| !what.contains(text)) {
            continue;
        }
        let row = published.rerun(what)?;
        say(&format!("{}: {} states in {:.2} s", row.what, row.ours.0, row.seconds));
        rows.push(row);
        if is_interrupted() {
            break;
        }
    }
    let n_equal = rows.iter().filter(|row| row.finished && row.agrees()).count();
    let n_unfinished = rows.iter().filter(|row| !row.finished).count();
    print(paper_table(&rows));
    print(format!("{n_equal} of {} rows equal the published figures\n", rows.len()));
    Ok(match (n_equal + n_unfinished == rows.len(), n_unfinished) {
        (false, _) => 4,
        (true, 0) => 0,
        (true, _) => 3,
    })
}

impl Published {
    fn what(&self) -> String {
        let mode = match (self.stubborn, self.symmetry) {
            (false, false) => "plain",
            (true, false) => "stubborn",
            (false, true) => "symmetry",
            (true, true) => "stubborn, symmetry",
        };
        let variant = if self.model == "peterson" { self.variant } else { "" };
        format!("{}-{} {variant} {mode}", self.model, self.size).replace("  ", " ")
    }

    fn rerun(&self, what: String) -> Result<PaperRow, Failure> {
        let model = stubborn_gallery::build(self.model, Some(self.size), Some(self.variant))
            .map_err(|error| Failure::Usage(error.to_string()))?;
        let reduction = if self.stubborn { ReductionKind::StrongComponents } else { ReductionKind::None };
        let options = Options {
            reduction,
            symmetry: self.symmetry,
            limits: Limits { bytes: machine::default_memory(), ..Limits::default() },
            ..Options::default()
        };
        let report = analyse_with(&*model, RuleSource::Hand, &options, Terminal::new(None, true))?;
        let answers = report.analysis.answers.iter();
        let verdicts: Vec<String> =
            answers.map(|a| format!("{} {}", a.question.word(), a.verdict.word())).collect();
        let stats = report.analysis.phases.first().map(|phase| phase.stats).unwrap_or_default();
        Ok(PaperRow {
            what,
            published: (self.states, self.edges),
            ours: (stats.states, stats.edges),
            seconds: report.seconds,
            bytes: stats.peak_bytes,
            verdict: verdicts.join("; "),
            finished: !report.analysis.phases.iter().any(|phase| matches!(phase.end, End::Stopped(_))),
        })
    }
}
