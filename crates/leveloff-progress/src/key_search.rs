//! Where a key stands in a short list.

/// As many keys are compared at once.
const LANES: usize = 16;

/// The position of `key`. In a long list, whole groups are compared without a branch for each key, which is faster where
/// the key is far back or missing.
pub fn position_of(key: u64, keys: &[u64]) -> Option<usize> {
    if keys.len() <= LANES {
        return keys.iter().position(|known| *known == key);
    }
    let is_in = |group: &&[u64]| {
        group
            .iter()
            .fold(false, |found, known| found | (*known == key))
    };
    let (at, group) = keys
        .chunks(LANES)
        .enumerate()
        .find(|(_, group)| is_in(group))?;
    let within = group.iter().position(|known| *known == key)?;
    Some(at * LANES + within)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_of_a_list_of_any_length_is_found_at_its_place() {
        for length in 0..50 {
            let keys: Vec<u64> = (0..length).map(|n| n * 7).collect();
            for (at, key) in keys.iter().enumerate() {
                assert_eq!(position_of(*key, &keys), Some(at));
            }
            assert_eq!(position_of(3, &keys), None);
        }
    }

    #[test]
    fn of_equal_keys_the_first_is_found() {
        let mut keys = vec![1; 40];
        keys[17] = 2;
        keys[35] = 2;
        assert_eq!(position_of(2, &keys), Some(17));
    }
}
