//! A cluster's own certificate authority: makes it, and the certificates of its nodes. Owns what stands in these certificates; files are
//! the caller's, and so is the clock. All keys are of the curve P-256, which every version of OTP's `ssl` knows.

use std::net::IpAddr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, SanType, date_time_ymd,
};

use crate::error::MeshError;
use crate::limits::{AUTHORITY_DAYS, CLOCK_SKEW_S};
use crate::tls::server_name;

/// A certificate and its key, as PEM.
#[derive(Clone)]
pub struct Credentials {
    /// What is shown to others.
    pub certificate: String,
    /// What is shown to nobody.
    pub key: String,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Credentials")
    }
}

/// From when on and how long something holds.
#[derive(Clone, Copy, Debug)]
pub struct Validity {
    /// From then on; a day is added before, because clocks differ.
    pub from: SystemTime,
    /// For so long.
    pub lasts: Duration,
}

fn failed(error: rcgen::Error) -> MeshError {
    MeshError::Tls(format!("making a certificate: {error}"))
}

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn dated(mut params: CertificateParams, validity: Validity) -> CertificateParams {
    let since = validity.from.duration_since(UNIX_EPOCH).unwrap_or_default();
    let epoch = date_time_ymd(1970, 1, 1);
    params.not_before = epoch + since.saturating_sub(Duration::from_secs(CLOCK_SKEW_S));
    params.not_after = epoch + since + validity.lasts;
    params
}

/// What an authority's certificate says besides its key and its dates: whoever issues in its name must say the same.
fn of_authority() -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, "iris mesh authority");
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params
}

/// Makes an authority. Its key is as good as every node.
pub fn authority(now: SystemTime) -> Result<Credentials, MeshError> {
    let key = KeyPair::generate().map_err(failed)?;
    let validity = Validity { from: now, lasts: DAY * AUTHORITY_DAYS };
    let certificate = dated(of_authority(), validity).self_signed(&key).map_err(failed)?;
    Ok(Credentials { certificate: certificate.pem(), key: key.serialize_pem() })
}

/// Makes the certificate of a node, or of all nodes of a machine: for the hosts that stand after the `@` in their names.
pub fn issue(authority_key: &str, hosts: &[String], validity: Validity) -> Result<Credentials, MeshError> {
    let issuer = Issuer::new(of_authority(), KeyPair::from_pem(authority_key).map_err(failed)?);
    let name = |host: &String| {
        server_name(host)?;
        let text = SanType::DnsName(host.clone().try_into().map_err(failed)?);
        // OTP compares even an address with the names.
        Ok(host
            .parse::<IpAddr>()
            .map_or(vec![text.clone()], |address| vec![SanType::IpAddress(address), text]))
    };
    let mut params = dated(CertificateParams::default(), validity);
    params.subject_alt_names = hosts.iter().map(name).collect::<Result<Vec<_>, MeshError>>()?.concat();
    if let Some(host) = hosts.first() {
        params.distinguished_name.push(DnType::CommonName, host.as_str());
    }
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages =
        vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
    params.use_authority_key_identifier_extension = true;
    let key = KeyPair::generate().map_err(failed)?;
    let certificate = params.signed_by(&key, &issuer).map_err(failed)?;
    Ok(Credentials { certificate: certificate.pem(), key: key.serialize_pem() })
}
