//! What recording may add to the program's time (`--max-overhead`, docs/budget.md).

use std::str::FromStr;

/// Millionths of the program's time; 0 = no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MaxOverhead(u32);

impl MaxOverhead {
    /// As the preloaded library takes it.
    pub fn per_million(self) -> u32 {
        self.0
    }
}

impl FromStr for MaxOverhead {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "off" {
            return Ok(MaxOverhead(0));
        }
        let percent = text.strip_suffix('%').unwrap_or(text).trim_end();
        match percent.parse::<f64>() {
            Ok(percent) if (0.01..=1000.0).contains(&percent) => {
                Ok(MaxOverhead((percent * 10_000.0).round() as u32))
            }
            _ => Err(
                "expected `off` or per cent of the program's time, as 5%, from 0.01 to 1000".into(),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::MaxOverhead;

    #[test]
    fn shares() {
        let told = |text: &str| text.parse::<MaxOverhead>().map(MaxOverhead::per_million);
        assert_eq!(told("off"), Ok(0));
        assert_eq!(told("5%"), Ok(50_000));
        assert_eq!(told("0.5"), Ok(5_000));
        assert_eq!(told("30 %"), Ok(300_000));
        for odd in ["0", "-1%", "much", "nan", "1e9", ""] {
            assert!(told(odd).is_err(), "{odd}");
        }
    }
}
