import { v3, v5, validate, version, parse, stringify, NIL } from "uuid";
import { customRandom, urlAlphabet } from "nanoid";
import ms from "ms";
import seedrandom from "seedrandom/seedrandom.js";
console.log(v5("hello", v5.DNS), v3("hello", v3.URL), validate("x"), version(v5("a", NIL)), stringify(parse("6ec0bd7f-11c0-43da-975e-2a8ad9ebae0b")));
const rng = seedrandom("fixed"), id = customRandom(urlAlphabet, 12, (size) => new Uint8Array(size).map(() => 256 * rng()));
console.log(id(), id(), rng.quick(), rng.int32(), ms("2.5 days"), ms(90061000, { long: true }));
