//! `pithos serve --http`: the same server over streamable HTTP. Loopback addresses only, a bearer token that is made at start, and no
//! foreign `Host` or `Origin`: a web page in a browser on the same machine cannot reach it. Only `/mcp` speaks MCP; `/health` says
//! without a token that somebody listens, and nothing else; what there is to look at is in [`Console`]. Who calls is told here ([`Identity`]); what is theirs, in [`Clients`].

use std::convert::Infallible;
use std::io::Read;
use std::net::SocketAddr;
use std::pin::Pin;
use std::process::ExitCode;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Frame, Incoming, SizeHint};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE};
use hyper::server::conn::http1;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use pithos_sessions::errln;
use pithos_sessions::{Config, Locked};
use rmcp::model::{JsonRpcMessage, RequestId};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::{TcpListener, TcpStream};

use crate::clients::{Clients, Identity, Present};
use crate::connections::{Places, Seat};
use crate::console::{Console, Rights};
use crate::control;
use crate::handler::{Callers, Handler};
use crate::journal::Recorder;
use crate::limits::{BODY_BYTES, BODY_TIME, CLIENT_IDLE, HEAD_TIME};
use crate::message::{self, Judged, UnderWay};
use crate::servers::Servers;
use crate::watchdog::{self, Calls};

/// Bytes of randomness in the token.
const TOKEN_BYTES: usize = 32;
/// How long `serve` waits after a connection could not be accepted.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// Where MCP is spoken.
const MCP_PATH: &str = "/mcp";
/// Where anybody may ask whether the server answers.
const HEALTH_PATH: &str = "/health";

/// Names an MCP session.
const SESSION_HEADER: &str = "mcp-session-id";

type Service = StreamableHttpService<Handler, LocalSessionManager>;
pub(crate) type Body = http_body_util::combinators::BoxBody<Bytes, Infallible>;

/// How a server over HTTP is started.
pub(crate) struct Options {
    /// Where it listens.
    pub(crate) address: SocketAddr,
    /// Where the token goes.
    pub(crate) token_file: Option<std::path::PathBuf>,
    /// How long a client may be silent.
    pub(crate) idle: Option<Duration>,
    /// What may be done through a page; none where there is no page.
    pub(crate) console: Option<Rights>,
}

/// Serves HTTP clients until SIGINT or SIGTERM. The token goes to stderr, or into a file.
pub(crate) async fn serve(
    config: Config,
    recorder: Arc<Recorder>,
    servers: Servers,
    options: Options,
) -> Result<ExitCode, String> {
    let address = options.address;
    if !address.ip().is_loopback() {
        return Err(format!(
            "--http {address}: only loopback addresses are served; put a proxy with TLS before it"
        ));
    }
    let token = new_token().map_err(|error| format!("making a token: {error}"))?;
    let listener = TcpListener::bind(address).await.map_err(|error| format!("--http {address}: {error}"))?;
    let bound = listener.local_addr().map_err(|error| error.to_string())?;
    let folder = config.control.clone();
    // A policy that cannot be enforced is told at once, and not to the first client.
    config.confinement.check().map_err(|error| error.to_string())?;
    let mut protocol = LocalSessionManager::default();
    // Clients end by the rules of `Clients`.
    protocol.session_config.keep_alive = None;
    let protocol = Arc::new(protocol);
    let clients = Clients::new(config, options.idle.unwrap_or(CLIENT_IDLE), Arc::clone(&protocol));
    let looked_at = Arc::downgrade(&clients);
    let console = Arc::new(Console::new(&clients, &recorder, bound, options.console));
    let inviting = Arc::clone(&console);
    control::serve(
        &folder,
        Arc::clone(&recorder.metrics),
        move || inviting.invitation(),
        move || {
            let clients = looked_at.upgrade()?.all();
            let managers = clients.iter().filter_map(|client| Some((Some(client.number), client.manager()?)));
            Some(managers.collect())
        },
    );
    let calls = Calls::default();
    watchdog::start(calls.clone(), false)?;
    pithos_sessions::raise_descriptor_limit();
    let handler = Handler::new(Callers::Many(Arc::clone(&clients)), recorder, calls, servers)
        .asking_at(Arc::clone(&console.desk));
    let settings = StreamableHttpServerConfig::default().enforce_origin_validation();
    let places = Arc::<Places>::default();
    let service: Service = StreamableHttpService::new(move || Ok(handler.clone()), protocol, settings);
    let door = Arc::new(Door { service, clients, console, expected: format!("Bearer {token}") });
    // Whoever reads this may ask at once, here and at the control socket.
    announce(bound, &token, options.token_file)?;
    let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())
        .map_err(|error| error.to_string())?;
    loop {
        let connection = tokio::select! {
            accepted = accept(&listener, &places) => accepted,
            _ = tokio::signal::ctrl_c() => break,
            _ = terminate.recv() => break,
        };
        let Ok((stream, seat)) = connection else {
            // Mostly a lack of descriptors, which only passes with time: an immediate retry would spin.
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        tokio::spawn(converse(Arc::clone(&door), stream, seat));
    }
    Ok(ExitCode::SUCCESS)
}

