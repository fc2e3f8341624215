// The conversation that every TypeScript client here has with a server. The clients differ in how they are constructed and in
// a few signatures, which `peer` hides: {client, capabilities, legacy, call(params, options), listen?, tasks?, unknownMethod?}.

export const log = (...parts) =>
  console.error('#', ...parts.map(part => (typeof part === 'string' ? part : JSON.stringify(part)?.slice(0, 160))));

/// An error is as good a recording as a result.
async function attempt(what, action) {
  try {
    const result = await action();
    log('ok', what, result);
    return result;
  } catch (error) {
    log('ERR', what, error?.code ?? '', String(error?.message ?? error).slice(0, 140));
  }
}

const rest = milliseconds => new Promise(done => setTimeout(done, milliseconds));

/// A value that fits a schema, more or less.
export function example(schema) {
  if (!schema) return 'x';
  for (const given of ['default', 'const']) if (schema[given] !== undefined) return schema[given];
  if (schema.enum) return schema.enum[0];
  if (schema.oneOf || schema.anyOf) return example((schema.oneOf ?? schema.anyOf)[0]);
  const formats = {
    email: 'a@example.com', uri: 'https://example.com/', date: '2026-01-02', 'date-time': '2026-01-02T03:04:05Z',
  };
  switch ([schema.type].flat()[0]) {
    case 'string': return formats[schema.format] ?? 'abc';
    case 'number': case 'integer': return Math.max(schema.minimum ?? 1, -1000);
    case 'boolean': return true;
    case 'array': return schema.items ? [example(schema.items)] : [];
    case 'object':
      return Object.fromEntries((schema.required ?? []).map(name => [name, example(schema.properties?.[name])]));
    case 'null': return null;
  }
  return 'x';
}

/// Answers to requests from the server.
export const answers = plan => ({
  roots: async () => ({ roots: [{ uri: `file://${plan.root}`, name: 'root' }] }),
  sampling: async () => ({
    model: 'm', role: 'assistant', content: { type: 'text', text: 'hi' }, stopReason: 'endTurn',
  }),
  elicitation: async ({ params }) => {
    if (params.mode === 'url') return { action: 'accept' };
    const fields = Object.entries(params.requestedSchema?.properties ?? {});
    return { action: 'accept', content: Object.fromEntries(fields.map(([name, field]) => [name, example(field)])) };
  },
});

export async function converse(peer, plan) {
  const { client, capabilities, legacy } = peer;
  log('capabilities', capabilities, legacy ? 'legacy' : 'modern');
  if (legacy) await attempt('ping', () => client.ping());
  if (legacy && capabilities.logging) await attempt('setLevel', () => client.setLoggingLevel('debug'));
  const tools = capabilities.tools ? await everyTool(client) : [];
  if (capabilities.prompts) await prompts(peer, plan);
  if (capabilities.resources) await resources(peer);
  if (plan.listOnly) return;
  const subscription = await peer.listen?.(plan.listen?.uris ?? []).catch(error => log('ERR listen', error.message));
  await callTools(peer, plan, tools);
  for (const call of plan.listen?.calls ?? []) await attempt('call while listening', () => peer.call(call));
  if (plan.slow) await interrupt(peer, plan.slow);
  if (plan.parallel) await Promise.all(plan.parallel.map(call => attempt('parallel', () => peer.call(call))));
  if (plan.task && peer.tasks) await attempt('task', () => peer.tasks(plan.task));
  if (legacy && !plan.bare) await attempt('roots changed', () => client.sendRootsListChanged());
  await rest((plan.linger ?? 0.4) * 1000);
  if (subscription) await attempt('end listening', () => subscription.close());
  if (peer.unknownMethod) await attempt('unknown method', peer.unknownMethod);
}

async function everyTool(client) {
  const tools = [];
  let cursor;
  do {
    const page = await attempt('tools/list', () => client.listTools(cursor ? { cursor } : undefined));
    tools.push(...(page?.tools ?? []));
    cursor = page?.nextCursor;
  } while (cursor);
  return tools;
}

async function prompts({ client, capabilities }, plan) {
  const listed = await attempt('prompts/list', () => client.listPrompts());
  for (const { name, arguments: wanted = [] } of listed?.prompts ?? []) {
    const filled = Object.fromEntries(wanted.map(one => [one.name, plan.prompts?.[one.name] ?? '1']));
    await attempt(`get ${name}`, () => client.getPrompt({ name, arguments: filled }));
    if (!wanted.length) continue;
    await attempt(`get ${name}, nothing`, () => client.getPrompt({ name }));
    if (!capabilities.completions) continue;
    const ref = { type: 'ref/prompt', name };
    await attempt('complete', () => client.complete({ ref, argument: { name: wanted[0].name, value: '' } }));
    if (wanted[1]) {
      const context = { arguments: { [wanted[0].name]: filled[wanted[0].name] } };
      await attempt('complete', () => client.complete({ ref, argument: { name: wanted[1].name, value: 'E' }, context }));
    }
  }
  await attempt('get, unknown', () => client.getPrompt({ name: 'no-such' }));
}

async function resources({ client, capabilities, legacy }) {
  const listed = await attempt('resources/list', () => client.listResources());
  for (const { uri } of (listed?.resources ?? []).slice(0, 4)) {
    await attempt(`read ${uri}`, () => client.readResource({ uri }));
    if (legacy && capabilities.resources.subscribe) await attempt('subscribe', () => client.subscribeResource({ uri }));
  }
  const templates = await attempt('templates', () => client.listResourceTemplates());
  for (const { uriTemplate } of templates?.resourceTemplates ?? []) {
    await attempt('read by template', () => client.readResource({ uri: uriTemplate.replace(/\{[^}]*\}/g, '1') }));
    if (!capabilities.completions) continue;
    const name = uriTemplate.match(/\{(\w+)/)?.[1] ?? 'x';
    const ref = { type: 'ref/resource', uri: uriTemplate };
    await attempt('complete', () => client.complete({ ref, argument: { name, value: '' } }));
  }
  await attempt('read, unknown', () => client.readResource({ uri: 'demo://no/such' }));
}

async function callTools(peer, plan, tools) {
  const onprogress = progress => log('progress', progress);
  for (const { name, inputSchema } of tools) {
    if (plan.skip?.includes(name)) continue;
    for (const given of plan.calls?.[name] ?? [example(inputSchema)]) {
      await attempt(`call ${name}`, () => peer.call({ name, arguments: given }, { onprogress, timeout: 20000 }));
    }
    const first = Object.keys(inputSchema.properties ?? {})[0];
    if (!first || plan.noBadCalls) continue;
    await attempt(`call ${name}, nothing`, () => peer.call({ name, arguments: {} }));
    await attempt(`call ${name}, wrong`, () => peer.call({ name, arguments: { [first]: { x: 1 } } }));
  }
  if (tools.length) await attempt('unknown tool', () => peer.call({ name: 'no_such_tool', arguments: {} }));
}

async function interrupt(peer, slow) {
  const onprogress = progress => log('progress', progress);
  const stop = new AbortController();
  setTimeout(() => stop.abort('enough'), 600);
  await attempt('cancelled', () => peer.call(slow, { signal: stop.signal, onprogress }));
  await attempt('timed out', () => peer.call(slow, { timeout: 300 }));
}
