import * as Diff from "diff";
import Fuse from "fuse.js";
const a = "one\ntwo\nthree\nfour\n", b = "one\n2\nthree\nfour\nfive\n";
console.log(Diff.createPatch("f.txt", a, b), Diff.applyPatch(a, Diff.createPatch("f.txt", a, b)) === b, Diff.diffWords("the quick fox", "the slow fox").map((p) => [p.value, !!p.added, !!p.removed]), Diff.diffJson({ a: 1, b: 2 }, { a: 1, c: 3 }).length);
const fuse = new Fuse([{ t: "Old Man's War", a: "Scalzi" }, { t: "The Lock Artist", a: "Hamilton" }, { t: "HTML5", a: "Sharp" }], { keys: ["t", { name: "a", weight: 2 }], includeScore: true, includeMatches: true });
console.log(fuse.search("lok").map((r) => [r.refIndex, r.score.toFixed(6), r.matches[0].indices]), fuse.search("'war | ^ham"));
