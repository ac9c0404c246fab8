//! BigInt cells. The arithmetic is `num-bigint`'s; which operators exist and what they throw is for `ops` and
//! `builtins::bigint`.

#![allow(unsafe_code)]

use num_bigint::BigInt as Integer;
use num_traits::Zero;

use crate::gc::{CellHeader, CellKind, ExternalCharge, Gc};
use crate::limits;
use crate::mutator::Mutator;

/// A pointer to a BigInt cell. Dereferences to the integer.
pub type BigInt = Gc<BigIntCell>;

/// An integer of any size.
#[repr(C)]
pub struct BigIntCell {
    header: CellHeader,
    value: Integer,
    /// For the digits, when they are many.
    _charge: Option<Box<ExternalCharge>>,
}

impl BigIntCell {
    /// The integer.
    #[inline]
    pub fn value(&self) -> &Integer {
        let _ = &self.header;
        &self.value
    }
    /// Whether it is 0.
    pub fn is_zero(&self) -> bool {
        self.value.is_zero()
    }
}

impl std::ops::Deref for BigIntCell {
    type Target = Integer;
    fn deref(&self) -> &Integer {
        &self.value
    }
}

impl Mutator {
    /// A BigInt. Its digits are plain Rust memory; they are bounded by `limits::BIGINT_BITS_MAX`, and charged when they are many.
    pub fn new_bigint(&mut self, value: Integer) -> BigInt {
        let bytes = (value.bits() / 8) as usize;
        let charge = (bytes > limits::BIGINT_UNCHARGED_BYTES_MAX).then(|| {
            self.charge_bytes(bytes);
            let charge = Box::new(self.heap.charge_beyond_limit(bytes));
            self.make_room(0);
            charge
        });
        let p = self.alloc_raw(size_of::<BigIntCell>(), true) as *mut BigIntCell;
        // SAFETY: fresh memory of that size.
        unsafe {
            p.write(BigIntCell {
                header: CellHeader::new(CellKind::BigInt, 0, 0, 0),
                value,
                _charge: charge,
            });
            Gc::from_addr(p)
        }
    }
}
