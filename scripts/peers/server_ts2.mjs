// A small server on the TypeScript SDK 2.x, which speaks both eras: stdio, or Streamable HTTP on the port given.
import http from 'node:http';
import { McpServer, ResourceTemplate, acceptedContent, completable, createMcpHandler, inputRequired } from '@modelcontextprotocol/server';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod';

const nothing = z.object({});
const text = words => ({ content: [{ type: 'text', text: words }] });
const rest = milliseconds => new Promise(done => setTimeout(done, milliseconds));

function make() {
  const lists = { listChanged: true };
  const server = new McpServer(
    { name: 'ts2-demo', version: '1.0.0', title: 'Demo' },
    { capabilities: { logging: {}, tools: lists, prompts: lists, resources: { subscribe: true, ...lists } } },
  );
  tools(server);
  questions(server);
  server.registerResource('a', 'demo://a', { mimeType: 'text/plain' }, async uri => ({
    contents: [{ uri: uri.href, text: 'A' }],
  }));
  const template = new ResourceTemplate('demo://x/{id}', {
    list: async () => ({ resources: [{ uri: 'demo://x/1', name: 'x1' }] }),
    complete: { id: () => ['1', '2'] },
  });
  server.registerResource('x', template, {}, async uri => ({ contents: [{ uri: uri.href, blob: 'AAE=' }] }));
  const language = completable(z.string(), start => ['python', 'rust'].filter(word => word.startsWith(start)));
  server.registerPrompt('explain', { argsSchema: z.object({ language, topic: z.string().optional() }) }, given => ({
    messages: [{ role: 'user', content: { type: 'text', text: given.language } }],
  }));
  return server;
}

function tools(server) {
  const numbers = z.object({ a: z.number(), b: z.number().int().optional() });
  server.registerTool('add', { inputSchema: numbers, outputSchema: z.object({ sum: z.number() }) }, async ({ a, b }) => ({
    ...text(String(a)),
    structuredContent: { sum: a + (b ?? 0) },
  }));
  server.registerTool('fail', { inputSchema: nothing }, async () => {
    throw new Error('as asked');
  });
  server.registerTool('slow', { inputSchema: z.object({ steps: z.number() }) }, async ({ steps }, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken;
    for (let progress = 1; progress <= steps && !mcpReq.signal?.aborted; progress++) {
      if (progressToken !== undefined) {
        await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: steps } });
      }
      await mcpReq.log('info', `step ${progress}`).catch(error => console.error(error.message));
      await rest(150);
    }
    return text('done');
  });
  server.registerTool('link', { inputSchema: nothing }, async () => ({
    content: [
      { type: 'resource_link', uri: 'demo://a', name: 'a' },
      { type: 'resource', resource: { uri: 'demo://a', text: 'A' } },
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
    ],
  }));
  let added;
  server.registerTool('touch', { inputSchema: nothing }, async () => {
    added ??= server.registerTool('added', { inputSchema: nothing }, async () => text('new'));
    await server.server.sendResourceUpdated({ uri: 'demo://a' }).catch(error => console.error(error.message));
    return text('ok');
  });
}

function questions(server) {
  const confirmation = z.object({ ok: z.boolean(), note: z.string().optional() });
  server.registerTool('deploy', { inputSchema: z.object({ where: z.string() }) }, async ({ where }, { mcpReq }) => {
    if (acceptedContent(mcpReq.inputResponses, 'sure', confirmation)) return text(`deployed to ${where}`);
    const sure = inputRequired.elicit({ message: 'Sure?', requestedSchema: confirmation });
    return inputRequired({ inputRequests: { sure }, requestState: 'state-1' });
  });
  server.registerTool('think', { inputSchema: nothing }, async (_, { mcpReq }) => {
    if (mcpReq.inputResponses?.thought) return text(Object.keys(mcpReq.inputResponses).join());
    const messages = [{ role: 'user', content: { type: 'text', text: 'q' } }];
    const thought = inputRequired.createMessage({ messages, maxTokens: 5 });
    return inputRequired({ inputRequests: { thought, folders: inputRequired.listRoots() } });
  });
}

const port = process.argv[2];
if (port) http.createServer(toNodeHandler(createMcpHandler(make))).listen(Number(port), '127.0.0.1');
else serveStdio(make);
