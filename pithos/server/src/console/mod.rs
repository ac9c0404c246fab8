//! What `serve --http` has beside MCP: `/metrics` for whoever shows the token, and with `--console` a page that shows what the server holds; with
//! `--console=act` people may also act through it. Every answer with data needs the token or the page's cookie, and every request the right `Host`; one
//! with an `Origin` must come from the page itself. Invariant: a GET changes nothing, and what changes anything but who is signed in passes [`act`].

mod access;
mod act;
mod follow;
mod history;
mod look;
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
use serde_json::Value;

use crate::clients::Clients;
use crate::connections::Seat;
use crate::console::access::Access;
use crate::console::follow::Follow;
use crate::console::history::History;
pub(crate) use crate::console::watch::Watch;
use crate::control::Client;
use crate::desk::Desk;
use crate::http::{Body, plain};
use crate::journal::Recorder;
use crate::limits::{BODY_TIME, CONSOLE_ACT_BYTES, CONSOLE_BODY_BYTES};
use crate::metrics::text;
use crate::overview;

/// Where metrics are read.
const METRICS_PATH: &str = "/metrics";
/// Where the page is.
const CONSOLE_PATH: &str = "/console";
/// What is sent, and not asked for.
const POSTED: [&str; 4] = ["/console/login", "/console/logout", "/console/act", "/console/answer"];
/// Where the page shows its word.
const WORD_HEADER: &str = "x-pithos-page";
const JSON: &str = "application/json";
/// Nothing but what this server serves; no code made of text, no frames around it, and no other place to send anything to.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/// The files of the page.
const FILES: [(&str, &str, &str); 9] = [
    ("/console/", HTML, include_str!("../../console/index.html")),
    ("/console/app.js", JAVASCRIPT, include_str!("../../console/app.js")),
    ("/console/dom.js", JAVASCRIPT, include_str!("../../console/dom.js")),
    ("/console/server.js", JAVASCRIPT, include_str!("../../console/server.js")),
    ("/console/views.js", JAVASCRIPT, include_str!("../../console/views.js")),
    ("/console/job.js", JAVASCRIPT, include_str!("../../console/job.js")),
    ("/console/plot.js", JAVASCRIPT, include_str!("../../console/plot.js")),
    ("/console/text.js", JAVASCRIPT, include_str!("../../console/text.js")),
    ("/console/style.css", "text/css; charset=utf-8", include_str!("../../console/style.css")),
];
const HTML: &str = "text/html; charset=utf-8";
const JAVASCRIPT: &str = "text/javascript; charset=utf-8";

/// The picture in the browser's tab, which is no page.
const ICON: &str = include_str!("../../console/icon.svg");

/// What who is signed in may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rights {
    /// Look.
    View,
    /// Look, and do what a client could do to what runs.
    Act,
}

/// The routes beside MCP.
pub(crate) struct Console {
    clients: Weak<Clients>,
    recorder: Arc<Recorder>,
    access: Arc<Access>,
    watch: Watch,
    follow: Follow,
    history: Arc<History>,
    /// Where questions wait for somebody who may answer them.
    pub(crate) desk: Arc<Desk>,
    /// What may be done; none where there is no page.
    rights: Option<Rights>,
}

impl Console {
    /// For the server at `bound`.
    pub(crate) fn new(
        clients: &Arc<Clients>,
        recorder: &Arc<Recorder>,
        bound: SocketAddr,
        rights: Option<Rights>,
    ) -> Self {
        let clients = Arc::downgrade(clients);
        let watch = Watch::new(clients.clone(), Arc::clone(&recorder.metrics));
        let desk = Arc::new(Desk::new(watch.lookers(), rights == Some(Rights::Act)));
        let history = Arc::new(History::default());
        if rights.is_some() {
            recorder.recent.want();
            history.keep(clients.clone(), Arc::clone(&recorder.metrics));
        }
        Self {
            clients,
            recorder: Arc::clone(recorder),
            access: Arc::new(Access::new(bound)),
            watch,
            follow: Follow::default(),
            history,
            desk,
            rights,
        }
    }

    /// A word that signs in once, soon; none where there is no page.
    pub(crate) fn invitation(&self) -> Option<String> {
        self.rights
            .and_then(|_| self.access.invite())
            .map(|word| format!("http://{}{CONSOLE_PATH}/#{word}", self.access.bound))
    }

