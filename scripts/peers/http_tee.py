#!/usr/bin/env python3
"""A reverse proxy on loopback that records the traffic in the trace format.

http_tee.py OUT.jsonl LISTEN_PORT SERVER_PORT [--cut EVENTS]

--cut breaks, once, the connection of a stream that answers a POST, after so many events and before the answer itself:
a client that can resume then comes back with Last-Event-ID. The break is written as the client's, since the server did not end it.
"""

import asyncio
import json
import sys
from datetime import datetime, timezone

HOP_BY_HOP = {"connection", "keep-alive", "content-length", "transfer-encoding"}
GONE = (ConnectionError, asyncio.IncompleteReadError, ValueError)


class Tee:
    def __init__(self, out, server_port, cut):
        self.trace = open(out, "x", encoding="utf-8")
        self.server_port = server_port
        self.cut = cut
        self.exchanges = 0

    def write(self, side, http, body=None):
        record = {"from": side, "http": http}
        if body is not None:
            record["raw"] = body
        record["ts"] = datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self.trace.write(json.dumps(record, ensure_ascii=False) + "\n")
        self.trace.flush()

    async def serve(self, reader, writer):
        """One connection of the client: exchange after exchange, until one side closes it."""
        try:
            while await self.exchange(reader, writer):
                pass
        except GONE:
            pass
        finally:
            writer.close()

    async def exchange(self, reader, writer):
        start, headers = await read_head(reader)
        method, url, _ = start.split(" ", 2)
        body = b"".join([chunk async for chunk in read_body(reader, headers, request=True)])
        self.exchanges += 1
        number = self.exchanges
        self.write(
            "client",
            {"exchange": number, "method": method, "url": url, "headers": as_object(headers)},
            body.decode("utf-8", "replace") if body else None,
        )
        server_reader, server_writer = await asyncio.open_connection("127.0.0.1", self.server_port, limit=1 << 24)
        try:
            length = [("content-length", str(len(body)))] if body or method == "POST" else []
            send_head(server_writer, start, passed_on(headers) + [("connection", "close")] + length)
            server_writer.write(body)
            await server_writer.drain()
            status_line, answer = await read_head(server_reader)
            response = {"exchange": number, "status": int(status_line.split(" ")[1]), "headers": as_object(answer)}
            if "text/event-stream" in response["headers"].get("content-type", ""):
                self.write("server", response)
                streamed = [("transfer-encoding", "chunked"), ("connection", "close")]
                send_head(writer, status_line, passed_on(answer) + streamed)
                await writer.drain()
                await self.stream(number, method, answer, server_reader, reader, writer)
                return False
            content = b""
            if method != "HEAD" and response["status"] not in (204, 304):
                content = b"".join([chunk async for chunk in read_body(server_reader, answer)])
            text = content.decode("utf-8", "replace")
            if text and not is_message(text):
                response["body"] = text
            self.write("server", response, text if text and "body" not in response else None)
            send_head(writer, status_line, passed_on(answer) + [("content-length", str(len(content)))])
            writer.write(content)
            await writer.drain()
            return True
        finally:
            server_writer.close()

    async def stream(self, number, method, headers, server_reader, reader, writer):
        """Passes an SSE stream on until the server ends it, the client leaves, or it is to be cut."""
        rest, events, answered, closer = b"", 0, False, "server"
        chunks = read_body(server_reader, headers)
        left = asyncio.create_task(reader.read(1))
        try:
            while True:
                following = asyncio.create_task(anext(chunks))
                await asyncio.wait({following, left}, return_when=asyncio.FIRST_COMPLETED)
                if not following.done():
                    following.cancel()
                    closer = "client"
                    break
                chunk = following.result()
                *parts, rest = (rest + chunk.replace(b"\r\n", b"\n")).split(b"\n\n")
                for part in parts:
                    event, data = read_event(part.decode("utf-8", "replace"))
                    if event is not None:
                        events += 1
                        answered |= data is not None and '"method"' not in data
                        self.write("server", {"exchange": number, "sse": event}, data)
                writer.write(b"%x\r\n%b\r\n" % (len(chunk), chunk))
                await writer.drain()
                if self.cut and method == "POST" and events >= self.cut and not answered:
                    self.cut, closer = None, "client"
                    break
            if closer == "server":
                writer.write(b"0\r\n\r\n")
                await writer.drain()
        except StopAsyncIteration:
            writer.write(b"0\r\n\r\n")
        except GONE:
            closer = "client" if left.done() else "server"
        finally:
            left.cancel()
            self.write(closer, {"exchange": number, "end": True})


async def read_head(reader):
    lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    pairs = (line.split(":", 1) for line in lines[1:] if line)
    return lines[0], [(name.strip(), value.strip()) for name, value in pairs]


def passed_on(headers):
    return [(name, value) for name, value in headers if name.lower() not in HOP_BY_HOP]


def send_head(writer, start, headers):
    lines = [start] + [f"{name}: {value}" for name, value in headers]
    writer.write(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))


def as_object(headers):
    found = {}
    for name, value in headers:
        name = name.lower()
        found[name] = f"{found[name]}, {value}" if name in found else value
    return found


async def read_body(reader, headers, request=False):
    headers = as_object(headers)
    if "content-length" in headers:
        if length := int(headers["content-length"]):
            yield await reader.readexactly(length)
    elif headers.get("transfer-encoding", "").lower() == "chunked":
        while size := int((await reader.readline()).split(b";")[0], 16):
            yield await reader.readexactly(size)
            await reader.readexactly(2)
        await reader.readline()
    elif not request:
        while data := await reader.read(65536):
            yield data


def read_event(text):
    event, data = {}, []
    for line in text.split("\n"):
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            data.append(value)
        elif name == "retry" and value.isdigit():
            event["retry"] = int(value)
        elif name in ("id", "event"):
            event[name] = value
    if not event and not data:
        return None, None
    joined = "\n".join(data)
    if joined and event.get("event", "message") == "message":
        return event, joined
    if data:
        event["data"] = joined
    return event, None


def is_message(text):
    try:
        value = json.loads(text)
    except ValueError:
        return False
    return isinstance(value, list) or isinstance(value, dict) and "jsonrpc" in value


async def main():
    out, listen, server, *rest = sys.argv[1:]
    cut = int(rest[1]) if rest[:1] == ["--cut"] else None
    tee = Tee(out, int(server), cut)
    async with await asyncio.start_server(tee.serve, "127.0.0.1", int(listen), limit=1 << 24) as listener:
        await listener.serve_forever()


asyncio.run(main())
