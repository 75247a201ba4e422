//! Calendar dates.

/// Year, month, day, hour, minute and second, in UTC, of a time in seconds since the start of 1970.
pub fn date(seconds: u64) -> [u64; 6] {
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Years are counted from March, so that a leap day is the last of its year. There are 719468
    // days between 0000-03-01 and 1970, and an era has 400 years.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let from_march = (5 * day + 2) / 153;
    let day = day - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 {
        from_march + 3
    } else {
        from_march - 9
    };
    let year = era * 400 + year + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    [year, month, day, hour, minute, second]
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(date(0), [1970, 1, 1, 0, 0, 0]);
        assert_eq!(date(951_782_399), [2000, 2, 28, 23, 59, 59]);
        assert_eq!(date(951_782_400), [2000, 2, 29, 0, 0, 0]);
        assert_eq!(date(1_795_219_199), [2026, 11, 20, 23, 59, 59]);
        assert_eq!(date(4_107_542_400), [2100, 3, 1, 0, 0, 0]);
    }
}
