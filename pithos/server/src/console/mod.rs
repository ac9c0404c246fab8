//! What `serve --http` has beside MCP: `/metrics` for whoever shows the token, and with `--console` a page that shows what the server holds. It only shows:
//! nothing can be changed through these routes, but for signing in and out. Every answer with data needs the token or the page's cookie, and every
//! request the right `Host`; one with an `Origin` must come from the page itself.

mod access;
mod watch;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::Weak;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{
    ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, COOKIE, HOST, HeaderMap, HeaderName,
    HeaderValue, LOCATION, ORIGIN, REFERRER_POLICY, SET_COOKIE, X_CONTENT_TYPE_OPTIONS,
};
use hyper::{Method, Request, Response, StatusCode};
use pithos_sessions::{Ansi, Budget};
use serde_json::{Value, json};

use crate::clients::Clients;
use crate::connections::Seat;
use crate::console::access::Access;
pub(crate) use crate::console::watch::Watch;
use crate::control::Client;
use crate::http::{Body, plain};
use crate::limits::{BODY_TIME, CONSOLE_BODY_BYTES, CONSOLE_OUTPUT_BYTES};
use crate::metrics::{Metrics, text};
use crate::overview;

/// Where metrics are read.
const METRICS_PATH: &str = "/metrics";
/// Where the page is.
const CONSOLE_PATH: &str = "/console";
/// Nothing but what this server serves; no code made of text, no frames around it, and no other place to send anything to.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/// The files of the page.
const FILES: [(&str, &str, &str); 3] = [
    ("/console/", "text/html; charset=utf-8", include_str!("../../console/index.html")),
    ("/console/app.js", "text/javascript; charset=utf-8", include_str!("../../console/app.js")),
    ("/console/style.css", "text/css; charset=utf-8", include_str!("../../console/style.css")),
];

/// The routes beside MCP.
pub(crate) struct Console {
    clients: Weak<Clients>,
    metrics: Arc<Metrics>,
    access: Arc<Access>,
    watch: Watch,
    /// Whether there is a page.
    page: bool,
}

impl Console {
    /// For the server at `bound`.
    pub(crate) fn new(clients: &Arc<Clients>, metrics: Arc<Metrics>, bound: SocketAddr, page: bool) -> Self {
        let clients = Arc::downgrade(clients);
        let watch = Watch::new(clients.clone(), Arc::clone(&metrics));
        Self { clients, metrics, access: Arc::new(Access::new(bound)), watch, page }
    }

    /// A word that signs in once, soon; none where there is no page.
    pub(crate) fn invitation(&self) -> Option<String> {
        self.page
            .then(|| self.access.invite())
            .flatten()
            .map(|word| format!("http://{}{CONSOLE_PATH}/#{word}", self.access.bound))
    }

    /// Whether a path is one of these routes.
    pub(crate) fn owns(&self, path: &str) -> bool {
        path == METRICS_PATH || self.page && (path == CONSOLE_PATH || path.starts_with("/console/"))
    }

