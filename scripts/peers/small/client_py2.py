"""A small client on the Python SDK 2.x: client_py2.py URL | CMD ARGS…"""

import asyncio
import os
import sys

import mcp_types as types
from mcp import Client, StdioServerParameters

first, *rest = sys.argv[1:]
server = first
if not first.startswith("http"):
    server = StdioServerParameters(command=first, args=rest, env=dict(os.environ))


async def progress(*_):
    pass


async def elicitation(context, params):
    return types.ElicitResult(action="decline")


async def main():
    async with Client(server, mode="auto", elicitation_callback=elicitation) as client:
        if not client.server_capabilities.tools:
            return
        cursor = None
        while True:
            cursor = (await client.list_tools(cursor=cursor)).next_cursor
            if cursor is None:
                break
        await client.call_tool("echo", {"text": "hello"}, progress_callback=progress)


asyncio.run(main())
