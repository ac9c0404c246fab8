//! The methods of strings that depend on Unicode: case, normalisation, well-formedness, comparison for people.
//! <https://tc39.es/ecma262/#sec-properties-of-the-string-prototype-object>
//!
//! Case mappings come from the standard library (Unicode 17, SpecialCasing included, but for the final sigma, which is done here);
//! normalisation from ICU4X. Without ECMA-402 the locale variants equal the plain ones, and `localeCompare` uses one fixed order.

use std::cmp::Ordering;
use std::fmt;
use std::time::Instant;

use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};
use icu_properties::CodePointSetData;
use icu_properties::props::{CaseIgnorable, Cased};

use write16::Write16;

use super::string::this_string;
use crate::limits;
use crate::object::function::CallArgs;
use crate::string::builder::StringBuilder;
use crate::string::{JsStr, StrView};
use crate::value::Value;
use crate::vm::{JsResult, Vm};

const REPLACEMENT_CHARACTER: u16 = 0xFFFD;
const CAPITAL_SIGMA: u32 = 0x3A3;
/// Units between two looks at the limits.
const PAID_UNITS: usize = 1024;

/// 22.1.3.28 and 22.1.3.26
pub(super) fn to_lower_case(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let s = this_string(vm, &args)?;
    let view = s.view(vm);
    // OPTIMIZATION: equals the mapping below for ASCII.
    if let StrView::Latin1(units) = view
        && units.is_ascii()
    {
        if !units.iter().any(u8::is_ascii_uppercase) {
            return Ok(Value::string(s));
        }
        let lower = units.to_ascii_lowercase();
        return Ok(Value::string(vm.new_string_latin1(&lower)));
    }
    let mut out = StringBuilder::new();
    let (mut i, mut paid) = (0, 0);
    while let Some((c, width)) = view.code_point_at(i) {
        match char::from_u32(c) {
            Some(_) if c == CAPITAL_SIGMA => {
                out.push_unit(if is_final_sigma(view, i) { 0x3C2 } else { 0x3C3 })
            }
            Some(ch) => ch.to_lowercase().for_each(|mapped| out.push_code_point(u32::from(mapped))),
            None => out.push_code_point(c),
        }
        i += width;
        pay(vm, i, &mut paid)?;
    }
    Ok(Value::string(out.finish(vm)?))
}

/// 22.1.3.31 and 22.1.3.27
pub(super) fn to_upper_case(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let s = this_string(vm, &args)?;
    let view = s.view(vm);
    // OPTIMIZATION: equals the mapping below for ASCII.
    if let StrView::Latin1(units) = view
        && units.is_ascii()
    {
        if !units.iter().any(u8::is_ascii_lowercase) {
            return Ok(Value::string(s));
        }
        let upper = units.to_ascii_uppercase();
        return Ok(Value::string(vm.new_string_latin1(&upper)));
    }
    let mut out = StringBuilder::new();
    let (mut i, mut paid) = (0, 0);
    while let Some((c, width)) = view.code_point_at(i) {
        match char::from_u32(c) {
            Some(ch) => ch.to_uppercase().for_each(|mapped| out.push_code_point(u32::from(mapped))),
            None => out.push_code_point(c),
        }
        i += width;
        pay(vm, i, &mut paid)?;
    }
    Ok(Value::string(out.finish(vm)?))
}

/// Looks at the limits now and then in a loop over units: `position` may skip one.
fn pay(vm: &mut Vm, position: usize, paid: &mut usize) -> JsResult<()> {
    if position - *paid < PAID_UNITS {
        return Ok(());
    }
    *paid = position;
    vm.poll_n(PAID_UNITS as u32 / 16)
}

/// The condition Final_Sigma of the Unicode Standard (table 3-17): after a cased letter, and not before one.
fn is_final_sigma(view: StrView<'_>, at: usize) -> bool {
    let mut before = at;
    let cased_before = loop {
        let Some((c, position)) = previous_code_point(view, before) else { break false };
        if !is_case_ignorable(c) {
            break is_cased(c);
        }
        before = position;
    };
    if !cased_before {
        return false;
    }
    let mut after = at + 1;
    while let Some((c, width)) = view.code_point_at(after) {
        if !is_case_ignorable(c) {
            return !is_cased(c);
        }
        after += width;
    }
    true
}

fn is_cased(c: u32) -> bool {
    CodePointSetData::new::<Cased>().contains32(c)
}

fn is_case_ignorable(c: u32) -> bool {
    CodePointSetData::new::<CaseIgnorable>().contains32(c)
}

