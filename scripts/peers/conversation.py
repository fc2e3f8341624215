"""The conversation that every Python client here has with a server. `peer` hides differences between SDK versions."""

import asyncio
import re
import sys

import anyio


def log(*parts):
    print("#", *[str(part)[:160] for part in parts], file=sys.stderr)


async def attempt(what, action):
    """An error is as good a recording as a result."""
    try:
        with anyio.fail_after(25):
            result = await action
        log("ok", what, result)
        return result
    except Exception as error:
        log("ERR", what, type(error).__name__, error)


def example(schema):
    """A value that fits a schema, more or less."""
    if not schema:
        return "x"
    for given in ("default", "const"):
        if given in schema:
            return schema[given]
    if "enum" in schema:
        return schema["enum"][0]
    for choice in ("oneOf", "anyOf"):
        if choice in schema:
            return example(schema[choice][0])
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "string":
        return {"email": "a@example.com", "uri": "https://example.com/"}.get(schema.get("format"), "abc")
    if kind in ("number", "integer"):
        return schema.get("minimum", 1)
    if kind == "array":
        return [example(schema["items"])] if schema.get("items") else []
    if kind == "object":
        return {name: example(schema.get("properties", {}).get(name)) for name in schema.get("required", [])}
    return {"boolean": True, "null": None}.get(kind, "x")


async def converse(peer, plan):
    capabilities = peer.capabilities
    log("capabilities", capabilities, "legacy" if peer.legacy else "modern")
    if peer.legacy:
        await attempt("ping", peer.client.send_ping())
        if capabilities.logging:
            await attempt("setLevel", peer.client.set_logging_level("debug"))
    if capabilities.prompts:
        await prompts(peer, plan)
    if capabilities.resources:
        await resources(peer)
    if capabilities.tools:
        await tools(peer, plan)
    if plan.get("listOnly"):
        return
    if not peer.legacy:
        await attempt("listen", listen(peer, plan.get("listen", {})))
    if peer.legacy and not plan.get("bare"):
        await attempt("roots changed", peer.client.send_roots_list_changed())
    await asyncio.sleep(plan.get("linger", 0.4))


async def prompts(peer, plan):
    listed = await attempt("prompts/list", peer.client.list_prompts())
    for prompt in listed.prompts if listed else []:
        wanted = prompt.arguments or []
        filled = {one.name: plan.get("prompts", {}).get(one.name, "1") for one in wanted}
        await attempt(f"get {prompt.name}", peer.client.get_prompt(prompt.name, filled))
        if wanted:
            await attempt(f"get {prompt.name}, nothing", peer.client.get_prompt(prompt.name))
            if peer.capabilities.completions:
                reference = peer.types.PromptReference(type="ref/prompt", name=prompt.name)
                await attempt("complete", peer.client.complete(reference, {"name": wanted[0].name, "value": ""}))
    await attempt("get, unknown", peer.client.get_prompt("no-such"))


async def resources(peer):
    listed = await attempt("resources/list", peer.client.list_resources())
    for resource in (listed.resources if listed else [])[:4]:
        await attempt(f"read {resource.uri}", peer.client.read_resource(resource.uri))
        if peer.legacy and peer.capabilities.resources.subscribe:
            await attempt("subscribe", peer.client.subscribe_resource(resource.uri))
    templates = await attempt("templates", peer.client.list_resource_templates())
    for template in peer.templates(templates):
        await attempt("read by template", peer.client.read_resource(peer.uri(re.sub(r"\{[^}]*\}", "1", template))))
        if peer.capabilities.completions:
            name = (re.findall(r"\{(\w+)", template) or ["x"])[0]
            reference = peer.types.ResourceTemplateReference(type="ref/resource", uri=template)
            await attempt("complete", peer.client.complete(reference, {"name": name, "value": ""}))
    await attempt("read, unknown", peer.client.read_resource(peer.uri("demo://no/such")))


async def progress(done, total, message):
    log("progress", done, total, message)


async def tools(peer, plan):
    listed = await attempt("tools/list", peer.client.list_tools())
    if plan.get("listOnly"):
        return
    for tool in listed.tools if listed else []:
        if tool.name in plan.get("skip", []):
            continue
        schema = peer.schema(tool)
        for given in plan.get("calls", {}).get(tool.name, [example(schema)]):
            await attempt(f"call {tool.name}", peer.client.call_tool(tool.name, given, progress_callback=progress))
        if schema.get("properties") and not plan.get("noBadCalls"):
            first = next(iter(schema["properties"]))
            await attempt(f"call {tool.name}, nothing", peer.client.call_tool(tool.name, {}))
            await attempt(f"call {tool.name}, wrong", peer.client.call_tool(tool.name, {first: {"x": 1}}))
    await attempt("unknown tool", peer.client.call_tool("no_such_tool", {}))
    if slow := plan.get("slow"):
        with anyio.move_on_after(0.6):
            await peer.client.call_tool(slow["name"], slow["arguments"], progress_callback=progress)
        await attempt("timed out", peer.impatient(slow["name"], slow["arguments"]))
    together = [peer.client.call_tool(call["name"], call["arguments"]) for call in plan.get("parallel", [])]
    await asyncio.gather(*[attempt("parallel", call) for call in together])


async def listen(peer, plan):
    async with peer.listen(plan.get("uris", [])) as events:
        for call in plan.get("calls", []):
            await attempt("call while listening", peer.client.call_tool(call["name"], call["arguments"]))
        with anyio.move_on_after(0.8):
            async for event in events:
                log("event", event)