    /// Answers; `token` says whether the request has shown the server's token.
    pub(crate) async fn answer(&self, request: Request<Incoming>, token: bool) -> Response<Body> {
        let mut response = match self.admitted(&request) {
            Ok(()) => self.route(request, token).await,
            Err(status) => plain(status),
        };
        let headers = response.headers_mut();
        for (name, value) in [
            (CONTENT_SECURITY_POLICY, POLICY),
            (X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (REFERRER_POLICY, "no-referrer"),
            (CACHE_CONTROL, "no-store"),
            (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
            (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
            (HeaderName::from_static("x-frame-options"), "DENY"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        response
    }

    /// A name that another has bound to this address, and a page of another origin, end here.
    fn admitted(&self, request: &Request<Incoming>) -> Result<(), StatusCode> {
        let headers = request.headers();
        let host =
            one(headers, &HOST).ok_or(StatusCode::BAD_REQUEST)?.ok_or(StatusCode::MISDIRECTED_REQUEST)?;
        if !self.access.is_host(host) {
            return Err(StatusCode::MISDIRECTED_REQUEST);
        }
        let origin = one(headers, &ORIGIN).ok_or(StatusCode::BAD_REQUEST)?;
        // What changes anything must say where it comes from.
        let own = origin.map_or(request.method() == Method::GET, |origin| origin == format!("http://{host}"));
        let site = one(headers, &HeaderName::from_static("sec-fetch-site")).ok_or(StatusCode::BAD_REQUEST)?;
        let foreign = site.is_some_and(|site| !["same-origin", "none"].contains(&site));
        if own && !foreign { Ok(()) } else { Err(StatusCode::FORBIDDEN) }
    }

    async fn route(&self, request: Request<Incoming>, token: bool) -> Response<Body> {
        let path = request.uri().path().to_string();
        let post = ["/console/login", "/console/logout"].contains(&path.as_str());
        if request.method() != if post { Method::POST } else { Method::GET } {
            let mut response = plain(StatusCode::METHOD_NOT_ALLOWED);
            response.headers_mut().insert(ALLOW, HeaderValue::from_static(if post { "POST" } else { "GET" }));
            return response;
        }
        if let Some((_, kind, content)) = FILES.iter().find(|(name, ..)| *name == path) {
            return with_type(Full::from(*content), kind);
        }
        let cookie = request
            .headers()
            .get(COOKIE)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
            .to_string();
        match path.as_str() {
            CONSOLE_PATH => {
                let mut response = plain(StatusCode::PERMANENT_REDIRECT);
                response.headers_mut().insert(LOCATION, HeaderValue::from_static("/console/"));
                return response;
            }
            "/console/login" => return self.login(request).await,
            METRICS_PATH if !token => return plain(StatusCode::UNAUTHORIZED),
            _ if !token && !self.access.knows(&cookie) => return plain(StatusCode::UNAUTHORIZED),
            _ => {}
        }
        let seat = request.extensions().get::<Arc<Seat>>();
        if !seat.is_some_and(|seat| seat.begin()) {
            return plain(StatusCode::SERVICE_UNAVAILABLE);
        }
        match path.as_str() {
            METRICS_PATH => {
                let picture = overview::of(&managers(&self.clients), &self.metrics).await;
                with_type(Full::from(text::render(&self.metrics, &picture["now"])), text::CONTENT_TYPE)
            }
            "/console/events" => {
                let access = Arc::clone(&self.access);
                match self.watch.stream(move || token || access.knows(&cookie)) {
                    Some(body) => with_type(body, "text/event-stream"),
                    None => plain(StatusCode::SERVICE_UNAVAILABLE),
                }
            }
            "/console/output" => self.output(request.uri().query().unwrap_or_default()),
            "/console/logout" => {
                self.access.forget(&cookie);
                plain(StatusCode::NO_CONTENT)
            }
            _ => plain(StatusCode::NOT_FOUND),
        }
    }

    async fn login(&self, request: Request<Incoming>) -> Response<Body> {
        // A form of another page cannot send this type without asking first.
        if request.headers().get(CONTENT_TYPE).is_none_or(|kind| kind != "application/json") {
            return plain(StatusCode::UNSUPPORTED_MEDIA_TYPE);
        }
        let body = Limited::new(request.into_body(), CONSOLE_BODY_BYTES).collect();
        let Ok(Ok(body)) = tokio::time::timeout(BODY_TIME, body).await else {
            return plain(StatusCode::BAD_REQUEST);
        };
        let given: Value = serde_json::from_slice(&body.to_bytes()).unwrap_or_default();
        let Some(cookie) = given["word"].as_str().and_then(|word| self.access.sign_in(word)) else {
            return plain(StatusCode::UNAUTHORIZED);
        };
        let mut response = plain(StatusCode::NO_CONTENT);
        match HeaderValue::from_str(&cookie) {
            Ok(cookie) => {
                response.headers_mut().insert(SET_COOKIE, cookie);
                response
            }
            Err(_) => plain(StatusCode::INTERNAL_SERVER_ERROR),
        }
    }

    /// The end of a job's output, as text that a page may put anywhere that takes text.
    fn output(&self, query: &str) -> Response<Body> {
        let field = |name: &str| query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
        let client = field("client").and_then(|number| number.parse::<u64>().ok());
        let managers = managers(&self.clients);
        let manager = managers.iter().find(|(number, _)| *number == client).map(|(_, manager)| manager);
        let job = manager.zip(field("job")).and_then(|(manager, job)| manager.job(job).ok());
        let Some(job) = job else { return plain(StatusCode::NOT_FOUND) };
        let budget = Budget { ansi: Ansi::Strip, bytes: CONSOLE_OUTPUT_BYTES, lines: usize::MAX };
        let rendered = job.with_capture(|capture| capture.render(budget, true));
        let answer = json!({"job": job.handle, "text": rendered.text, "truncated": rendered.truncated, "script": script(&job.script)});
        with_type(Full::from(answer.to_string()), "application/json")
    }
}

fn script(text: &str) -> String {
    const SCRIPT_CHARS_MAX: usize = 4000;
    text.chars().take(SCRIPT_CHARS_MAX).collect()
}

/// Every client that has made a call.
fn managers(clients: &Weak<Clients>) -> Vec<Client> {
    let clients = clients.upgrade().map(|clients| clients.all()).unwrap_or_default();
    clients.iter().filter_map(|client| Some((Some(client.number), client.manager()?))).collect()
}

/// The value of a header that may be there once: none for several, or one that is no text.
fn one<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<Option<&'a str>> {
    let mut values = headers.get_all(name).iter();
    let first = values.next().map(HeaderValue::to_str).transpose().ok()?;
    values.next().is_none().then_some(first)
}

fn with_type(
    body: impl hyper::body::Body<Data = Bytes, Error = std::convert::Infallible> + Send + Sync + 'static,
    kind: &'static str,
) -> Response<Body> {
    let mut response = Response::new(Body::new(body));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

#[cfg(test)]
mod tests {
    use super::FILES;

    /// The page must have no way to make elements, code or addresses of text that it is given.
    #[test]
    fn the_page_has_no_place_where_text_becomes_anything_else() {
        let sinks = [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "new Function",
            "setAttribute",
            ".href",
            ".src",
            "srcdoc",
            "createContextualFragment",
            "DOMParser",
            "setTimeout('",
            "javascript:",
            ".cssText",
            "window.open",
            "location =",
            "location.assign",
            "postMessage",
            "localStorage",
            "onclick",
            "onerror",
            "http://",
            "https://",
            "//cdn",
            "import(",
            "style=",
            "<style",
        ];
        for (name, _, content) in FILES {
            for sink in sinks {
                assert!(!content.contains(sink), "{name} has {sink}");
            }
        }
        let page = FILES[0].2;
        assert_eq!(
            page.matches("<script").count(),
            page.matches("<script src=\"app.js\" type=\"module\"></script>").count()
        );
    }
}