/// The next connection, once there is a place for it.
async fn accept(listener: &TcpListener, places: &Arc<Places>) -> std::io::Result<(TcpStream, Arc<Seat>)> {
    let (stream, _) = listener.accept().await?;
    // An answer is written in pieces: the second must not wait until the first is acknowledged, which takes 40 ms.
    let _ = stream.set_nodelay(true);
    Ok((stream, places.take().await))
}

/// Answers the requests of a connection until it ends or must go.
async fn converse(door: Arc<Door>, stream: TcpStream, seat: Arc<Seat>) {
    let asking = Arc::clone(&seat);
    let answer = hyper::service::service_fn(move |request| {
        let (door, seat) = (Arc::clone(&door), Arc::clone(&asking));
        async move {
            let response = door.answer(request, &seat).await;
            Ok::<_, Infallible>(response.map(|body| seat.until_end_of(body)))
        }
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME);
    // A connection that breaks is the client's business.
    tokio::select! {
        _ = builder.serve_connection(TokioIo::new(stream), answer) => {}
        () = seat.must_go() => {}
    }
}

/// What every request passes.
struct Door {
    service: Service,
    clients: Arc<Clients>,
    console: Arc<Console>,
    expected: String,
}

impl Door {
    async fn answer(&self, mut request: Request<Incoming>, seat: &Arc<Seat>) -> Response<Body> {
        match request.uri().path() {
            MCP_PATH => {}
            HEALTH_PATH if request.method() == Method::GET => return plain(StatusCode::OK),
            HEALTH_PATH => return plain(StatusCode::METHOD_NOT_ALLOWED),
            path if self.console.owns(path) => {
                let token = self.word(given(&request)).is_some();
                request.extensions_mut().insert(Arc::clone(seat));
                return self.console.answer(request, token).await;
            }
            _ => return plain(StatusCode::NOT_FOUND),
        }
        let Some(word) = self.word(given(&request)) else {
            let mut response = plain(StatusCode::UNAUTHORIZED);
            response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            return response;
        };
        if !seat.begin() {
            return plain(StatusCode::SERVICE_UNAVAILABLE);
        }
        let identity = Identity { word, session: header(request.headers()) };
        let (mut head, body) = request.into_parts();
        head.extensions.insert(identity.clone());
        let delete = head.method == Method::DELETE;
        let body = match tokio::time::timeout(BODY_TIME, Limited::new(body, BODY_BYTES).collect()).await {
            Ok(Ok(body)) => body.to_bytes(),
            Ok(Err(error)) if error.is::<LengthLimitError>() => return plain(StatusCode::PAYLOAD_TOO_LARGE),
            Ok(Err(_)) => return plain(StatusCode::BAD_REQUEST),
            Err(_) => return plain(StatusCode::REQUEST_TIMEOUT),
        };
        // Here or nowhere: what comes in with the id of a session that is another's, or that is over, goes no further.
        let present = match &identity.session {
            Some(_) => match self.clients.enter(&identity) {
                Some(present) => Some(present),
                None => return plain(StatusCode::NOT_FOUND),
            },
            None => None,
        };
        let asked = match (head.method == Method::POST).then(|| judge(&body, present.as_ref())) {
            Some(Ok(asked)) => asked,
            Some(Err(refusal)) => {
                // Who may not ask at all, a page of elsewhere, is told that and nothing else.
                let without = Request::from_parts(head, Full::new(Bytes::new()));
                let forbidden = self.service.handle(without).await;
                return if forbidden.status() == StatusCode::FORBIDDEN { forbidden } else { *refusal };
            }
            None => None,
        };
        let response = self.service.handle(Request::from_parts(head, Full::new(body))).await;
        if delete && response.status().is_success() {
            self.clients.end(&identity).await;
            return response;
        }
        match (present, header(response.headers())) {
            (Some(present), _) => response.map(|body| Body::new(Held { body, asked, _present: present })),
            // A session has begun.
            (None, Some(session)) => {
                let identity = Identity { session: Some(session), ..identity };
                match self.clients.admit(&identity).await {
                    Ok(present) => response.map(|body| Body::new(Held { body, asked, _present: present })),
                    Err(message) => {
                        self.clients.refuse(&identity).await;
                        let mut response = Response::new(Body::new(Full::from(message)));
                        *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
                        response
                    }
                }
            }
            (None, None) => response,
        }
    }

    /// What stands after the token, or nothing; none when the token is wrong.
    fn word(&self, given: &[u8]) -> Option<String> {
        let (token, rest) = given.split_at_checked(self.expected.len())?;
        if !same(token, self.expected.as_bytes()) {
            return None;
        }
        let rest = std::str::from_utf8(rest).ok()?;
        if rest.is_empty() {
            return Some(String::new());
        }
        let word = rest.strip_prefix('.')?;
        Identity::word_is_good(word).then(|| word.to_string())
    }
}

/// The credential of a request, empty where there is none.
fn given(request: &Request<Incoming>) -> &[u8] {
    request.headers().get(AUTHORIZATION).map(HeaderValue::as_bytes).unwrap_or_default()
}

/// The MCP session that a request or an answer names.
fn header(headers: &hyper::HeaderMap) -> Option<String> {
    Some(headers.get(SESSION_HEADER)?.to_str().ok()?.to_string())
}

/// Looks at a message before the protocol does; the request in it, which is under way from now on, or the answer that says what is wrong with it.
fn judge(body: &[u8], present: Option<&Present>) -> Result<Option<Asked>, Box<Response<Body>>> {
    let under_way = present.map(Present::under_way);
    let judged = match &under_way {
        Some(calls) => calls.with(|calls| calls.judge(body)),
        None => message::judge(body),
    };
    match judged {
        Judged::Good(message) => Ok(match (*message, under_way) {
            (JsonRpcMessage::Request(request), Some(under_way)) => {
                Some(Asked { under_way, id: request.id, answered: false })
            }
            _ => None,
        }),
        Judged::Nothing if body.trim_ascii().is_empty() => Err(Box::new(plain(StatusCode::BAD_REQUEST))),
        Judged::Nothing => Err(Box::new(plain(StatusCode::ACCEPTED))),
        Judged::Wrong(message) => {
            let text = serde_json::to_vec(&message).unwrap_or_default();
            let mut response = Response::new(Body::new(Full::from(text)));
            *response.status_mut() = StatusCode::BAD_REQUEST;
            response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            Err(Box::new(response))
        }
    }
}

/// A request whose answer is not whole yet.
struct Asked {
    under_way: Arc<Locked<UnderWay>>,
    id: RequestId,
    answered: bool,
}

impl Drop for Asked {
    fn drop(&mut self) {
        self.under_way.with(|calls| calls.over(&self.id, self.answered));
    }
}

/// A body that keeps its client from being silent as long as somebody reads it, and its request's id from being used again.
struct Held {
    body: Body,
    asked: Option<Asked>,
    _present: Present,
}

impl hyper::body::Body for Held {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let frame = std::task::ready!(Pin::new(&mut self.body).poll_frame(context));
        let over = frame.is_none() || self.body.is_end_stream();
        if let Some(asked) = self.asked.as_mut() {
            asked.answered |= over;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// An answer that is its status alone.
pub(crate) fn plain(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::default());
    *response.status_mut() = status;
    response
}

/// Compares in a time that does not depend on where the first difference is.
fn same(given: &[u8], expected: &[u8]) -> bool {
    given.len() == expected.len()
        && given.iter().zip(expected).fold(0, |sum, (left, right)| sum | (left ^ right)) == 0
}

fn new_token() -> std::io::Result<String> {
    let mut bytes = [0; TOKEN_BYTES];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn announce(bound: SocketAddr, token: &str, file: Option<std::path::PathBuf>) -> Result<(), String> {
    use std::io::Write;
    use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
    let Some(path) = file else {
        errln!("pithos: listening on http://{bound}{MCP_PATH} with the token {token}");
        return Ok(());
    };
    let opened = std::fs::OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).open(&path);
    let written = opened.and_then(|mut file| {
        // The mode above only counts for a new file; one that was there may be open to others.
        file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
        writeln!(file, "{token}")
    });
    written.map_err(|error| format!("--token-file {}: {error}", path.display()))?;
    errln!("pithos: listening on http://{bound}{MCP_PATH} with the token in {}", path.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{new_token, same};

    #[test]
    fn tokens_are_compared_whole() {
        let token = new_token().expect("a token");
        assert_eq!(token.len(), 64);
        assert!(same(token.as_bytes(), token.as_bytes()));
        assert!(!same(b"", token.as_bytes()) && !same(&token.as_bytes()[1..], token.as_bytes()));
        assert_ne!(token, new_token().expect("another"));
    }
}
