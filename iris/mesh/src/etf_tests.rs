//! Generated terms there and back, bytes written by hand, and random bytes: seeded, so that a failure can be repeated.

use super::*;

/// A small generator of random numbers; quality is not asked for.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn bytes(&mut self, bound: u64) -> Vec<u8> {
        (0..self.below(bound)).map(|_| self.next() as u8).collect()
    }

    fn atom(&mut self) -> Atom {
        let text = ["ok", "", "é", "日本語", "a b", "Elixir.Some.Module"];
        match self.below(8) {
            6 => Atom::new(&"x".repeat(255)),
            7 => Atom::new(&"é".repeat(255)),
            at => Atom::new(text[at as usize]),
        }
    }

    fn term(&mut self, depth: u64) -> Term {
        let kinds = if depth == 0 { 10 } else { 14 };
        let children = |random: &mut Self| (0..random.below(5)).map(|_| random.term(depth - 1)).collect();
        match self.below(kinds) {
            0 => Term::Int(self.next() as i64 >> self.below(64)),
            1 => {
                let (negative, mut magnitude) = (self.below(2) == 1, self.bytes(400));
                magnitude.push(1);
                integer(negative, &magnitude)
            }
            2 => Term::Float((self.next() as i64 as f64) / 1024.0),
            3 => Term::Atom(self.atom()),
            4 => Term::Binary(self.bytes(300)),
            5 => {
                let mut bytes = self.bytes(9);
                bytes.push(0b1010_0000);
                Term::Bits(bytes, 3)
            }
            6 => Pid { node: self.atom(), id: self.next() as u32, serial: 7, creation: self.next() as u32 }
                .into(),
            7 => Term::Port(Box::new(Port {
                node: self.atom(),
                id: self.next() >> self.below(64),
                creation: 3,
            })),
            8 => {
                let ids = (0..=self.below(5)).map(|_| self.next() as u32).collect();
                Reference { node: self.atom(), creation: 9, ids }.into()
            }
            9 => Term::Export(Box::new((self.atom(), self.atom(), self.next() as u8))),
            10 => Term::Tuple(children(self)),
            11 => Term::List(children(self)),
            12 => Term::Improper(Box::new((vec![self.term(depth - 1)], Term::Int(1)))),
            _ => Term::Map((0..self.below(4)).map(|_| (self.term(depth - 1), self.term(0))).collect()),
        }
    }
}

#[test]
fn every_term_comes_back() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for round in 0..20_000 {
        let term = random.term(4);
        let mut bytes = Vec::new();
        encode(&mut bytes, &term).unwrap();
        bytes.push(42);
        assert_eq!(decode(&bytes), Ok((term, &[42][..])), "round {round}");
        let cut = random.below(bytes.len() as u64 - 1) as usize;
        assert!(decode(&bytes[..cut]).is_err(), "round {round}, cut at {cut}");
    }
}

/// Text and objects: for those who know them; for the others text is bytes, and objects are refused.
#[test]
fn private_terms_are_for_those_who_know_them() {
    let mut random = Random(0x1234_5678_9abc_def1);
    for round in 0..2_000 {
        let text: String =
            (0..random.below(300)).map(|_| ['a', '\0', 'é', '日', '😀'][random.below(5) as usize]).collect();
        let object = Term::Object(random.bytes(300));
        let (plain, inside) = (random.term(2), Term::Text(text.clone()));
        let both = Term::tuple([inside, plain.clone(), object.clone()]);
        for (private, sent, expected) in [
            (Private::TEXT.and(Private::OBJECTS), both.clone(), Ok(both.clone())),
            (Private::TEXT, both.clone(), Err(EtfError::Object)),
            (Private::TEXT, Term::Text(text.clone()), Ok(Term::Text(text.clone()))),
            (Private::default(), Term::Text(text.clone()), Ok(Term::Binary(text.clone().into_bytes()))),
            (Private::OBJECTS, object.clone(), Ok(object.clone())),
        ] {
            let mut bytes = Vec::new();
            let result =
                encode_for(&mut bytes, &sent, private).and_then(|()| Ok(decode_from(&bytes, private)?.0));
            assert_eq!(result, expected, "round {round}");
            // Who has not agreed on it takes none of it, whatever else is there.
            if decode_from(&bytes, private) != decode(&bytes) {
                assert!(matches!(decode(&bytes), Err(EtfError::Tag(200 | 201))), "round {round}");
            }
        }
    }
    assert_eq!(decode_from(&[VERSION, 200, 0, 0, 0, 1, 255], Private::TEXT), Err(EtfError::Invalid("text")));
    assert_eq!(decode_from(&[VERSION, 200, 255, 255, 255, 255, 1], Private::TEXT), Err(EtfError::Truncated));
    assert_eq!(decode(&[VERSION, 201, 0, 0, 0, 0]), Err(EtfError::Tag(201)));
}

