//! The checksum of chunks: XXH64 (its public specification), written here so that the recorder
//! needs `std` alone. It protects against torn and damaged files, not against tampering.

const P1: u64 = 0x9E37_79B1_85EB_CA87;
const P2: u64 = 0xC2B2_AE3D_27D4_EB4F;
const P3: u64 = 0x1656_67B1_9E37_79F9;
const P4: u64 = 0x85EB_CA77_C2B2_AE63;
const P5: u64 = 0x27D4_EB2F_1656_67C5;

#[inline(always)]
fn round(lane: u64, word: u64) -> u64 {
    lane.wrapping_add(word.wrapping_mul(P2))
        .rotate_left(31)
        .wrapping_mul(P1)
}

/// XXH64 of `bytes` with `seed`.
pub fn checksum(bytes: &[u8], seed: u64) -> u64 {
    let (stripes, mut tail) = bytes.as_chunks::<32>();
    let mut hash = if stripes.is_empty() {
        seed.wrapping_add(P5)
    } else {
        let mut lanes = [
            seed.wrapping_add(P1).wrapping_add(P2),
            seed.wrapping_add(P2),
            seed,
            seed.wrapping_sub(P1),
        ];
        for stripe in stripes {
            let (words, _) = stripe.as_chunks::<8>();
            for (lane, word) in lanes.iter_mut().zip(words) {
                *lane = round(*lane, u64::from_le_bytes(*word));
            }
        }
        let mut hash = lanes[0]
            .rotate_left(1)
            .wrapping_add(lanes[1].rotate_left(7))
            .wrapping_add(lanes[2].rotate_left(12))
            .wrapping_add(lanes[3].rotate_left(18));
        for lane in lanes {
            hash = (hash ^ round(0, lane)).wrapping_mul(P1).wrapping_add(P4);
        }
        hash
    };
    hash = hash.wrapping_add(bytes.len() as u64);
    while let Some((word, rest)) = tail.split_first_chunk::<8>() {
        hash = (hash ^ round(0, u64::from_le_bytes(*word)))
            .rotate_left(27)
            .wrapping_mul(P1)
            .wrapping_add(P4);
        tail = rest;
    }
    if let Some((word, rest)) = tail.split_first_chunk::<4>() {
        let word = u64::from(u32::from_le_bytes(*word));
        hash = (hash ^ word.wrapping_mul(P1))
            .rotate_left(23)
            .wrapping_mul(P2)
            .wrapping_add(P3);
        tail = rest;
    }
    for &byte in tail {
        hash = (hash ^ u64::from(byte).wrapping_mul(P5))
            .rotate_left(11)
            .wrapping_mul(P1);
    }
    hash = (hash ^ hash >> 33).wrapping_mul(P2);
    hash = (hash ^ hash >> 29).wrapping_mul(P3);
    hash ^ hash >> 32
}

#[cfg(test)]
mod tests {
    use super::checksum;

    #[test]
    fn agrees_with_the_published_values_of_xxh64() {
        assert_eq!(checksum(b"", 0), 0xEF46_DB37_51D8_E999);
        assert_eq!(checksum(b"a", 0), 0xD24E_C4F1_A98C_6E5B);
        assert_eq!(checksum(b"abc", 0), 0x44BC_2CF5_AD77_0999);
        assert_eq!(
            checksum(b"Nobody inspects the spammish repetition", 0),
            0xFBCE_A83C_8A37_8BF1
        );
    }

    #[test]
    fn every_byte_and_the_length_count() {
        for length in [1usize, 7, 8, 31, 32, 33, 64, 100] {
            let bytes: Vec<u8> = (0..length as u8).collect();
            let sum = checksum(&bytes, 7);
            for i in 0..length {
                let mut other = bytes.clone();
                other[i] ^= 0x40;
                assert_ne!(checksum(&other, 7), sum, "byte {i} of {length}");
            }
            assert_ne!(checksum(&bytes, 8), sum);
            assert_ne!(checksum(&bytes[..length - 1], 7), sum);
        }
    }
}
