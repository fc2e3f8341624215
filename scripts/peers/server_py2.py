"""A small server on the Python SDK 2.x: stdio, or Streamable HTTP on the port given."""

import asyncio
import sys
from typing import Annotated

import mcp_types as types
from mcp.server.mcpserver import Context, Image, MCPServer
from mcp.server.mcpserver.resolve import Elicit, ListRoots, Resolve, Sample
from pydantic import BaseModel, Field

server = MCPServer("py2-demo", version="1.0", instructions="A demonstration.")


class Weather(BaseModel):
    degrees: float
    tags: list[str] = []
    note: str | None = None


class Person(BaseModel):
    name: str = Field(description="A name")
    age: int = Field(default=3, ge=0)


@server.tool()
def add(a: int, b: int) -> int:
    return a + b


@server.tool()
def weather(city: str) -> Weather:
    return Weather(degrees=12.5)


@server.tool()
def nothing() -> None:
    return None


@server.tool()
def names() -> list[str]:
    return ["a", "b"]


@server.tool()
def image() -> Image:
    return Image(data=b"\x89PNG", format="png")


@server.tool()
def fail(reason: str) -> str:
    raise ValueError(reason)


@server.tool()
async def slow(steps: int, context: Context) -> str:
    for step in range(steps):
        await context.report_progress(step + 1, steps, f"step {step}")
        await context.info(f"step {step}")
        await asyncio.sleep(0.15)
    return "done"


async def who(context: Context) -> Elicit[Person]:
    return Elicit("Who?", Person)


async def thought(context: Context) -> Sample:
    question = types.SamplingMessage(role="user", content=types.TextContent(type="text", text="q"))
    return Sample([question], max_tokens=10)


async def folders(context: Context) -> ListRoots:
    return ListRoots()


@server.tool()
async def greet(person: Annotated[Person, Resolve(who)]) -> str:
    return f"Hello {person.name}"


@server.tool()
async def think(answer: Annotated[types.CreateMessageResult, Resolve(thought)]) -> str:
    return str(answer.model)


@server.tool()
async def both(
    found: Annotated[types.ListRootsResult, Resolve(folders)], person: Annotated[Person, Resolve(who)]
) -> str:
    return str(len(found.roots))


@server.tool()
async def touch(context: Context) -> str:
    await context.notify_resource_updated("demo://a")
    await context.notify_tools_changed()
    await context.notify_resources_changed()
    await context.notify_prompts_changed()
    return "ok"


@server.resource("demo://a")
def text() -> str:
    return "text a"


@server.resource("demo://b", mime_type="application/octet-stream")
def data() -> bytes:
    return b"\x00\x01"


@server.resource("demo://x/{id}")
def numbered(id: str) -> str:
    return f"x{id}"


@server.prompt()
def about(topic: str, style: str = "plain") -> str:
    return f"Tell me about {topic}, {style}"


@server.completion()
async def complete(reference, argument, context):
    return types.Completion(values=["one", "two"], has_more=False)


if len(sys.argv) > 1:
    server.run("streamable-http", port=int(sys.argv[1]))
else:
    server.run("stdio")
