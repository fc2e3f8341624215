// A small client on the TypeScript SDK 1.x: client_ts1.mjs URL | CMD ARGS…
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const [first, ...rest] = process.argv.slice(2);
const line = first.startsWith('http')
  ? new StreamableHTTPClientTransport(new URL(first))
  : new StdioClientTransport({ command: first, args: rest });
const client = new Client({ name: 'ts1-small', version: '1.0.0' });
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
