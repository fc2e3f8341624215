#!/usr/bin/env python3
"""Runs a stdio server, passes both streams through byte by byte, and records them in the trace format.

stdio_tee.py OUT.jsonl -- COMMAND ARGUMENTS…

A client that starts its server twice (to probe it first) gets OUT-2.jsonl for the second run.
"""

import base64
import json
import os
import subprocess
import sys
import threading
from datetime import datetime, timezone


def unused(path):
    stem, number = path.removesuffix(".jsonl"), 1
    while os.path.exists(path):
        number += 1
        path = f"{stem}-{number}.jsonl"
    return path


def main():
    out, separator, *command = sys.argv[1:]
    if separator != "--" or not command:
        sys.exit(__doc__)
    trace = open(unused(out), "x", encoding="utf-8")
    lock = threading.Lock()

    def write(side, line, end=False):
        record = {"from": side}
        try:
            record["raw"] = line.decode("utf-8")
        except UnicodeDecodeError:
            record["rawBase64"] = base64.b64encode(line).decode()
        if end:
            record["end"] = True
        record["ts"] = datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        trace.write(json.dumps(record, ensure_ascii=False) + "\n")
        trace.flush()

    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)

    def pump(side, source, sink):
        """Writes a line down before passing it on, so that the trace has the order of the wire."""
        rest = b""
        while data := os.read(source, 65536):
            *lines, rest = (rest + data).split(b"\n")
            with lock:
                for line in lines:
                    write(side, line)
            try:
                view = memoryview(data)
                while view:
                    view = view[os.write(sink, view):]
            except OSError:
                break
        if rest:
            with lock:
                write(side, rest, end=True)

    def from_client():
        pump("client", 0, server.stdin.fileno())
        try:
            server.stdin.close()
        except OSError:
            pass

    threading.Thread(target=from_client, daemon=True).start()
    pump("server", server.stdout.fileno(), 1)
    try:
        code = server.wait(3)
    except subprocess.TimeoutExpired:
        server.kill()
        code = 1
    trace.close()
    os._exit(code if code >= 0 else 1)  # the other thread may still wait for the client


main()
