import he from "he";
import { encodeHTML, decodeHTML, escapeText } from "entities";
console.log(he.encode("foo © bar ≠ baz 𝌆 qux", { useNamedReferences: true }), he.decode("foo &copy; bar &ne; baz &#x1D306; &ampamp &notin; &notit"), he.escape("<img src='x' alt=\"`\">"), encodeHTML("äöü ∉ <>"), decodeHTML("&lt;&NotEqualTilde;&#128514;&acE;"), escapeText("a&b\u00a0<"));
