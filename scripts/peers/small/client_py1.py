"""A small client on the Python SDK 1.x: client_py1.py URL | CMD ARGS…"""

import asyncio
import os
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client

first, *rest = sys.argv[1:]


def connection():
    if first.startswith("http"):
        return streamablehttp_client(first)
    return stdio_client(StdioServerParameters(command=first, args=rest, env=dict(os.environ)))


async def progress(*_):
    pass


async def main():
    async with connection() as (reader, writer, *_):
        async with ClientSession(reader, writer) as client:
            answer = await client.initialize()
            if not answer.capabilities.tools:
                return
            cursor = None
            while True:
                cursor = (await client.list_tools(cursor)).nextCursor
                if cursor is None:
                    break
            await client.call_tool("echo", {"text": "hello"}, progress_callback=progress)


asyncio.run(main())
