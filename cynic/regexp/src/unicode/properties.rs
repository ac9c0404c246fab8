//! `\p{...}`: 22.2.2.8 UnicodeMatchProperty over ICU4X's compiled data, and the properties of strings, which ICU4X does not carry.

use super::emoji_tables::{FLAG_REGIONS, TAG_SUBDIVISIONS, ZWJ_SEQUENCES};
use crate::charset::{CharSet, MAX};
use icu_properties::props::{GeneralCategory, GeneralCategoryGroup, Script};
use icu_properties::script::ScriptWithExtensions;
use icu_properties::{CodePointMapData, CodePointSetData, PropertyParser};

const VARIATION_SELECTOR_16: u32 = 0xFE0F;
const SKIN_TONES: std::ops::RangeInclusive<u32> = 0x1F3FB..=0x1F3FF;

/// A set of strings; those of one character are kept apart.
#[derive(Clone, Debug, Default)]
pub(crate) struct StringSet {
    pub(crate) chars: CharSet,
    pub(crate) strings: Vec<Vec<u32>>,
}

/// The characters of `\p{name}` or `\p{name=value}`; `None` if there is no such property in the specification's tables.
pub(crate) fn characters(name: &str, value: Option<&str>) -> Option<CharSet> {
    let Some(value) = value else {
        return general_category(name).or_else(|| binary(name));
    };
    match name {
        "General_Category" | "gc" => general_category(value),
        "Script" | "sc" => {
            let script = PropertyParser::<Script>::new().get_strict(value)?;
            Some(collect(CodePointMapData::<Script>::new().iter_ranges_for_value(script)))
        }
        "Script_Extensions" | "scx" => {
            let script = PropertyParser::<Script>::new().get_strict(value)?;
            Some(collect(ScriptWithExtensions::new().get_script_extensions_ranges(script)))
        }
        _ => None,
    }
}

/// The strings of a property of strings (table 72 of the specification).
pub(crate) fn strings(name: &str) -> Option<StringSet> {
    Some(match name {
        "Basic_Emoji" => basic_emoji(),
        "Emoji_Keycap_Sequence" => only_strings(keycap_sequences()),
        "RGI_Emoji_Modifier_Sequence" => only_strings(modifier_sequences()),
        "RGI_Emoji_Flag_Sequence" => only_strings(flag_sequences()),
        "RGI_Emoji_Tag_Sequence" => only_strings(tag_sequences()),
        "RGI_Emoji_ZWJ_Sequence" => only_strings(zwj_sequences()),
        "RGI_Emoji" => {
            let mut all = basic_emoji();
            all.strings.extend(keycap_sequences());
            all.strings.extend(modifier_sequences());
            all.strings.extend(flag_sequences());
            all.strings.extend(tag_sequences());
            all.strings.extend(zwj_sequences());
            all
        }
        _ => return None,
    })
}

/// `ID_Start`, with what 12.7 adds for names in the program text and in patterns.
pub(crate) fn is_identifier_start(c: u32) -> bool {
    match u8::try_from(c) {
        Ok(byte) if byte < 0x80 => byte.is_ascii_alphabetic() || byte == b'$' || byte == b'_',
        _ => CodePointSetData::new::<icu_properties::props::IdStart>().contains32(c),
    }
}

/// `ID_Continue`, with `$`, U+200C and U+200D.
pub(crate) fn is_identifier_part(c: u32) -> bool {
    match u8::try_from(c) {
        Ok(byte) if byte < 0x80 => byte.is_ascii_alphanumeric() || byte == b'$' || byte == b'_',
        _ => {
            c == 0x200C
                || c == 0x200D
                || CodePointSetData::new::<icu_properties::props::IdContinue>().contains32(c)
        }
    }
}

fn collect(ranges: impl Iterator<Item = std::ops::RangeInclusive<u32>>) -> CharSet {
    CharSet::from_ranges(ranges.map(|range| (*range.start(), *range.end())).collect())
}

fn general_category(name: &str) -> Option<CharSet> {
    let group = PropertyParser::<GeneralCategoryGroup>::new().get_strict(name)?;
    Some(collect(CodePointMapData::<GeneralCategory>::new().iter_ranges_for_group(group)))
}

fn binary(name: &str) -> Option<CharSet> {
    match name {
        "ASCII" => Some(CharSet::from_ranges(vec![(0, 0x7F)])),
        "Any" => Some(CharSet::from_ranges(vec![(0, MAX)])),
        "Assigned" => general_category("Cn").map(|unassigned| unassigned.complement()),
        // The one alias that ICU spells in another way.
        "WSpace" => None,
        "space" => binary("White_Space"),
        _ => CodePointSetData::new_for_ecma262(name.as_bytes()).map(|set| collect(set.iter_ranges())),
    }
}

