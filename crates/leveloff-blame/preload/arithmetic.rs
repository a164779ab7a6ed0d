//! Logarithm and exponential: `core` has none, and libm is not libc.

/// ln 2.
const LN_2: f64 = core::f64::consts::LN_2;

/// The natural logarithm of a positive normal number, to about twelve digits.
pub fn ln(x: f64) -> f64 {
    let bits = x.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i64 - 1023;
    let mut mantissa = f64::from_bits(bits & 0x000f_ffff_ffff_ffff | 1023 << 52);
    let mut exponent = exponent as f64;
    if mantissa > core::f64::consts::SQRT_2 {
        mantissa /= 2.0;
        exponent += 1.0;
    }
    // ln m = 2 artanh((m - 1) / (m + 1)), of which the argument is below 0.172.
    let z = (mantissa - 1.0) / (mantissa + 1.0);
    let square = z * z;
    let mut sum = 0.0;
    let mut power = z;
    let mut odd = 1.0;
    while odd < 17.0 {
        sum += power / odd;
        power *= square;
        odd += 2.0;
    }
    exponent * LN_2 + 2.0 * sum
}

/// 1 - e^(-x) for x ≥ 0, exact also where x is small.
pub fn one_minus_exp_of_minus(x: f64) -> f64 {
    if x > 40.0 {
        return 1.0;
    }
    // e^(-x) = (e^(-x/1024))^1024, kept as its difference from one: 1 - (1 - d)² = d (2 - d).
    let small = x / 1024.0;
    let mut difference = small * (1.0 - small / 2.0 * (1.0 - small / 3.0 * (1.0 - small / 4.0)));
    let mut doublings = 0;
    while doublings < 10 {
        difference *= 2.0 - difference;
        doublings += 1;
    }
    difference
}
