//! Who may be a node of the cluster, when it is more than one machine: certificates of one authority, shown by both sides. Owns the
//! configuration of TLS and the check that a node speaks for a host that its certificate names; bytes are `transport`'s.

use std::fmt;
use std::io::{Read, Write};
use std::sync::Arc;

use rustls::client::verify_server_name;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::{ParsedCertificate, WebPkiClientVerifier};
use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection};

use crate::error::MeshError;

/// What a node shows and what it believes.
#[derive(Clone)]
pub struct Tls {
    client: Arc<ClientConfig>,
    server: Arc<ServerConfig>,
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tls")
    }
}

fn failed(what: &str, error: impl fmt::Display) -> MeshError {
    MeshError::Tls(format!("{what}: {error}"))
}

impl Tls {
    /// From PEM texts: the authority's certificates, the node's own with those between, and the node's key.
    pub fn new(authority: &str, certificate: &str, key: &str) -> Result<Self, MeshError> {
        let mut roots = RootCertStore::empty();
        for root in CertificateDer::pem_slice_iter(authority.as_bytes()) {
            let root = root.map_err(|error| failed("the authority's certificate", error))?;
            roots.add(root).map_err(|error| failed("the authority's certificate", error))?;
        }
        if roots.is_empty() {
            return Err(MeshError::Tls("there is no certificate of the authority".into()));
        }
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(certificate.as_bytes()).collect();
        let chain = chain.map_err(|error| failed("the node's certificate", error))?;
        let key =
            PrivateKeyDer::from_pem_slice(key.as_bytes()).map_err(|error| failed("the node's key", error))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let roots = Arc::new(roots);
        let believed = WebPkiClientVerifier::builder_with_provider(roots.clone(), provider.clone());
        let believed = believed.build().map_err(|error| failed("the authority", error))?;
        let server = ServerConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .map_err(|error| failed("TLS", error))?
            .with_client_cert_verifier(believed)
            .with_single_cert(chain.clone(), key.clone_key())
            .map_err(|error| failed("the node's certificate and key", error))?;
        let client = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| failed("TLS", error))?
            .with_root_certificates(roots)
            .with_client_auth_cert(chain, key)
            .map_err(|error| failed("the node's certificate and key", error))?;
        Ok(Self { client: Arc::new(client), server: Arc::new(server) })
    }

    /// The side that connects: to a node of that host, as its certificate must say.
    pub(crate) fn initiate(
        &self,
        stream: &mut (impl Read + Write),
        host: &str,
    ) -> Result<rustls::Connection, MeshError> {
        let session = ClientConnection::new(self.client.clone(), server_name(host)?);
        meet(session.map_err(|error| failed("TLS", error))?.into(), stream)
    }

    /// The side that was connected to.
    pub(crate) fn accept(&self, stream: &mut (impl Read + Write)) -> Result<rustls::Connection, MeshError> {
        let session = ServerConnection::new(self.server.clone());
        meet(session.map_err(|error| failed("TLS", error))?.into(), stream)
    }
}

fn meet(
    mut session: rustls::Connection,
    stream: &mut (impl Read + Write),
) -> Result<rustls::Connection, MeshError> {
    while session.is_handshaking() || session.wants_write() {
        session.complete_io(stream).map_err(|error| failed("TLS", error))?;
    }
    Ok(session)
}

/// A host as certificates know it.
pub(crate) fn server_name(host: &str) -> Result<ServerName<'static>, MeshError> {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    ServerName::try_from(host.to_owned())
        .map_err(|_| MeshError::Tls(format!("{host:?} is not the name of a host")))
}

/// Whether who has shown these certificates may say that it is a node of that host.
pub(crate) fn may_speak_for(certificates: &[CertificateDer<'_>], host: &str) -> Result<(), MeshError> {
    let shown = certificates.first().ok_or(MeshError::Handshake("the peer shows no certificate"))?;
    let shown =
        ParsedCertificate::try_from(shown).map_err(|error| failed("the peer's certificate", error))?;
    verify_server_name(&shown, &server_name(host)?)
        .map_err(|_| MeshError::Tls(format!("the peer's certificate is not one of the host {host}")))
}
