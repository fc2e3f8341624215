"""A small server on FastMCP (2.x or later): stdio, or Streamable HTTP on the port given."""

import asyncio
import sys
from dataclasses import dataclass

from fastmcp import Context, FastMCP

server = FastMCP("fastmcp-demo")


@dataclass
class Person:
    name: str
    age: int


@server.tool
def add(a: int, b: int = 2) -> int:
    return a + b


@server.tool
def person() -> Person:
    return Person("Ann", 30)


@server.tool
def numbers() -> list[int]:
    return [1, 2]


@server.tool
def fail(reason: str) -> str:
    raise ValueError(reason)


@server.tool
async def slow(steps: int, context: Context) -> str:
    for step in range(steps):
        await context.report_progress(step, steps)
        await context.info(f"step {step}")
        await asyncio.sleep(0.15)
    return "done"


@server.tool
async def ask(context: Context) -> str:
    return str(await context.elicit("Who?", response_type=Person))


@server.tool
async def choose(context: Context) -> str:
    return str(await context.elicit("Which?", response_type=["a", "b"]))


@server.tool
async def think(context: Context) -> str:
    return str(await context.sample("hello"))


@server.tool
async def roots(context: Context) -> str:
    return str(await context.list_roots())


@server.resource("demo://a")
def fixed() -> dict:
    return {"a": 1}


@server.resource("demo://x/{id}")
def numbered(id: str) -> str:
    return id


@server.prompt
def about(topic: str) -> str:
    return topic


if len(sys.argv) > 1:
    server.run("http", host="127.0.0.1", port=int(sys.argv[1]), show_banner=False)
else:
    server.run(show_banner=False)