fn previous_code_point(view: StrView<'_>, at: usize) -> Option<(u32, usize)> {
    let last = at.checked_sub(1)?;
    if let Some(before) = last.checked_sub(1)
        && let Some((c, 2)) = view.code_point_at(before)
    {
        return Some((c, before));
    }
    view.get(last).map(|unit| (u32::from(unit), last))
}

/// 22.1.3.15
pub(super) fn normalize(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let s = this_string(vm, &args)?;
    let form = match args.get(0) {
        v if v.is_undefined() => Form::Nfc,
        v => {
            let name = vm.to_string(v)?;
            match Form::from_name(name.view(vm)) {
                Some(form) => form,
                None => {
                    return Err(
                        vm.throw_range_error("The normalization form should be one of NFC, NFD, NFKC, NFKD.")
                    );
                }
            }
        }
    };
    Ok(Value::string(normalized(vm, s, form)?))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Nfc,
    Nfd,
    Nfkc,
    Nfkd,
}

impl Form {
    fn from_name(name: StrView<'_>) -> Option<Self> {
        [("NFC", Self::Nfc), ("NFD", Self::Nfd), ("NFKC", Self::Nfkc), ("NFKD", Self::Nfkd)]
            .into_iter()
            .find(|(text, _)| name.equals_ascii(text))
            .map(|(_, form)| form)
    }

    fn apply(self, units: &[u16], sink: &mut Bounded) -> fmt::Result {
        match self {
            Self::Nfc => ComposingNormalizerBorrowed::new_nfc().normalize_utf16_to(units, sink),
            Self::Nfkc => ComposingNormalizerBorrowed::new_nfkc().normalize_utf16_to(units, sink),
            Self::Nfd => DecomposingNormalizerBorrowed::new_nfd().normalize_utf16_to(units, sink),
            Self::Nfkd => DecomposingNormalizerBorrowed::new_nfkd().normalize_utf16_to(units, sink),
        }
    }

    /// The normaliser replaces lone surrogates; they separate the parts that are normalised.
    fn apply_to_parts(self, units: &[u16], sink: &mut Bounded) -> fmt::Result {
        let mut rest = units;
        while !rest.is_empty() {
            let good = well_formed_prefix(rest);
            self.apply(rest.get(..good).unwrap_or_default(), sink)?;
            if let Some(&lone) = rest.get(good) {
                sink.write_slice(&[lone])?;
            }
            rest = rest.get(good + 1..).unwrap_or_default();
        }
        Ok(())
    }
}

/// What is normalised, up to what the heap has room for and until the deadline: one unit may become eighteen.
struct Bounded {
    units: Vec<u16>,
    units_max: usize,
    deadline: Option<Instant>,
    /// How many units there are when the deadline is looked at next.
    next_look: usize,
}

/// Units between two looks at the deadline.
const LOOK_UNITS: usize = 1 << 16;
/// Bytes that a unit takes at the most while it goes from a vector that grows into a builder and into the string.
const BYTES_PER_UNIT: usize = 8;

impl Write16 for Bounded {
    fn write_slice(&mut self, units: &[u16]) -> fmt::Result {
        if self.units.len() + units.len() > self.units_max {
            return Err(fmt::Error);
        }
        self.units.extend_from_slice(units);
        if self.units.len() < self.next_look {
            return Ok(());
        }
        self.next_look = self.units.len() + LOOK_UNITS;
        match self.deadline {
            Some(deadline) if deadline <= Instant::now() => Err(fmt::Error),
            _ => Ok(()),
        }
    }
}

fn normalized(vm: &mut Vm, s: JsStr, form: Form) -> JsResult<JsStr> {
    let view = s.view(vm);
    // OPTIMIZATION: ASCII is normal in all forms, and Latin-1 in NFC.
    if let StrView::Latin1(units) = view
        && (form == Form::Nfc || units.is_ascii())
    {
        return Ok(s);
    }
    vm.poll_n((s.len() / 16) as u32)?;
    vm.check_heap_room(s.len() * BYTES_PER_UNIT)?;
    let units: Vec<u16> = view.units().collect();
    let units = loop {
        let mut sink = Bounded {
            units: Vec::new(),
            units_max: vm.heap_room().saturating_sub(units.len() * 2) / BYTES_PER_UNIT,
            deadline: vm.metering.deadline,
            next_look: LOOK_UNITS,
        };
        let outcome = form.apply_to_parts(&units, &mut sink);
        vm.charge_bytes(sink.units.len() * 2);
        if outcome.is_ok() {
            break sink.units;
        }
        let wanted = units.len() * 2 + (sink.units_max + LOOK_UNITS) * BYTES_PER_UNIT;
        drop(sink);
        vm.poll_n(limits::POLL_INTERVAL)?;
        // A collection may make the room; if not, this ends the program.
        vm.check_heap_room(wanted)?;
    };
    let mut out = StringBuilder::new();
    out.push_view(StrView::Utf16(&units));
    drop(units);
    out.finish(vm)
}

