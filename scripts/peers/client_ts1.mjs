// The client of the TypeScript SDK 1.x: client_ts1.mjs PLAN legacy (stdio CMD ARGS… | http URL | sse URL)
// The environment variable SDK names the package, so that old versions can be installed under other names.
import fs from 'node:fs';
import { answers, converse, log } from './conversation.mjs';

const [planFile, , transport, ...target] = process.argv.slice(2);
const plan = JSON.parse(fs.readFileSync(planFile, 'utf8'));
const sdk = process.env.SDK ?? '@modelcontextprotocol/sdk';
const { Client } = await import(`${sdk}/client/index.js`);
const types = await import(`${sdk}/types.js`);

/// Capabilities that this version of the SDK supports; an old one must not declare later ones.
function capabilities() {
  if (plan.bare) return {};
  const own = { roots: { listChanged: true }, sampling: {} };
  if (types.ElicitRequestSchema) own.elicitation = {};
  if (types.CreateTaskResultSchema) {
    own.sampling = { tools: {}, context: {} };
    own.elicitation = { form: {}, url: {} };
    own.tasks = { list: {}, cancel: {}, requests: { elicitation: { create: {} }, sampling: { createMessage: {} } } };
  }
  return own;
}

async function connection() {
  if (transport === 'http') {
    const { StreamableHTTPClientTransport } = await import(`${sdk}/client/streamableHttp.js`);
    return new StreamableHTTPClientTransport(new URL(target[0]));
  }
  if (transport === 'sse') {
    const { SSEClientTransport } = await import(`${sdk}/client/sse.js`);
    return new SSEClientTransport(new URL(target[0]));
  }
  const { StdioClientTransport } = await import(`${sdk}/client/stdio.js`);
  return new StdioClientTransport({ command: target[0], args: target.slice(1), stderr: 'ignore', env: { ...process.env } });
}

const client = new Client({ name: 'ts1-driver', version: '1.0.0' }, { capabilities: capabilities() });
if (!plan.bare) {
  const { roots, sampling, elicitation } = answers(plan);
  client.setRequestHandler(types.ListRootsRequestSchema, roots);
  client.setRequestHandler(types.CreateMessageRequestSchema, sampling);
  if (types.ElicitRequestSchema) client.setRequestHandler(types.ElicitRequestSchema, elicitation);
}
client.fallbackNotificationHandler = async ({ method }) => log('notification', method);

const line = await connection();
await client.connect(line);
await converse(
  {
    client,
    capabilities: client.getServerCapabilities() ?? {},
    legacy: true,
    call: (params, options) => client.callTool(params, undefined, options),
    tasks: client.experimental?.tasks && (async call => {
      const updates = client.experimental.tasks.callToolStream(call, types.CallToolResultSchema, { task: { ttl: 60000 } });
      for await (const update of updates) log('task', update);
      await client.experimental.tasks.listTasks();
    }),
    unknownMethod: () => client.request({ method: 'acme/none', params: {} }, types.EmptyResultSchema),
  },
  plan,
);
await line.terminateSession?.().catch(error => log('ERR terminate', error.message));
await client.close();
process.exit(0);
