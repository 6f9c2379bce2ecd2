"""The official Python client in all its ways to agree on a revision.

usage: python_sdk.py URL | python_sdk.py --stdio COMMAND [ARGUMENT...]
The bearer token, if any, comes from OSTRACA_TOKEN.
"""

import asyncio
import json
import os
import sys
import uuid

import httpx2
from mcp import StdioServerParameters
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

REVISION = "2026-07-28"
SCOPE = "tests/clients"


def check(condition, message):
    if not condition:
        raise AssertionError(message)


async def scenario(client):
    listed = await client.list_tools()
    names = [tool.name for tool in listed.tools]
    check({"remember", "recall"} <= set(names), f"tools/list has only: {', '.join(names)}")

    content = f"The lighthouse keeper {uuid.uuid4()} prefers tea without sugar."
    stored = await call(client, "remember", {"content": content, "scope": SCOPE})
    check(stored["items"][0]["outcome"] == "created", f"remember answered {json.dumps(stored)}")

    found = await call(client, "recall", {"query": content, "scope": SCOPE, "limit": 3})
    contents = [hit["content"] for hit in found["hits"]]
    check(contents[:1] == [content], f"recall did not find what was stored, but {contents}")


async def call(client, name, arguments):
    result = await client.call_tool(name, arguments)
    check(not result.is_error, f"{name} failed: {result.content}")
    check(result.structured_content, f"{name} gave no structured content")
    check(any(getattr(block, "text", None) for block in result.content), f"{name} gave no text")
    return result.structured_content


def server(arguments, http):
    if arguments[0] == "--stdio":
        return StdioServerParameters(command=arguments[1], args=arguments[2:], env=dict(os.environ))
    return streamable_http_client(arguments[0], http_client=http)


async def main():
    arguments = sys.argv[1:]
    if not arguments:
        sys.exit(__doc__)
    transport = "stdio" if arguments[0] == "--stdio" else "http"
    token = os.environ.get("OSTRACA_TOKEN")
    headers = {"authorization": f"Bearer {token}"} if token else {}
    for mode, expected in (("legacy", "2025-"), ("auto", REVISION), (REVISION, REVISION)):
        name = f"python sdk 2 {transport} {mode}"
        try:
            async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
                async with Client(server(arguments, http), mode=mode) as client:
                    check(client.protocol_version.startswith(expected), f"agreed on {client.protocol_version}")
                    await scenario(client)
                    print(f"ok  {name}  ({client.protocol_version})", flush=True)
        except Exception as error:  # any failure of a foreign client is a failure of the check
            print(f"FAILED  {name}: {causes(error)}", file=sys.stderr)
            sys.exit(1)


def causes(error):
    """The client's failures come in groups; the innermost tell something."""
    if isinstance(error, BaseExceptionGroup):
        return "; ".join(causes(inner) for inner in error.exceptions)
    return f"{type(error).__name__}: {error}"


asyncio.run(main())
