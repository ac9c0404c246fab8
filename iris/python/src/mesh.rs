//! Certificates of a cluster for Python's `iris.mesh`. Owns nothing but the two functions' arguments; the certificates are `iris_mesh`'s.

use std::time::{Duration, SystemTime};

use iris_mesh::authority::{Validity, authority, issue};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::node::mesh_error;

/// A new authority: its certificate and its key, as PEM.
#[pyfunction]
pub(crate) fn mesh_authority() -> PyResult<(String, String)> {
    let made = authority(SystemTime::now()).map_err(mesh_error)?;
    Ok((made.certificate, made.key))
}

/// The certificate and the key of nodes of these hosts, from now on for so many seconds.
#[pyfunction]
pub(crate) fn mesh_issue(
    authority_key: &str,
    hosts: Vec<String>,
    seconds: f64,
) -> PyResult<(String, String)> {
    if hosts.is_empty() {
        return Err(PyValueError::new_err("a certificate is for a host at least"));
    }
    let lasts = Duration::try_from_secs_f64(seconds)
        .ok()
        .filter(|lasts| *lasts <= Duration::from_secs(100 * 365 * 86_400))
        .ok_or_else(|| {
            PyValueError::new_err("a certificate holds for a time between now and a hundred years")
        })?;
    let validity = Validity { from: SystemTime::now(), lasts };
    let made = issue(authority_key, &hosts, validity).map_err(mesh_error)?;
    Ok((made.certificate, made.key))
}