    /// Whether a path is one of these routes.
    pub(crate) fn owns(&self, path: &str) -> bool {
        path == METRICS_PATH
            || self.rights.is_some() && (path == CONSOLE_PATH || path.starts_with("/console/"))
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
        let post = POSTED.contains(&path.as_str());
        if request.method() != if post { Method::POST } else { Method::GET } {
            let mut response = plain(StatusCode::METHOD_NOT_ALLOWED);
            response.headers_mut().insert(ALLOW, HeaderValue::from_static(if post { "POST" } else { "GET" }));
            return response;
        }
        if let Some((_, kind, content)) = FILES.iter().find(|(name, ..)| *name == path) {
            return with_type(Full::from(*content), kind);
        }
        if path == "/console/icon.svg" {
            return with_type(Full::from(ICON), "image/svg+xml");
        }
        let cookie = request.headers().get(COOKIE).and_then(|value| value.to_str().ok());
        let cookie = cookie.unwrap_or_default().to_string();
        let signed_in = self.access.knows(&cookie);
        match path.as_str() {
            CONSOLE_PATH => {
                let mut response = plain(StatusCode::PERMANENT_REDIRECT);
                response.headers_mut().insert(LOCATION, HeaderValue::from_static("/console/"));
                response
            }
            "/console/login" => self.login(request).await,
            METRICS_PATH if !token => plain(StatusCode::UNAUTHORIZED),
            _ if !token && !signed_in => plain(StatusCode::UNAUTHORIZED),
            // Whoever may ask keeps the place of its connection.
            _ if !seated(&request) => plain(StatusCode::SERVICE_UNAVAILABLE),
            METRICS_PATH => {
                let picture = overview::of(&managers(&self.clients), &self.recorder.metrics).await;
                with_type(
                    Full::from(text::render(&self.recorder.metrics, &picture["now"])),
                    text::CONTENT_TYPE,
                )
            }
            "/console/logout" => {
                self.access.forget(&cookie);
                plain(StatusCode::NO_CONTENT)
            }
            // Who has only the token does this as a client.
            "/console/act" | "/console/answer" if !signed_in => plain(StatusCode::UNAUTHORIZED),
            "/console/act" | "/console/answer" if self.rights != Some(Rights::Act) => {
                plain(StatusCode::FORBIDDEN)
            }
            "/console/act" | "/console/answer" => self.change(request, &path, &cookie).await,
            "/console/events" => {
                let access = Arc::clone(&self.access);
                let desk = Arc::clone(&self.desk);
                match self.watch.stream(move || token || access.knows(&cookie), desk) {
                    Some(body) => with_type(body, "text/event-stream"),
                    None => plain(StatusCode::SERVICE_UNAVAILABLE),
                }
            }
            "/console/follow" => {
                let access = Arc::clone(&self.access);
                let query = look::Query::of(request.uri().query());
                let Some(job) = self.job(&query) else { return plain(StatusCode::NOT_FOUND) };
                let may = move || token || access.knows(&cookie);
                match self.follow.stream(job, query.number("from"), may) {
                    Some(body) => with_type(body, "text/event-stream"),
                    None => plain(StatusCode::SERVICE_UNAVAILABLE),
                }
            }
            _ => {
                let query = look::Query::of(request.uri().query());
                match self.look(&path, &query, &cookie).await {
                    Some(answer) => with_type(Full::from(answer.to_string()), JSON),
                    None => plain(StatusCode::NOT_FOUND),
                }
            }
        }
    }

    /// Something that a person wants changed: by the page, with the word that only the page was given.
    async fn change(&self, request: Request<Incoming>, path: &str, cookie: &str) -> Response<Body> {
        let word = request.headers().get(WORD_HEADER).and_then(|word| word.to_str().ok());
        if !word.is_some_and(|word| self.access.is_page_of(cookie, word)) {
            return plain(StatusCode::FORBIDDEN);
        }
        let given = match body_of(request, CONSOLE_ACT_BYTES).await {
            Ok(given) => given,
            Err(status) => return plain(status),
        };
        let answer = if path == "/console/answer" { self.reply(&given) } else { self.act(given).await };
        match answer {
            Ok(answer) => with_type(Full::from(answer.to_string()), JSON),
            Err(status) => plain(status),
        }
    }

    async fn login(&self, request: Request<Incoming>) -> Response<Body> {
        let given = match body_of(request, CONSOLE_BODY_BYTES).await {
            Ok(given) => given,
            Err(status) => return plain(status),
        };
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

    /// The manager of a client.
    fn manager(&self, client: Option<u64>) -> Option<Arc<pithos_sessions::Manager>> {
        managers(&self.clients).into_iter().find(|(number, _)| *number == client).map(|(_, manager)| manager)
    }
}

/// The JSON of a request's body; nothing that is not JSON becomes null.
async fn body_of(request: Request<Incoming>, most: usize) -> Result<Value, StatusCode> {
    // A form of another page cannot send this type without asking first.
    if request.headers().get(CONTENT_TYPE).is_none_or(|kind| kind != JSON) {
        return Err(StatusCode::UNSUPPORTED_MEDIA_TYPE);
    }
    let body = Limited::new(request.into_body(), most).collect();
    let Ok(Ok(body)) = tokio::time::timeout(BODY_TIME, body).await else {
        return Err(StatusCode::BAD_REQUEST);
    };
    Ok(serde_json::from_slice(&body.to_bytes()).unwrap_or_default())
}

/// Every client that has made a call.
fn managers(clients: &Weak<Clients>) -> Vec<Client> {
    let clients = clients.upgrade().map(|clients| clients.all()).unwrap_or_default();
    clients.iter().filter_map(|client| Some((Some(client.number), client.manager()?))).collect()
}

/// The request has shown that it may ask; false when its connection must go.
fn seated(request: &Request<Incoming>) -> bool {
    request.extensions().get::<Arc<Seat>>().is_some_and(|seat| seat.begin())
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