/// Units before the first lone surrogate.
fn well_formed_prefix(units: &[u16]) -> usize {
    let mut i = 0;
    while let Some(&unit) = units.get(i) {
        match (unit & 0xFC00, units.get(i + 1).map(|next| next & 0xFC00)) {
            (0xD800, Some(0xDC00)) => i += 2,
            (0xD800 | 0xDC00, _) => return i,
            _ => i += 1,
        }
    }
    i
}

/// 22.1.3.10
pub(super) fn is_well_formed(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let s = this_string(vm, &args)?;
    Ok(Value::bool(match s.view(vm) {
        StrView::Latin1(_) => true,
        StrView::Utf16(units) => well_formed_prefix(units) == units.len(),
    }))
}

/// 22.1.3.30
pub(super) fn to_well_formed(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let s = this_string(vm, &args)?;
    let StrView::Utf16(units) = s.view(vm) else { return Ok(Value::string(s)) };
    let mut out = Vec::with_capacity(units.len());
    let mut rest = units;
    while !rest.is_empty() {
        let good = well_formed_prefix(rest);
        out.extend_from_slice(rest.get(..good).unwrap_or_default());
        if good < rest.len() {
            out.push(REPLACEMENT_CHARACTER);
        }
        rest = rest.get(good + 1..).unwrap_or_default();
    }
    Ok(Value::string(vm.new_string_utf16(&out)))
}

/// 22.1.3.12, without ECMA-402: letters by alphabet, then by accents, then small before capital; canonically equivalent strings are equal.
pub(super) fn locale_compare(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let s = this_string(vm, &args)?;
    let that = vm.to_string(args.get(0))?;
    vm.poll_n(((s.len() + that.len()) / 16) as u32)?;
    let order = match (s.view(vm), that.view(vm)) {
        (StrView::Latin1(a), StrView::Latin1(b)) if a == b => Ordering::Equal,
        (StrView::Latin1(a), StrView::Latin1(b)) if a.is_ascii() && b.is_ascii() => {
            compare_keys(a.iter().map(|&c| u32::from(c)), b.iter().map(|&c| u32::from(c)))
        }
        _ => {
            let (a, b) = (normalized(vm, s, Form::Nfd)?, normalized(vm, that, Form::Nfd)?);
            let (a, b) = (a.to_units(), b.to_units());
            if a == b {
                Ordering::Equal
            } else {
                let code_points = |units: &[u16]| -> Vec<u32> {
                    char::decode_utf16(units.iter().copied())
                        .map(|c| c.map_or_else(|e| u32::from(e.unpaired_surrogate()), u32::from))
                        .collect()
                };
                compare_keys(code_points(&a).into_iter(), code_points(&b).into_iter())
            }
        }
    };
    Ok(Value::int32(order as i32))
}

/// Compares at three levels: the first difference of a lower level counts only if the higher ones are equal.
fn compare_keys(a: impl Iterator<Item = u32> + Clone, b: impl Iterator<Item = u32> + Clone) -> Ordering {
    let primary = |c: &u32| !is_combining_mark(*c);
    let first =
        a.clone().filter(primary).map(primary_weight).cmp(b.clone().filter(primary).map(primary_weight));
    let marks = |c: &u32| is_combining_mark(*c);
    let second = first.then_with(|| a.clone().filter(marks).cmp(b.clone().filter(marks)));
    let third = second.then_with(|| a.clone().map(is_capital).cmp(b.clone().map(is_capital)));
    third.then_with(|| a.cmp(b))
}

/// The order of ASCII characters that are no letters in the root collation; digits and letters follow.
const ASCII_ORDER: &[u8] = b"\t\n\x0b\x0c\r _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789";

fn primary_weight(c: u32) -> u32 {
    let lower = char::from_u32(c).map_or(c, |ch| ch.to_lowercase().next().map_or(c, u32::from));
    match u8::try_from(lower) {
        Ok(letter @ b'a'..=b'z') => 0x100 + u32::from(letter),
        Ok(byte) if byte < 0x80 => ASCII_ORDER.iter().position(|&x| x == byte).map_or(0, |at| at as u32 + 1),
        _ => 0x200 + lower,
    }
}

fn is_combining_mark(c: u32) -> bool {
    (0x300..0x370).contains(&c)
}

fn is_capital(c: u32) -> bool {
    char::from_u32(c).is_some_and(char::is_uppercase)
}
