//! Least squares of one curve on any few of several columns, from products that are computed once.

/// A curve and columns that may explain it.
pub(super) struct Regression {
    /// Products of all columns with each other; the curve is the last of them.
    products: Vec<Vec<f64>>,
    scales: Vec<f64>,
}

/// What the chosen columns leave unexplained, and how much each explains.
pub(super) struct Fit {
    /// The curve's change per unit of each column.
    pub(super) coefficients: Vec<f64>,
    /// The sum of squared residuals.
    pub(super) residual_squares: f64,
}

/// Columns of which less than this share of the squares is their own cannot be distinguished.
const COLLINEAR: f64 = 1e-8;

impl Regression {
    /// The columns must be as long as the curve. Each is reduced by its mean, so the level explains nothing.
    pub(super) fn new(curve: &[f64], columns: &[&[f64]]) -> Regression {
        let all: Vec<(Vec<f64>, f64)> = columns
            .iter()
            .copied()
            .chain([curve])
            .map(standardised)
            .collect();
        let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum();
        let row = |(a, _): &(Vec<f64>, f64)| all.iter().map(|(b, _)| product(a, b)).collect();
        Regression {
            products: all.iter().map(row).collect(),
            scales: all.iter().map(|(_, scale)| *scale).collect(),
        }
    }

    /// The correlation of two columns.
    pub(super) fn correlation(&self, first: usize, second: usize) -> f64 {
        self.products[first][second]
    }

    /// The fit on the columns at these places; `None` if they cannot be distinguished.
    pub(super) fn fit(&self, places: &[usize]) -> Option<Fit> {
        let curve = self.products.len() - 1;
        let mut rows: Vec<Vec<f64>> = places
            .iter()
            .map(|&row| {
                places
                    .iter()
                    .chain([&curve])
                    .map(|&at| self.products[row][at])
                    .collect()
            })
            .collect();
        let solution = solve(&mut rows)?;
        let explained: f64 = places
            .iter()
            .zip(&solution)
            .map(|(&place, part)| part * self.products[place][curve])
            .sum();
        let left = (self.products[curve][curve] - explained).max(0.0);
        let unscaled =
            |(&place, part): (&usize, &f64)| part * self.scales[curve] / self.scales[place];
        Some(Fit {
            coefficients: places.iter().zip(&solution).map(unscaled).collect(),
            residual_squares: left * self.scales[curve].powi(2),
        })
    }
}

/// Without its mean and with a sum of squares of one, beside the factor that was taken out.
fn standardised(values: &[f64]) -> (Vec<f64>, f64) {
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let scale = match squares > 0.0 {
        true => squares.sqrt(),
        false => 1.0,
    };
    (
        values.iter().map(|value| (value - mean) / scale).collect(),
        scale,
    )
}

/// Gauss's elimination; the last number of each row is its right side. The matrix is symmetric with ones on its
/// diagonal, so a pivot is what a column has for its own beside those before.
fn solve(rows: &mut [Vec<f64>]) -> Option<Vec<f64>> {
    let size = rows.len();
    for pivot in 0..size {
        if rows[pivot][pivot] < COLLINEAR {
            return None;
        }
        let (above, below) = rows.split_at_mut(pivot + 1);
        let source = &above[pivot];
        for row in below {
            let factor = row[pivot] / source[pivot];
            let terms = row.iter_mut().zip(source);
            terms.for_each(|(value, other)| *value -= factor * other);
        }
    }
    let mut solution = vec![0.0; size];
    for place in (0..size).rev() {
        let known: f64 = (place + 1..size)
            .map(|at| rows[place][at] * solution[at])
            .sum();
        solution[place] = (rows[place][size] - known) / rows[place][place];
    }
    Some(solution)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_columns_get_their_coefficients_back() {
        let ramp: Vec<f64> = (0..40).map(f64::from).collect();
        let stairs: Vec<f64> = (0..40).map(|place| f64::from(place / 7)).collect();
        let curve: Vec<f64> = ramp
            .iter()
            .zip(&stairs)
            .map(|(ramp, stairs)| 1e9 + 3e5 * ramp + 2e7 * stairs)
            .collect();
        let regression = Regression::new(&curve, &[&ramp, &stairs]);
        let fit = regression.fit(&[0, 1]).unwrap();
        assert!((fit.coefficients[0] / 3e5 - 1.0).abs() < 1e-6);
        assert!((fit.coefficients[1] / 2e7 - 1.0).abs() < 1e-6);
        let alone = regression.fit(&[0]).unwrap();
        assert!(alone.residual_squares > 1e3 * fit.residual_squares);
    }

    #[test]
    fn a_column_and_its_double_cannot_be_distinguished() {
        let ramp: Vec<f64> = (0..40).map(f64::from).collect();
        let double: Vec<f64> = ramp.iter().map(|value| 2.0 * value).collect();
        let regression = Regression::new(&ramp, &[&ramp, &double]);
        assert!(regression.fit(&[0, 1]).is_none());
        assert!((regression.fit(&[1]).unwrap().coefficients[0] - 0.5).abs() < 1e-9);
    }
}
