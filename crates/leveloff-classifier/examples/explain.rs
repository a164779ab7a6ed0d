//! Prints what is said of one `step,t_seconds,rss_mb` file, at each of 40 looks.
use leveloff_classifier::curve::Curve;
use leveloff_classifier::judge::{Facts, Quantity, judge};
use leveloff_classifier::observation::XUnit;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let text = std::fs::read_to_string(&args[1]).expect("readable");
    let number = |i: usize| args.get(i).and_then(|a| a.parse::<f64>().ok());
    let facts = Facts {
        planned: number(2),
        epoch: number(3),
        level_by: number(4),
        ..Facts::default()
    };
    let rows: Vec<(f64, f64)> = text
        .lines()
        .skip(1)
        .filter_map(|line| {
            let mut fields = line.split(',');
            let x = fields.next()?.parse().ok()?;
            let y: f64 = fields.last()?.parse().ok()?;
            Some((x, y * 1e6))
        })
        .collect();
    let n = rows.len();
    let mut curve = Curve::default();
    let mut next = 6.0_f64.min(n as f64);
    for (i, (x, y)) in rows.iter().enumerate() {
        curve.push(*x, *y);
        if i + 1 >= next as usize || i + 1 == n {
            next = (next * (n as f64 / 6.0).powf(1.0 / 39.0)).max(next + 1.0);
            let j = judge(&curve, XUnit::Step, Quantity::Memory, &facts);
            println!(
                "{x:8.0} {:10} {:?} {:?} {:?} rate {:.4?} onset {:?} since {:?} sigma {:.2} rho {:.2}",
                j.verdict.name(),
                j.verdict.grade(),
                j.shape,
                j.because,
                j.rate.map(|r| (r.low / 1e6, r.value / 1e6, r.high / 1e6)),
                j.onset_x.map(|x| x as i64),
                j.level_since_x.map(|x| x as i64),
                j.noise / 1e6,
                j.autocorrelation
            );
        }
    }
}
