import semver from "semver";
import picomatch from "picomatch/posix.js";
import { minimatch } from "minimatch";
console.log(semver.satisfies("1.2.3", "1.x || >=2.5.0 || 5.0.0 - 7.2.3"), semver.inc("1.2.3-beta.4", "prerelease", "beta"), ["1.10.0", "1.9.1", "1.9.1-rc.1"].sort(semver.compare), semver.coerce("v2.3.4.5").version, semver.minVersion("^0.2.3 <0.2.9").raw, new semver.Range("~1.2 || ^3").format(), semver.valid("01.2.3"), semver.diff("1.2.3", "2.0.0"));
for (const [pattern, name] of [["**/*.{js,ts}", "a/b/c.ts"], ["!(x|y).md", "z.md"], ["src/[a-c]*/?(q).txt", "src/bb/q.txt"], ["{1..3}/**", "2/x/y"], ["*.js", ".dot.js"]]) console.log(pattern, picomatch.isMatch(name, pattern), minimatch(name, pattern), String(picomatch.makeRe(pattern)));
