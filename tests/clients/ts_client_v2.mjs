// The TypeScript client of 2026-07-28 (@modelcontextprotocol/client) in all its ways to agree on
// a revision: the old handshake (its default), asking first, and without asking.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { check, run, target } from "./scenario.mjs";

const REVISION = "2026-07-28";
const { url, headers, stdio } = target();

function variant(mode, expected) {
  return async () => {
    const client = new Client({ name: "ostraca-tests", version: "1.0.0" }, { versionNegotiation: { mode } });
    const transport = stdio
      ? new StdioClientTransport(stdio)
      : new StreamableHTTPClientTransport(url, { requestInit: { headers } });
    await client.connect(transport);
    const protocol = client.getNegotiatedProtocolVersion();
    check(expected(protocol), `the revision agreed on is ${protocol}`);
    return { client, protocol };
  };
}

const transport = stdio ? "stdio" : "http";
await run("typescript client 2", {
  [`${transport} legacy`]: variant("legacy", (protocol) => protocol.startsWith("2025-")),
  [`${transport} auto`]: variant("auto", (protocol) => protocol === REVISION),
  [`${transport} pinned`]: variant({ pin: REVISION }, (protocol) => protocol === REVISION),
});
