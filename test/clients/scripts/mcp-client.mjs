import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { step } from './step.mjs';

const address = new URL(`${process.env.TOLLGATE_URL}/mcp`);
const options = { requestInit: { headers: { Authorization: `Bearer ${process.env.TOLLGATE_KEY}` } } };
const identity = { name: 'test', version: '1.0.0' };
const CLIENTS = {
  '@modelcontextprotocol/client': async () => {
    const client = new Client(identity, { versionNegotiation: { mode: 'auto' } });
    await client.connect(new StreamableHTTPClientTransport(address, options));
    return client;
  },
  '@modelcontextprotocol/sdk': async () => {
    const client = new OldClient(identity);
    await client.connect(new OldTransport(address, options));
    return client;
  },
};

for (const [name, connect] of Object.entries(CLIENTS)) {
  let client;
  await step(`listTools (${name})`, async () => {
    client = await connect();
    return { names: (await client.listTools()).tools.map((each) => each.name) };
  });
  await step(`callTool credits (${name})`, async () => {
    const { content, isError } = await client.callTool({ name: 'credits', arguments: {} });
    return { text: content[0].text, isError };
  });
  await step(`callTool generate_image (${name})`, async () => {
    const asked = { prompt: `a gate, for ${name}`, size: '256x256' };
    const { content, isError } = await client.callTool({ name: 'generate_image', arguments: asked });
    return { types: content.map(({ type }) => type), text: content[0].text, isError, credits: 10 };
  });
  await client?.close();
}
