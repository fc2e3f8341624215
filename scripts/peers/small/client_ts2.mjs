// A small client on the TypeScript SDK 2.x: client_ts2.mjs URL | CMD ARGS…
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const [first, ...rest] = process.argv.slice(2);
const line = first.startsWith('http')
  ? new StreamableHTTPClientTransport(new URL(first))
  : new StdioClientTransport({ command: first, args: rest });
const client = new Client(
  { name: 'ts2-small', version: '1.0.0' },
  { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: 'auto' } },
);
client.setRequestHandler('elicitation/create', async () => ({ action: 'decline' }));
await client.connect(line);
if (client.getServerCapabilities()?.tools) {
  let cursor;
  do {
    ({ nextCursor: cursor } = await client.listTools({ cursor }, { onprogress: () => {} }));
  } while (cursor);
  await client.callTool({ name: 'echo', arguments: { text: 'hello' } });
}
await line.terminateSession?.();
await client.close();
