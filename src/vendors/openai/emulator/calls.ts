import assert from 'node:assert/strict';
import { type Fault, UpstreamError } from '../../../errors.ts';
import type { JsonObject } from '../../../json.ts';
import type { ChatRequest } from '../../../schemas/index.ts';
import { type ChatChunk, type ChatWork, type Upstream, UpstreamPools } from '../../index.ts';
import { COMPATIBLE, type ERRORS, OpenAiEmulator, type OpenAiOptions, type Script } from '../emulator.ts';
import { work as vendor } from '../work.ts';

export { isFault } from '../../emulator/calls.ts';

export const MARKER = 'mk7Q';
export const KEY = 'sk-upstream';
export const HELLO = [{ role: 'user', content: 'Hello' }];

function chatWork(): ChatWork {
  const work = vendor.chat;
  assert.ok(work);
  return work;
}

export const chat = chatWork();

/** A request of which this adaptor reads only the body, the model and whether it streams. */
export function requestOf(fields: JsonObject = {}): ChatRequest {
  const body: JsonObject = { model: 'public', messages: HELLO, ...fields };
  const unread = { includeUsage: false, messages: HELLO, tools: [], maxOutputTokens: undefined, n: 1 };
  return { ...unread, model: 'public', stream: body.stream === true, body };
}

/** Sends every request to the emulator, whatever host it is meant for. */
class EmulatedPools extends UpstreamPools {
  readonly #origin: string;
  constructor(origin: string) {
    super();
    this.#origin = origin;
  }
  override at(address: string): ReturnType<UpstreamPools['at']> {
    return super.at(this.#origin + new URL(address).pathname);
  }
}

export async function withEmulator(
  options: OpenAiOptions,
  run: (emulator: OpenAiEmulator, upstream: Upstream) => Promise<void>,
): Promise<void> {
  const emulator = new OpenAiEmulator({ marker: MARKER, ...options });
  await emulator.start();
  const address = COMPATIBLE[options.speaks ?? '']?.address ?? emulator.url;
  // Hosts that a vendor is known by decide for themselves.
  const dialect = address.startsWith('http://') ? options.speaks : undefined;
  const pools = new EmulatedPools(emulator.origin);
  const { signal } = new AbortController();
  try {
    const apiKey = options.apiKey ?? '';
    await run(emulator, { model: 'gpt-x', address, dialect, apiKey, timeoutMs: 60_000, signal, pools });
  } finally {
    await pools.close();
    await emulator.stop();
  }
}

export async function collect(chunks: AsyncIterable<ChatChunk>): Promise<ChatChunk[]> {
  return Array.fromAsync(chunks, parsed);
}

/** With its choices in its body, however they came. */
export function parsed({ body, written, usage }: ChatChunk): ChatChunk {
  if (body === undefined || written === undefined) return { body, usage };
  return { body: { ...body, choices: JSON.parse(written.choices) }, usage };
}

interface Said {
  readonly text: string;
  readonly reasoning: string;
  readonly toolCalls: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
  readonly finishReason: unknown;
}

export interface Delta {
  readonly content?: string | null;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly { index: number; id?: string; function: { name?: string; arguments: string } }[];
}

/** Puts a stream together as a client library does. */
export function together(chunks: readonly ChatChunk[]): Said {
  let [text, reasoning, finishReason]: [string, string, unknown] = ['', '', null];
  const toolCalls: { id: string; name: string; arguments: string }[] = [];
  for (const { body } of chunks) {
    const [choice] = (body?.choices ?? []) as unknown as { delta: Delta; finish_reason: unknown }[];
    text += choice?.delta.content ?? '';
    reasoning += choice?.delta.reasoning_content ?? '';
    finishReason = choice?.finish_reason ?? finishReason;
    for (const { index, id = '', function: call } of choice?.delta.tool_calls ?? []) {
      const known = toolCalls[index] ?? { id, name: call.name ?? '', arguments: '' };
      toolCalls[index] = { ...known, arguments: known.arguments + call.arguments };
    }
  }
  return { text, reasoning, toolCalls, finishReason };
}

export function lastUsage(chunks: readonly ChatChunk[]): number[] | undefined {
  const usage = chunks.findLast((chunk) => chunk.usage !== undefined)?.usage;
  return usage && [usage.inputTokens, usage.cachedTokens, usage.outputTokens, usage.reasoningTokens];
}

export const TOOL_CALLS = [
  { id: 'call_1', name: 'weather', arguments: '{"city": "Rome", "days": 2}' },
  { id: 'call_2', name: 'time', arguments: '{"zone": "CET"}' },
];
export const USAGE = {
  prompt_tokens: 100,
  completion_tokens: 50,
  total_tokens: 150,
  prompt_tokens_details: { cached_tokens: 60 },
  completion_tokens_details: { reasoning_tokens: 20 },
};

export const CONTENT = { choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: null }] };
export const STOP = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };

/** What comes of a stream: its chunks, and how it failed if it did. */
export async function outcome(
  script: Script,
  options: OpenAiOptions = {},
): Promise<{ count: number; fault: Fault | undefined }> {
  let [count, fault]: [number, Fault | undefined] = [0, undefined];
  await withEmulator(options, async (emulator, upstream) => {
    emulator.script(script);
    try {
      for await (const _chunk of await chat.stream(requestOf({ stream: true }), upstream)) count++;
    } catch (error) {
      assert.ok(error instanceof UpstreamError, String(error));
      fault = error.fault;
    }
  });
  return { count, fault };
}

/** What each refusal of the vendor must become. */
export const FAULTS: Readonly<Record<keyof typeof ERRORS, Fault>> = {
  invalid: 'client',
  tooLong: 'client',
  policy: 'policy',
  moderated: 'policy',
  pictureModerated: 'policy',
  hardLimit: 'account',
  badKey: 'account',
  unpaid: 'account',
  forbidden: 'account',
  noModel: 'config',
  tooSlow: 'timeout',
  conflict: 'server',
  tooLarge: 'unfit',
  unprocessable: 'client',
  throttled: 'rate',
  slowDown: 'rate',
  noCredit: 'account',
  noQuota: 'account',
  broken: 'server',
  overloaded: 'server',
};