fn only_strings(strings: Vec<Vec<u32>>) -> StringSet {
    StringSet { chars: CharSet::empty(), strings }
}

fn property(name: &str) -> CharSet {
    binary(name).unwrap_or_default()
}

/// Characters shown as emoji by default stand alone; the others need the variation selector.
fn basic_emoji() -> StringSet {
    let presented = property("Emoji_Presentation");
    let text = property("Emoji").subtract(&presented).subtract(&property("Emoji_Component"));
    StringSet {
        chars: presented.subtract(&property("Regional_Indicator")),
        strings: text.iter().map(|c| vec![c, VARIATION_SELECTOR_16]).collect(),
    }
}

fn keycap_sequences() -> Vec<Vec<u32>> {
    "0123456789#*".bytes().map(|c| vec![u32::from(c), VARIATION_SELECTOR_16, 0x20E3]).collect()
}

/// U+1F46A FAMILY takes a modifier by its properties, but is not recommended for interchange with one.
fn modifier_sequences() -> Vec<Vec<u32>> {
    let bases = property("Emoji_Modifier_Base").subtract(&CharSet::single(0x1F46A));
    bases.iter().flat_map(|base| SKIN_TONES.map(move |tone| vec![base, tone])).collect()
}

fn flag_sequences() -> Vec<Vec<u32>> {
    let indicator = |letter: u8| 0x1F1E6 + u32::from(letter - b'A');
    FLAG_REGIONS.split_ascii_whitespace().map(|region| region.bytes().map(indicator).collect()).collect()
}

fn tag_sequences() -> Vec<Vec<u32>> {
    let tagged = |letters: &&str| {
        let tags = letters.bytes().map(|letter| 0xE0000 + u32::from(letter));
        std::iter::once(0x1F3F4).chain(tags).chain([0xE007F]).collect()
    };
    TAG_SUBDIVISIONS.iter().map(tagged).collect()
}

fn zwj_sequences() -> Vec<Vec<u32>> {
    let mut all = Vec::new();
    for line in ZWJ_SEQUENCES.lines() {
        let mut partial: Vec<(Vec<u32>, Option<u32>)> = vec![(Vec::new(), None)];
        for word in line.split(' ') {
            partial = match word {
                "T" | "D" => with_tones(&partial, word == "D"),
                hex => {
                    let c = u32::from_str_radix(hex, 16).unwrap_or(0);
                    partial.iter_mut().for_each(|(sequence, _)| sequence.push(c));
                    partial
                }
            };
        }
        all.extend(partial.into_iter().map(|(sequence, _)| sequence));
    }
    all
}

/// Each sequence with each skin tone appended; `distinct` leaves out the tone that the sequence already has.
fn with_tones(sequences: &[(Vec<u32>, Option<u32>)], distinct: bool) -> Vec<(Vec<u32>, Option<u32>)> {
    let mut result = Vec::with_capacity(sequences.len() * 5);
    for (sequence, earlier) in sequences {
        for tone in SKIN_TONES {
            if !(distinct && *earlier == Some(tone)) {
                let mut longer = sequence.clone();
                longer.push(tone);
                result.push((longer, Some(tone)));
            }
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_unicode_17() {
        assert_eq!(zwj_sequences().len(), 1614);
        assert_eq!(modifier_sequences().len(), 665);
        assert_eq!(flag_sequences().len(), 259);
        let rgi = strings("RGI_Emoji").unwrap_or_default();
        assert_eq!(rgi.chars.iter().count() + rgi.strings.len(), 3953);
        let unassigned = characters("gc", Some("Cn")).unwrap_or_default();
        assert_eq!(unassigned.iter().count(), 814_730);
    }

    #[test]
    fn names_are_exact() {
        for name in ["L", "Letter", "LC", "punct", "Alphabetic", "Alpha", "Any", "Assigned", "ASCII"] {
            assert!(characters(name, None).is_some(), "{name}");
        }
        for name in
            ["letter", "l", "Block", "Line_Break", "ASCII ", "Script", "", "Greek", "IsGreek", "InAdlam"]
        {
            assert!(characters(name, None).is_none(), "{name}");
        }
        assert!(characters("sc", Some("Grek")).is_some() && characters("Script", Some("Greek")).is_some());
        assert!(characters("sc", Some("greek")).is_none() && characters("Block", Some("Adlam")).is_none());
        assert!(characters("Alphabetic", Some("Y")).is_none());
    }
}
