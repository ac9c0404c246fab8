import YAML from "yaml";
const text = `# head
base: &base {a: 1, b: [x, "y", 'z''s', ~]}
derived:
  <<: *base
  text: |
    keep
      indents
  folded: >-
    joined
    lines

    para
  date: 2001-12-14
  bin: !!binary aGVsbG8=
  set: !!set {p, q}
? [complex, key]
: 0x1F
`;
const doc = YAML.parseDocument(text, { merge: true });
console.log(doc.errors.length, doc.toJS());
doc.setIn(["derived", "added"], { deep: [1, { two: 2 }] });
console.log(String(doc));
console.log(YAML.stringify({ s: "yes", n: -0, long: "word ".repeat(30), multi: "a\nb\n", nul: null, inf: Infinity }));
console.log(YAML.parseDocument("a: [1, 2\nb: }").errors.map((e) => e.code));
