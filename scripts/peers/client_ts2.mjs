// The client of the TypeScript SDK 2.x: client_ts2.mjs PLAN legacy|auto|modern (stdio CMD ARGS… | http URL)
import fs from 'node:fs';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { answers, converse, log } from './conversation.mjs';

const [planFile, mode, transport, ...target] = process.argv.slice(2);
const plan = JSON.parse(fs.readFileSync(planFile, 'utf8'));

const client = new Client(
  { name: 'ts2-driver', version: '1.0.0' },
  {
    capabilities: plan.bare
      ? {}
      : { roots: { listChanged: true }, sampling: { tools: {}, context: {} }, elicitation: { form: {}, url: {} } },
    versionNegotiation: { mode: mode === 'modern' ? { pin: '2026-07-28' } : mode },
  },
);
if (!plan.bare) {
  const { roots, sampling, elicitation } = answers(plan);
  client.setRequestHandler('roots/list', roots);
  client.setRequestHandler('sampling/createMessage', sampling);
  client.setRequestHandler('elicitation/create', elicitation);
}

const line =
  transport === 'http'
    ? new StreamableHTTPClientTransport(new URL(target[0]))
    : new StdioClientTransport({ command: target[0], args: target.slice(1), stderr: 'ignore', env: { ...process.env } });
await client.connect(line);
const legacy = !(client.getNegotiatedProtocolVersion?.() >= '2026');
const level = legacy ? {} : { _meta: { 'io.modelcontextprotocol/logLevel': 'debug' } };
const kinds = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
await converse(
  {
    client,
    capabilities: client.getServerCapabilities() ?? {},
    legacy,
    call: (params, options) => client.callTool({ ...params, ...level }, options),
    listen: legacy ? undefined : uris => client.listen({ ...kinds, resourceSubscriptions: uris }),
  },
  plan,
);
await line.terminateSession?.().catch(error => log('ERR terminate', error.message));
await client.close();
process.exit(0);
