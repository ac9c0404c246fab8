// Runs the programs of this folder under cynic (hardened) and under node and compares what they print.
//
//   node run.mjs CYNIC [FILTER]
//
// The packages are installed from the lock file into a cache folder (PITHOS_CACHE, default ~/.cache/pithos); nothing of them enters the
// tree. A program whose first line is `// cynic: FLAGS (why)` is given those flags; hardening is never turned off. Known failures
// are listed in failures.txt with their reason; any other failure, and any listed program that passes, ends with status 1.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const PROGRAM_MS_MAX = 120_000;
const here = dirname(fileURLToPath(import.meta.url));

function installPackages() {
  const cache = process.env.PITHOS_CACHE || join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "pithos");
  const lock = readFileSync(join(here, "package-lock.json"));
  const folder = join(cache, "npm", createHash("sha256").update(lock).digest("hex").slice(0, 16));
  const done = join(folder, "installed");
  if (!existsSync(done)) {
    mkdirSync(folder, { recursive: true });
    for (const name of ["package.json", "package-lock.json"]) copyFileSync(join(here, name), join(folder, name));
    const install = spawnSync("npm", ["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: folder, encoding: "utf8" });
    if (install.status !== 0) {
      console.log(`skipped: the packages cannot be installed (${install.error?.message ?? install.stderr.trim().split("\n").at(-1)})`);
      process.exit(0);
    }
    writeFileSync(done, "");
  }
  return folder;
}

function readExpectedFailures() {
  const lines = readFileSync(join(here, "failures.txt"), "utf8").split("\n");
  return new Map(lines.filter((line) => line && !line.startsWith("#")).map((line) => line.split(/:\s+(.*)/s)));
}

function run(command, args) {
  const env = { PATH: process.env.PATH, TZ: "UTC", LANG: "C.UTF-8", NO_COLOR: "1" };
  return spawnSync(command, args, { encoding: "utf8", env, timeout: PROGRAM_MS_MAX, maxBuffer: 1 << 26 });
}

function firstDifference(ours, theirs) {
  const [a, b] = [ours.split("\n"), theirs.split("\n")];
  const at = b.findIndex((line, index) => line !== a[index]);
  const line = at < 0 ? b.length : at;
  return `line ${line + 1}: ${JSON.stringify(a[line] ?? "(end)").slice(0, 120)} instead of ${JSON.stringify(b[line] ?? "(end)").slice(0, 120)}`;
}

async function judge(esbuild, folder, cynic, name) {
  const source = join(here, "programs", `${name}.js`);
  const bundle = join(folder, "bundles", `${name}.mjs`);
  await esbuild.build({
    entryPoints: [source], outfile: bundle, bundle: true, format: "esm", platform: "browser", logLevel: "silent",
    nodePaths: [join(folder, "node_modules")], define: { "process.env.NODE_ENV": '"production"' },
  });
  const expected = run(process.execPath, [bundle]);
  if (expected.status !== 0) return `node itself fails: ${expected.stderr.trim().split("\n").at(-1)}`;
  const flags = /^\/\/ cynic: (.*?) \(/.exec(readFileSync(source, "utf8"))?.[1].split(" ") ?? [];
  const actual = run(cynic, [...flags, bundle]);
  if (actual.status !== 0) return actual.stderr.split("\n").find((line) => line.startsWith("Uncaught")) ?? `status ${actual.status ?? actual.signal}`;
  return actual.stdout === expected.stdout ? null : firstDifference(actual.stdout, expected.stdout);
}

async function main() {
  const [cynic, filter = ""] = process.argv.slice(2);
  if (!cynic) {
    console.error("usage: node run.mjs CYNIC [FILTER]");
    process.exit(2);
  }
  const folder = installPackages();
  const esbuild = createRequire(join(folder, "package.json"))("esbuild");
  const known = readExpectedFailures();
  const names = readdirSync(join(here, "programs")).filter((file) => file.endsWith(".js") && file.includes(filter)).map((file) => file.slice(0, -3));
  let passed = 0, surprises = 0;
  for (const name of names) {
    const why = await judge(esbuild, folder, resolve(cynic), name);
    if (why === null) passed++;
    if (why !== null) console.log(`${known.has(name) ? "known  " : "FAILED "} ${name}: ${why}`);
    else if (known.has(name)) console.log(`FIXED   ${name}: take it off failures.txt`);
    if ((why !== null) !== known.has(name)) surprises++;
  }
  console.log(`${passed} of ${names.length} programs print what node prints`);
  process.exit(surprises ? 1 : 0);
}

await main();
