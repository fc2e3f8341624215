"""The client of the Python SDK 2.x: client_py2.py PLAN legacy|auto|modern (stdio CMD ARGS… | http URL)"""

import asyncio
import json
import os
import sys

import mcp_types as types
from mcp import Client, StdioServerParameters

from conversation import converse, example, log

plan_file, mode, transport, *target = sys.argv[1:]
plan = json.load(open(plan_file, encoding="utf-8"))


# A client that requests one version without discovery does not know the server's capabilities, and just tries.
ANYTHING = types.ServerCapabilities.model_validate({"tools": {}, "prompts": {}, "resources": {}, "completions": {}})


class Peer:
    types = types
    uri = str

    def __init__(self, client):
        self.client = client
        self.capabilities = client.server_capabilities if mode != "modern" else ANYTHING
        self.legacy = client.protocol_version < "2026"

    def schema(self, tool):
        return tool.input_schema

    def templates(self, listed):
        return [template.uri_template for template in listed.resource_templates] if listed else []

    def impatient(self, name, arguments):
        return self.client.call_tool(name, arguments, read_timeout_seconds=0.4)

    def listen(self, uris):
        kinds = {"tools_list_changed": True, "prompts_list_changed": True, "resources_list_changed": True}
        return self.client.listen(**kinds, resource_subscriptions=uris)


async def sampling(context, params):
    return types.CreateMessageResult(
        role="assistant", content=types.TextContent(type="text", text="hi"), model="m", stop_reason="endTurn"
    )


async def elicitation(context, params):
    schema = getattr(params, "requested_schema", None)
    if schema is None:
        return types.ElicitResult(action="accept")
    fields = schema.get("properties", {})
    return types.ElicitResult(action="accept", content={name: example(field) for name, field in fields.items()})


async def roots(context):
    return types.ListRootsResult(roots=[types.Root(uri=f"file://{plan['root']}", name="root")])


async def logged(params):
    log("message", params)


async def main():
    own = {"logging_callback": logged}
    if not plan.get("bare"):
        own |= {"sampling_callback": sampling, "elicitation_callback": elicitation, "list_roots_callback": roots}
    if mode != "legacy":
        own["log_level"] = "debug"
    server = target[0]
    if transport == "stdio":
        server = StdioServerParameters(command=target[0], args=target[1:], env=dict(os.environ))
    async with Client(server, mode={"modern": "2026-07-28"}.get(mode, mode), **own) as client:
        await converse(Peer(client), plan)


asyncio.run(main())
