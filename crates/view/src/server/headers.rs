//! The headers that every answer has, and those that every request must have.

use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue};

/// Whether the request was meant for this machine. A page elsewhere can have its own name point
/// here, but it can't change the `Host` header that the browser sends. Ports are not compared, as a
/// forwarded port differs.
pub(super) fn host_is_here(headers: &HeaderMap) -> bool {
    let mut hosts = headers.get_all(HOST).iter();
    let (Some(host), None) = (hosts.next().and_then(|h| h.to_str().ok()), hosts.next()) else {
        return false;
    };
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    };
    ["127.0.0.1", "localhost", "[::1]"]
        .iter()
        .any(|known| name.eq_ignore_ascii_case(known))
}

/// The policy of answers other than the page: nothing may be loaded from them.
pub(super) const NO_CONTENT_POLICY: &str = "default-src 'none'; frame-ancestors 'none'";

/// The policy of the page. It allows the page's own inline script and style, which have the nonce,
/// and requests to this server. Workers start from the page's own blobs; the page's script sets the
/// styles of elements.
pub(super) fn policy(nonce: &str) -> String {
    format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; style-src-attr 'unsafe-inline'; \
         connect-src 'self'; img-src 'self' data: blob:; font-src data:; worker-src blob:; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'"
    )
}

/// Sets the headers common to all answers.
pub(super) fn set(headers: &mut HeaderMap, media_type: &str, policy: &str, cache: &'static str) {
    let mut put = |name: HeaderName, value: &str| {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(name, value);
        }
    };
    put(CONTENT_TYPE, media_type);
    put(CONTENT_SECURITY_POLICY, policy);
    put(CACHE_CONTROL, cache);
    put(X_CONTENT_TYPE_OPTIONS, "nosniff");
    put(X_FRAME_OPTIONS, "DENY");
    put(REFERRER_POLICY, "no-referrer");
    let resource = HeaderName::from_static("cross-origin-resource-policy");
    put(resource, "same-origin");
    let opener = HeaderName::from_static("cross-origin-opener-policy");
    put(opener, "same-origin");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(value: &str) -> bool {
        let mut headers = HeaderMap::new();
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(HOST, value);
        }
        host_is_here(&headers)
    }

    #[test]
    fn only_names_of_this_machine_are_hosts() {
        for good in [
            "127.0.0.1:8417",
            "localhost:9000",
            "LOCALHOST",
            "[::1]:1",
            "127.0.0.1",
        ] {
            assert!(host(good), "{good}");
        }
        for bad in [
            "evil.example",
            "evil.example:8417",
            "127.0.0.1.evil.example",
            "localhost.evil.example:1",
            "",
            "[::2]:1",
            "127.0.0.1:80:80",
        ] {
            assert!(!host(bad), "{bad}");
        }
        assert!(!host_is_here(&HeaderMap::new()));
    }
}
