//! Object names: twenty bytes of SHA-1.

use std::fmt;

use super::{Attempt, Decline};

/// Bytes of an object name.
pub(crate) const OID_BYTES: usize = 20;

/// The name of an object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Oid(pub(crate) [u8; OID_BYTES]);

/// The name that stands for no object.
pub(crate) const NULL: Oid = Oid([0; OID_BYTES]);

impl Oid {
    /// From exactly twenty bytes.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Attempt<Oid> {
        bytes.try_into().map(Oid).map_err(|_| Decline)
    }

    /// From exactly forty hexadecimal digits.
    pub(crate) fn from_hex(text: &[u8]) -> Option<Oid> {
        let mut bytes = [0; OID_BYTES];
        if text.len() != 2 * OID_BYTES {
            return None;
        }
        for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
            for digit in pair {
                *byte = *byte << 4 | (*digit as char).to_digit(16)? as u8;
            }
        }
        Some(Oid(bytes))
    }

    /// The forty digits.
    pub(crate) fn hex(&self) -> String {
        self.to_string()
    }

    /// How many leading digits two names share.
    pub(crate) fn shared_digits(&self, other: &Oid) -> usize {
        for (at, (a, b)) in self.0.iter().zip(&other.0).enumerate() {
            if a != b {
                return 2 * at + usize::from(a >> 4 == b >> 4);
            }
        }
        2 * OID_BYTES
    }
}

impl fmt::Display for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
