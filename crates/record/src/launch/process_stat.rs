//! The text of `/proc/PID/stat`.

/// The fields after the name, which may contain any characters: state, parent, process group,
/// session, terminal, its foreground group, … (proc(5), from the third field on).
pub(super) fn fields(stat: &str) -> Vec<&str> {
    let (_, fields) = stat.rsplit_once(')').unwrap_or_default();
    fields.split_whitespace().collect()
}

#[cfg(test)]
mod tests {
    use super::fields;

    #[test]
    fn a_name_may_hold_anything() {
        assert_eq!(fields("7 (a) b (c)) S 3 7"), ["S", "3", "7"]);
        assert!(fields("7 (a").is_empty() && fields("").is_empty());
    }
}
