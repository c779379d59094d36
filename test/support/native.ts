import { createHash } from 'node:crypto';
import { Agent, request } from 'undici';
import type { GeminiEmulator } from '../../src/vendors/gemini/emulator.ts';
import type { WrittenDocument } from './documents.ts';
import type { Gateway } from './gateway.ts';
import { tokenModel } from './paid-calls.ts';

export const UPSTREAM_KEY = 'key-of-the-operator';
export const MARKER = 'marker-7d20';

/** What the upstream is asked for when these models are called. */
export const MODELS = { native: 'wire-native', a: 'wire-a', 'a:b': 'wire-ab', 'ns/a:b': 'wire-ns-ab' } as const;

/** One upstream of the native format, its models, and one that only chats. */
export function nativeDocument(emulator: GeminiEmulator): WrittenDocument {
  const credits = { input_per_k: 1, cached_per_k: 0.25, output_per_k: 4, reasoning_per_k: 8 };
  const fields = { endpoints: ['native'], pricing: { mode: 'per_token', credits } };
  const route = (model: string) => ({ routes: [{ upstream: 'native', model }] });
  return {
    upstreams: [{ id: 'native', vendor: 'gemini', base_url: emulator.url, api_key: UPSTREAM_KEY }],
    models: [
      ...Object.entries(MODELS).map(([id, wire]) => tokenModel(id, [], { ...fields, ...route(wire) })),
      tokenModel('chat-only', [], route('wire-chat')),
    ],
  };
}

export const HELLO = '{"contents":[{"parts":[{"text":"Hi"}]}]}';

export const hash = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex');

export interface RawAnswer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly bytes: Buffer;
  readonly text: string;
  /** Whether the connection was cut before the answer was whole. */
  readonly isCut: boolean;
}

/** Posts bytes and takes bytes, also to addresses that no contract names. */
export async function post(
  gateway: Gateway,
  key: string,
  target: string,
  { body = HELLO, headers = {} }: { body?: string | Buffer; headers?: Record<string, string> } = {},
): Promise<RawAnswer> {
  await using dispatcher = new DisposableAgent();
  const { statusCode, ...answer } = await request(`${gateway.url}/v1beta/models/${target}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-goog-api-key': key, ...headers },
    body,
    dispatcher,
  });
  const pieces: Buffer[] = [];
  let isCut = false;
  try {
    for await (const piece of answer.body) pieces.push(piece);
  } catch {
    isCut = true;
  }
  const bytes = Buffer.concat(pieces);
  return { status: statusCode, headers: answer.headers, bytes, text: bytes.toString('utf8'), isCut };
}

class DisposableAgent extends Agent {
  async [Symbol.asyncDispose](): Promise<void> {
    await this.destroy();
  }
}
