// Runs the bundled Worker on workerd, as many instances as asked for, and says where
// they answer in one line of JSON. It ends when stdin closes, so that a test that dies
// leaves no runtime behind.
//
//   node tests/edge/workerd.mjs --bundle DIR [--instances N] [--store r2|s3]
//        [--persist DIR] [--var NAME=VALUE]…
//
// `--store r2` puts all instances into one workerd, each an isolate of its own, on one shared
// R2 bucket (binding BUCKET). `--store s3` starts one workerd process for each instance, with no
// bucket bound: the Worker finds its S3 endpoint in variables, given with --var.
//
// Commands on stdin, one a line, each answered by one line of JSON:
//   scheduled INSTANCE CRON     fires the cron trigger
//   logs                        lines that the Worker has logged
//   list                        keys of the R2 bucket, seen from outside the Worker
//   seed FOLDER                 puts the files of a folder into the R2 bucket, as objects
import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Miniflare } from "miniflare";
import workerd from "workerd";

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const BUCKET = "BUCKET";
const MODULE_TYPES = { ".js": "ESModule", ".wasm": "CompiledWasm" };

const { values: asked } = parseArgs({
  options: {
    bundle: { type: "string" },
    instances: { type: "string", default: "1" },
    store: { type: "string", default: "r2" },
    persist: { type: "string" },
    var: { type: "string", multiple: true, default: [] },
  },
});

function fail(message) {
  console.error(`workerd.mjs: ${message}`);
  process.exit(1);
}

/** All modules of the bundle, the one that workerd starts first. */
function modules(folder) {
  const paths = readdirSync(folder, { recursive: true })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());
  const entry = join(folder, "shim.js");
  if (!paths.includes(entry)) fail(`${folder} holds no bundle; run: scripts/build-worker`);
  return [entry, ...paths.filter((path) => path !== entry)].map((path) => {
    const type = MODULE_TYPES[path.slice(path.lastIndexOf("."))];
    if (!type) fail(`${relative(folder, path)}: no module type for this file`);
    return { type, path };
  });
}

/** The platform features that the deployed Worker has: those of wrangler.toml. */
function compatibility() {
  const text = readFileSync(join(ROOT, "wrangler.toml"), "utf8");
  const date = /^compatibility_date\s*=\s*"([^"]+)"/m.exec(text)?.[1];
  if (!date) fail("wrangler.toml has no compatibility_date");
  const flags = /^compatibility_flags\s*=\s*\[([^\]]*)\]/m.exec(text)?.[1] ?? "";
  return { compatibilityDate: date, compatibilityFlags: [...flags.matchAll(/"([^"]+)"/g)].map((m) => m[1]) };
}

function variables(pairs) {
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf("=");
      if (at < 1) fail(`--var ${pair}: it has to be NAME=VALUE`);
      return [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );
}

const count = Number(asked.instances);
if (!asked.bundle) fail("--bundle is needed");
if (!Number.isInteger(count) || count < 1) fail("--instances has to be a positive number");
if (!["r2", "s3"].includes(asked.store)) fail("--store is r2 or s3");

const bundle = resolve(asked.bundle);
const common = {
  modules: modules(bundle),
  modulesRoot: bundle,
  bindings: variables(asked.var),
  // A socket of its own for each worker, on a port that the system chooses.
  unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }],
  ...compatibility(),
};
const names = Array.from({ length: count }, (_, i) => `ostraca-${i}`);
// `cf: false`: the details of a request's origin would be fetched from an outside host.
// What the Worker logs goes to stderr: stdout carries the answers to commands.
let logged = "";
const handleRuntimeStdio = (out, err) => {
  out.on("data", (text) => (logged += text));
  for (const stream of [out, err]) stream.pipe(process.stderr, { end: false });
};
const shared = { host: "127.0.0.1", port: 0, cf: false, handleRuntimeStdio };

// A test may kill this process, and workerd would go on without it.
process.env.OSTRACA_WORKERD = workerd.default;
process.env.MINIFLARE_WORKERD_PATH = join(ROOT, "tests/edge/workerd-process");

let runtimes;
if (asked.store === "r2") {
  const workers = names.map((name) => ({ ...common, name, r2Buckets: { [BUCKET]: "ostraca" } }));
  const one = new Miniflare({ ...shared, workers, r2Persist: asked.persist ? resolve(asked.persist) : false });
  runtimes = names.map(() => one);
} else {
  runtimes = names.map((name) => new Miniflare({ ...shared, workers: [{ ...common, name }] }));
}

/** Processes below this one; Linux only, elsewhere a test cannot kill a runtime by itself. */
function children() {
  try {
    return readFileSync(`/proc/self/task/${process.pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

async function command(line) {
  const [verb, instance, ...rest] = line.trim().split(" ");
  if (verb === "scheduled") {
    const worker = await runtimes[Number(instance)].getWorker(names[Number(instance)]);
    return worker.scheduled({ cron: rest.join(" "), scheduledTime: new Date() });
  }
  if (verb === "logs") return { lines: logged.split("\n").filter(Boolean) };
  if (verb === "list" && asked.store === "r2") {
    const bucket = await runtimes[0].getR2Bucket(BUCKET, names[0]);
    const keys = [];
    for (let cursor; ; ) {
      const page = await bucket.list({ cursor });
      keys.push(...page.objects.map((object) => object.key));
      if (!page.truncated) return { keys };
      cursor = page.cursor;
    }
  }
  if (verb === "seed" && asked.store === "r2") {
    const folder = [instance, ...rest].join(" ");
    const bucket = await runtimes[0].getR2Bucket(BUCKET, names[0]);
    const files = readdirSync(folder, { recursive: true }).filter((name) => statSync(join(folder, name)).isFile());
    // An ArrayBuffer of its own: miniflare takes no Node.js Buffer.
    for (const name of files) await bucket.put(name, new Uint8Array(readFileSync(join(folder, name))).buffer);
    return { objects: files.length };
  }
  return { error: `unknown command: ${line}` };
}

const instances = [];
for (const [i, name] of names.entries()) {
  const url = await runtimes[i].unsafeGetDirectURL(name);
  instances.push({ name, url: url.href.replace(/\/$/, "") });
}
const pids = children();
console.log(JSON.stringify({ store: asked.store, instances, pids }));

let queue = Promise.resolve();
const lines = createInterface({ input: process.stdin });
lines.on("line", (line) => {
  queue = queue
    .then(() => command(line))
    .catch((error) => ({ error: String(error) }))
    .then((answer) => console.log(JSON.stringify(answer)));
});

async function end() {
  await queue;
  await Promise.all([...new Set(runtimes)].map((runtime) => runtime.dispose()));
  process.exit(0);
}
lines.on("close", end);
process.on("SIGTERM", end);
process.on("SIGINT", end);
