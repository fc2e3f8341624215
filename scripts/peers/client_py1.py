"""The client of the Python SDK 1.x: client_py1.py PLAN legacy (stdio CMD ARGS… | http URL)"""

import asyncio
import json
import os
import sys
from datetime import timedelta

from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client
from pydantic import AnyUrl

from conversation import converse, example

plan_file, _, transport, *target = sys.argv[1:]
plan = json.load(open(plan_file, encoding="utf-8"))


class Peer:
    legacy = True
    types = types
    uri = AnyUrl

    def __init__(self, client, capabilities):
        self.client = client
        self.capabilities = capabilities

    def schema(self, tool):
        return tool.inputSchema

    def templates(self, listed):
        return [template.uriTemplate for template in listed.resourceTemplates] if listed else []

    def impatient(self, name, arguments):
        return self.client.call_tool(name, arguments, read_timeout_seconds=timedelta(seconds=0.4))


async def sampling(context, params):
    return types.CreateMessageResult(
        role="assistant", content=types.TextContent(type="text", text="hi"), model="m", stopReason="endTurn"
    )


async def elicitation(context, params):
    schema = getattr(params, "requestedSchema", None)
    if schema is None:
        return types.ElicitResult(action="accept")
    fields = schema.get("properties", {})
    return types.ElicitResult(action="accept", content={name: example(field) for name, field in fields.items()})


async def roots(context):
    return types.ListRootsResult(roots=[types.Root(uri=f"file://{plan['root']}", name="root")])


def connection():
    if transport == "http":
        return streamablehttp_client(target[0])
    return stdio_client(StdioServerParameters(command=target[0], args=target[1:], env=dict(os.environ)))


async def main():
    own = {} if plan.get("bare") else {
        "sampling_callback": sampling, "elicitation_callback": elicitation, "list_roots_callback": roots
    }
    async with connection() as (reader, writer, *_):
        async with ClientSession(reader, writer, **own) as client:
            answer = await client.initialize()
            await converse(Peer(client, answer.capabilities), plan)


asyncio.run(main())
