// mcp-remote, the bridge by which clients that only know stdio reach a remote server. The
// SDK of the 2025 revisions speaks to it as to any local server.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { check, run, target } from "./scenario.mjs";

const { url, headers } = target();
check(url, "mcp-remote bridges to a URL");
const bridge = fileURLToPath(new URL("../node_modules/mcp-remote/dist/proxy.js", import.meta.url));
const home = mkdtempSync(join(tmpdir(), "ostraca-mcp-remote-"));
process.on("exit", () => rmSync(home, { recursive: true, force: true }));
const header = headers.authorization ? ["--header", `Authorization:${headers.authorization}`] : [];

await run("mcp-remote", {
  http: async () => {
    const client = new Client({ name: "ostraca-tests", version: "1.0.0" });
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [bridge, url.href, "--allow-http", "--transport", "http-only", "--silent", ...header],
        // It keeps tokens in its home folder, and nothing of a test may stay there.
        env: { ...process.env, MCP_REMOTE_CONFIG_DIR: home },
        stderr: process.env.OSTRACA_VERBOSE ? "inherit" : "ignore",
      }),
    );
    return { client, protocol: "bridged" };
  },
});
