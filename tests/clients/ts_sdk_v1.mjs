// The TypeScript SDK of the 2025 revisions (@modelcontextprotocol/sdk), which most clients in
// the field are built on.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { run, target } from "./scenario.mjs";

const { url, headers, stdio } = target();

await run("typescript sdk 1", {
  [stdio ? "stdio" : "http"]: async () => {
    const client = new Client({ name: "ostraca-tests", version: "1.0.0" });
    const transport = stdio
      ? new StdioClientTransport(stdio)
      : new StreamableHTTPClientTransport(url, { requestInit: { headers } });
    await client.connect(transport);
    return { client, protocol: transport.protocolVersion ?? "negotiated" };
  },
});
