// What every JavaScript client has to be able to do, whatever SDK it is built on: list the
// tools, remember something, and recall it in the very next call.
import { randomUUID } from "node:crypto";

/** Ends the process with a message when a client cannot do what it should. */
export function check(condition, message) {
  if (!condition) throw new Error(message);
}

/** Runs all `variants` of one SDK, one line each; the first failure ends the process. */
export async function run(sdk, variants) {
  for (const [variant, connect] of Object.entries(variants)) {
    const name = `${sdk} ${variant}`;
    try {
      const { client, protocol } = await connect();
      await scenario(client);
      console.log(`ok  ${name}  (${protocol})`);
      await client.close();
    } catch (error) {
      console.error(`FAILED  ${name}: ${error.stack ?? error}`);
      process.exit(1);
    }
  }
  process.exit(0);
}

/** The target of the script: `--stdio COMMAND…` or a URL, with the token of OSTRACA_TOKEN. */
export function target() {
  const [first, ...rest] = process.argv.slice(2);
  const token = process.env.OSTRACA_TOKEN;
  const headers = token ? { authorization: `Bearer ${token}` } : {};
  if (first === "--stdio") {
    check(rest.length > 0, "--stdio needs the command that starts the server");
    return { stdio: { command: rest[0], args: rest.slice(1), env: process.env } };
  }
  check(first?.startsWith("http"), "usage: SCRIPT URL | SCRIPT --stdio COMMAND [ARGUMENT…]");
  return { url: new URL(first), headers };
}

async function scenario(client) {
  const { tools } = await client.listTools();
  const names = tools.map((tool) => tool.name);
  for (const name of ["remember", "recall"]) {
    check(names.includes(name), `tools/list has no '${name}', only: ${names.join(", ")}`);
  }

  const content = `The lighthouse keeper ${randomUUID()} prefers tea without sugar.`;
  const stored = await call(client, "remember", { content, scope: "tests/clients" });
  check(stored.items?.[0]?.outcome === "created", `remember answered ${JSON.stringify(stored)}`);

  const found = await call(client, "recall", { query: content, scope: "tests/clients", limit: 3 });
  const contents = found.hits?.map((hit) => hit.content);
  check(contents?.[0] === content, `recall did not find what was stored, but ${JSON.stringify(contents)}`);
}

async function call(client, name, args) {
  const result = await client.callTool({ name, arguments: args });
  check(!result.isError, `${name} failed: ${JSON.stringify(result.content)}`);
  check(result.structuredContent, `${name} gave no structured content`);
  // Clients of the older revisions show only this.
  check(result.content?.some((block) => block.type === "text" && block.text), `${name} gave no text`);
  return result.structuredContent;
}
