//! scratch
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "scratch"
)]
use nacre_core::memory::{Likeness, Profile, judge, kinship, measure};
use nacre_core::search::{Builtin, Embedder as _, are_near};
fn main() {
    let embedder = Builtin::shipped().unwrap();
    for line in std::io::stdin().lines() {
        let line = line.unwrap();
        let p: Vec<&str> = line.split('|').map(str::trim).collect();
        if p.len() < 4 {
            continue;
        }
        let w = [
            p[0].to_owned(),
            p[2].to_owned(),
            format!("{}\n{}", p[0], p[1]),
            format!("{}\n{}", p[2], p[3]),
        ];
        let e = embedder.embed(&w.iter().map(String::as_str).collect::<Vec<_>>()).unwrap();
        let cos = |a: usize, b: usize| {
            e[a].iter().zip(&e[b]).map(|(x, y)| x * y).sum::<f32>().clamp(0.0, 1.0)
        };
        let l = Likeness { titles: cos(0, 1), whole: cos(2, 3) };
        let (a, b) = (Profile::of(p[0], p[1]), Profile::of(p[2], p[3]));
        println!(
            "{:?}\n  {:?}\n  {:?}\n  {:?} cos {:.2} {:.2} turned {:.2} {:.2}",
            kinship(&a, &b, l, &are_near),
            judge(&a, &b, l).scores,
            judge(&b, &a, l).scores,
            kinship(&b, &a, l, &are_near),
            l.titles,
            l.whole,
            measure(&a, &b, l)[14],
            measure(&a, &b, l)[15]
        );
    }
}
