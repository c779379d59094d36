import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { type Fault, UpstreamError } from '../../../errors.ts';
import type { JsonObject } from '../../../json.ts';
import type { ChatRequest } from '../../../schemas/index.ts';
import type { Upstream, UpstreamPools } from '../../index.ts';
import type { ChatChunk, ChatWork, NativeAction, NativeRequest, NativeWork } from '../../vendor.ts';
import type { GeminiEmulator } from '../emulator.ts';
import { work as gemini } from '../work.ts';

export const KEY = 'key-of-the-operator';
export const MARKER = 'marker-5b1f';

export const chat: ChatWork = gemini.chat ?? assert.fail('no chat');
export const native: NativeWork = gemini.native ?? assert.fail('no native');

export function upstreamAt(
  { url: address }: GeminiEmulator,
  pools: UpstreamPools,
  changes: Partial<Upstream> = {},
): Upstream {
  const signal = new AbortController().signal;
  return {
    model: 'gemini-2.5-flash',
    address,
    apiKey: KEY,
    timeoutMs: 10_000,
    signal,
    pools,
    ...changes,
  };
}

export function chatOf(body: JsonObject = {}): ChatRequest {
  const messages = [{ role: 'user', content: 'Hi' }];
  const whole = { model: 'public', messages, ...body };
  return {
    model: 'public',
    stream: false,
    includeUsage: false,
    messages: whole.messages,
    tools: [],
    maxOutputTokens: undefined,
    n: 1,
    body: whole,
  };
}

const ODD_BODY =
  '{ "contents":[{"parts":[{"text":"Hi \\u00e4"}]}],\n "generationConfig":{"seed":1,"seed":12345678901234567890} }';

export function nativeOf(action: NativeAction, changes: Partial<NativeRequest> = {}): NativeRequest {
  return { action, body: Buffer.from(ODD_BODY), query: '', hasCustomFormat: false, accept: undefined, ...changes };
}

export const hash = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
export const isFault = (fault: Fault) => (error: unknown) => error instanceof UpstreamError && error.fault === fault;

/** What came before the end, and what the end was. */
export async function drain<Item>(items: AsyncIterable<Item>): Promise<{ items: Item[]; error: unknown }> {
  const taken: Item[] = [];
  try {
    for await (const item of items) taken.push(item);
    return { items: taken, error: undefined };
  } catch (error) {
    return { items: taken, error };
  }
}

export function textOf(chunks: readonly ChatChunk[]): string {
  return chunks
    .flatMap(({ body }) => (Array.isArray(body?.choices) ? body.choices : []))
    .map((choice) => choice.delta.content ?? '')
    .join('');
}

export const frame = (text: string, finishReason?: string) => ({
  candidates: [{ content: { parts: [{ text }] }, ...(finishReason === undefined ? {} : { finishReason }) }],
  usageMetadata: { promptTokenCount: 5, candidatesTokenCount: text.length },
});