#[test]
fn random_bytes_are_a_term_or_an_error() {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let tags: Vec<u8> = (70..=121).collect();
    for _ in 0..200_000 {
        let mut bytes = vec![VERSION];
        for _ in 0..random.below(40) {
            // Mostly tags and small numbers, so that decoding gets deep.
            bytes.push(match random.below(4) {
                0 => tags[random.below(tags.len() as u64) as usize],
                1 => random.next() as u8,
                _ => random.below(4) as u8,
            });
        }
        if let Ok((term, _)) = decode(&bytes) {
            let mut again = Vec::new();
            encode(&mut again, &term).unwrap();
            assert_eq!(decode(&again).map(|(term, _)| term), Ok(term), "{bytes:?}");
        }
    }
    // Terms with a few bytes changed.
    for _ in 0..50_000 {
        let mut bytes = Vec::new();
        encode(&mut bytes, &random.term(3)).unwrap();
        for _ in 0..=random.below(3) {
            let at = random.below(bytes.len() as u64) as usize;
            bytes[at] = random.next() as u8;
        }
        let _ = decode(&bytes);
    }
}

#[test]
fn written_by_the_format() {
    let decoded = |bytes: &[u8]| decode(bytes).map(|(term, rest)| (term, rest.len()));
    // 'é' in Latin-1; an old float; an old pid, reference and port; an improper list; 2^63.
    assert_eq!(decoded(&[131, 100, 0, 1, 0xe9]), Ok((Term::atom("é"), 0)));
    let mut float = vec![131, 99];
    float.extend(b"1.50000000000000000000e+00\0\0\0\0\0");
    assert_eq!(decoded(&float), Ok((Term::Float(1.5), 0)));
    let pid = Pid { node: Atom::new("a"), id: 1, serial: 2, creation: 3 };
    assert_eq!(decoded(&[131, 103, 115, 1, b'a', 0, 0, 0, 1, 0, 0, 0, 2, 3]), Ok((pid.into(), 0)));
    let reference = Reference { node: Atom::new("a"), creation: 3, ids: vec![9] };
    assert_eq!(decoded(&[131, 101, 115, 1, b'a', 0, 0, 0, 9, 3]), Ok((reference.into(), 0)));
    let improper = Term::Improper(Box::new((vec![Term::Int(1)], Term::Int(2))));
    assert_eq!(decoded(&[131, 108, 0, 0, 0, 1, 97, 1, 97, 2]), Ok((improper, 0)));
    let two_to_63 = Term::Big(Box::new(Big { negative: false, magnitude: vec![0, 0, 0, 0, 0, 0, 0, 128] }));
    assert_eq!(decoded(&[131, 110, 8, 0, 0, 0, 0, 0, 0, 0, 0, 128]), Ok((two_to_63, 0)));
    assert_eq!(decoded(&[131, 110, 8, 1, 0, 0, 0, 0, 0, 0, 0, 128]), Ok((Term::Int(i64::MIN), 0)));
    assert_eq!(decoded(&[131, 107, 0, 2, 1, 2]), Ok((Term::List(vec![Term::Int(1), Term::Int(2)]), 0)));
}

#[test]
fn limits_and_what_was_not_offered() {
    let nested = |depth: usize| {
        let mut bytes = vec![131];
        bytes.extend([104, 1].repeat(depth));
        bytes.push(106);
        bytes
    };
    assert!(decode(&nested(DEPTH_MAX)).is_ok());
    assert_eq!(decode(&nested(DEPTH_MAX + 1)), Err(EtfError::Depth));
    assert_eq!(decode(&nested(1_000_000)), Err(EtfError::Depth));
    assert_eq!(decode(&[131, 108, 255, 255, 255, 255, 106]), Err(EtfError::Truncated));
    assert_eq!(decode(&[131, 109, 255, 255, 255, 255, 1]), Err(EtfError::Truncated));
    assert_eq!(decode(&[131, 112, 0, 0, 0, 3, 1]), Err(EtfError::Invalid("fun")));
    assert_eq!(decode(&[131, 70, 127, 240, 0, 0, 0, 0, 0, 0]), Err(EtfError::Invalid("float")));
    for (tag, text) in [(80, "compressed"), (82, "cache"), (121, "local"), (0, "tag 0")] {
        let error = decode(&[131, tag, 0, 0, 0, 1, 1]).unwrap_err();
        assert_eq!(error, EtfError::Tag(tag));
        assert!(error.to_string().contains(text), "{error}");
    }
    let mut list = vec![131, 108];
    list.extend((TERMS_MAX as u32 + 1).to_be_bytes());
    list.resize(TERMS_MAX + 10, 106);
    assert_eq!(decode(&list), Err(EtfError::Terms));
    let mut out = vec![1];
    assert_eq!(encode(&mut out, &Term::atom(&"x".repeat(256))), Err(EtfError::AtomLength));
    assert_eq!(encode(&mut out, &Term::Float(f64::NAN)), Err(EtfError::Invalid("float")));
    assert_eq!(out, [1]);
}
