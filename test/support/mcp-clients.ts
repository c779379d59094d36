import assert from 'node:assert/strict';
import { Client as ClientV2, StreamableHTTPClientTransport as TransportV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

/** The official clients: of both majors, and of the newer one as it is by default and as it asks for the newest revision. */
export const CLIENTS = ['v1', 'v2', 'v2 auto'] as const;
export type ClientName = (typeof CLIENTS)[number];

export interface Progress {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

interface CallSettings {
  readonly onprogress?: (progress: Progress) => void;
  readonly signal?: AbortSignal;
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into results of every shape
export type Result = any;

/** What the tests need of a client, whichever it is. */
export interface McpClient extends AsyncDisposable {
  tools(): Promise<readonly Result[]>;
  call(name: string, args?: Record<string, unknown>, settings?: CallSettings): Promise<Result>;
  /** As the server was asked for. */
  readonly revision: string | undefined;
}

export async function connect(name: ClientName, url: string, headers: Record<string, string>): Promise<McpClient> {
  const identity = { name: 'tests', version: '1.0.0' };
  const address = new URL(`${url}/mcp`);
  const requestInit = { headers };
  if (name === 'v1') {
    const client = new ClientV1(identity);
    const transport = new TransportV1(address, { requestInit });
    await client.connect(transport);
    return {
      tools: async () => (await client.listTools()).tools,
      call: (tool, args = {}, settings) => client.callTool({ name: tool, arguments: args }, undefined, settings),
      revision: transport.protocolVersion,
      [Symbol.asyncDispose]: () => client.close(),
    };
  }
  const client = new ClientV2(identity, name === 'v2' ? {} : { versionNegotiation: { mode: 'auto' } });
  const transport = new TransportV2(address, { requestInit });
  await client.connect(transport);
  return {
    tools: async () => (await client.listTools()).tools,
    call: (tool, args = {}, settings) => client.callTool({ name: tool, arguments: args }, settings),
    revision: client.getNegotiatedProtocolVersion(),
    [Symbol.asyncDispose]: () => client.close(),
  };
}

/** The first block of a result, which is always text. */
export function textOf({ content }: Result): string {
  assert.equal(content[0]?.type, 'text', JSON.stringify(content));
  return content[0].text;
}

/** What went well. */
export function succeeded(result: Result): Result {
  assert.notEqual(result.isError, true, JSON.stringify(result.content));
  return result;
}

/** Why it did not. */
export function refusal(result: Result): string {
  assert.equal(result.isError, true, JSON.stringify(result.content));
  return textOf(result);
}

export function jobIn(text: string): string {
  return /\bjob_\w+/.exec(text)?.[0] ?? assert.fail(text);
}
