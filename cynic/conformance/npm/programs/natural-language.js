import nlp from "compromise/two";
import { distance } from "fastest-levenshtein";
import pluralize from "pluralize";
import { stemmer } from "stemmer";
const doc = nlp("She sells 3 seashells by the seashore, but Dr. Smith hasn't bought any.");
console.log(doc.verbs === undefined, doc.match("#Noun").out("array"), doc.sentences === undefined, doc.text("normal"), doc.terms().json().map((t) => t.terms[0].tags.slice(0, 2).join("/")).join(" "));
console.log(distance("kitten", "sitting"), pluralize("person", 3, true), pluralize.singular("matrices"), ["caresses", "ponies", "relational", "hopefulness"].map(stemmer));
