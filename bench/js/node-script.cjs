// Runs one file as a *script* under node, as the other engines' shells do, with their `print`.
"use strict";
globalThis.print = console.log;
const file = process.argv[2];
require("node:vm").runInThisContext(require("node:fs").readFileSync(file, "utf8"), { filename: file });
