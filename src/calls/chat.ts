import type { Caller } from '../accounts/index.ts';
import { type Bill, measureTokens, openBill, quote } from '../billing/index.ts';
import { unixSeconds } from '../clock.ts';
import { ApiError, UpstreamError } from '../errors.ts';
import { randomBase62 } from '../ids.ts';
import type { JsonObject } from '../json.ts';
import { type ChatRequest, estimatePromptTokens, estimateTokens } from '../requests/index.ts';
import { type Candidate, candidatesFor, firstThatWorks, modelFor } from '../routing/index.ts';
import type { ChatChunk, ChatWork, ChunkStream } from '../vendors/index.ts';

import type { CallContext, CallParts } from './parts.ts';
import { StreamMeter } from './stream-meter.ts';
import { estimated, told, unitsOf, usageView } from './token-usage.ts';

/** One whole answer, settled. Nothing is charged unless it is returned. */
export async function completeChat(
  parts: CallParts,
  caller: Caller,
  request: ChatRequest,
  context: CallContext,
): Promise<JsonObject> {
  const { candidates, bill, inputTokens } = await open(parts, caller, request, context);
  try {
    const { body, usage } = await firstThatWorks(
      parts,
      candidates,
      context.requestId,
      context.signal,
      (candidate, upstream) => chatOf(candidate).complete(request, upstream),
    );
    const tokens =
      usage === undefined ? estimated(inputTokens, estimateTokens(JSON.stringify(body.choices))) : told(usage);
    const charged = await bill.settle(unitsOf(tokens));
    return { ...body, ...ours(parts, request), object: 'chat.completion', usage: usageView(tokens, charged) };
  } catch (error) {
    await bill.refund();
    throw error;
  }
}

/**
 * Resolves once the first chunk is in hand: until then a failure is an error and another candidate may be tried; after
 * it, a failure ends the frames with the error to be told. However the frames end, what was delivered is charged.
 */
export async function startChat(
  parts: CallParts,
  caller: Caller,
  request: ChatRequest,
  context: CallContext,
): Promise<AsyncIterable<string>> {
  const { candidates, bill, inputTokens } = await open(parts, caller, request, context);
  try {
    const started = await firstThatWorks(
      parts,
      candidates,
      context.requestId,
      context.signal,
      async (candidate, upstream) => withFirst(await chatOf(candidate).stream(request, upstream)),
    );
    const meter = new StreamMeter(bill, inputTokens);
    return frames(started, meter, request, ours(parts, request));
  } catch (error) {
    await bill.refund();
    throw error;
  }
}

interface Opened {
  readonly candidates: readonly Candidate[];
  readonly bill: Bill;
  readonly inputTokens: number;
}

async function open(parts: CallParts, caller: Caller, request: ChatRequest, context: CallContext): Promise<Opened> {
  const model = modelFor(parts, caller, request.model, 'chat');
  const candidates = candidatesFor(parts, caller, model, (vendor) => vendor.chat !== undefined);
  const inputTokens = estimatePromptTokens([request.messages, request.tools]);
  const { units, selectors } = measureTokens(inputTokens, request.maxOutputTokens, request.n, model);
  const { accountId, keyId } = caller;
  const order = { accountId, keyId, requestId: context.requestId, model: model.id, endpoint: 'chat' };
  const bill = await openBill(parts, order, quote(model.pricing, selectors, units));
  return { candidates, bill, inputTokens };
}

function chatOf({ vendor }: Candidate): ChatWork {
  if (vendor.chat === undefined) throw new Error(`vendor ${vendor.name} has no chat`);
  return vendor.chat;
}

interface Ids {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

/** In place of what would tell which upstream answered. */
function ours(parts: CallParts, { model }: ChatRequest): Ids {
  return { id: `chatcmpl-${randomBase62(29)}`, created: unixSeconds(parts.clock.now()), model };
}

interface Started {
  readonly first: ChatChunk;
  readonly rest: AsyncIterator<ChatChunk>;
  readonly ready: () => ChatChunk | undefined;
}

/** A stream that ends before it began has failed. */
async function withFirst(chunks: ChunkStream): Promise<Started> {
  const rest = chunks[Symbol.asyncIterator]();
  for (;;) {
    const first = await next(rest);
    if (first === undefined) throw new UpstreamError('garbled', 'the stream ended without a chunk');
    if (first.body !== undefined) return { first, rest, ready: () => chunks.ready?.() };
  }
}

/** Each text is what goes out at once: the frames of all chunks that came together. */
async function* frames(
  { first, rest, ready }: Started,
  meter: StreamMeter,
  request: ChatRequest,
  ids: Ids,
): AsyncIterable<string> {
  const write = frameWriter(ids, request.includeUsage);
  try {
    for (let chunk: ChatChunk | undefined = first; chunk !== undefined; chunk = await next(rest)) {
      let text = '';
      for (let at: ChatChunk | undefined = chunk; at !== undefined; at = ready()) {
        meter.count(deltaOf(at), at.usage);
        if (at.body !== undefined) text += write(at.body);
      }
      if (text !== '') yield text;
    }
    if (request.includeUsage) yield await usageFrame(meter, ids);
  } catch (error) {
    throw error instanceof UpstreamError ? new ApiError('upstream_failed', { cause: error }) : error;
  } finally {
    // Also when whoever takes the frames stops taking them: the upstream is let go, and what was delivered is charged.
    await rest.return?.();
    await meter.settle();
  }
}

const REPLACED = new Set(['id', 'object', 'created', 'model', 'choices', 'usage']);

/** What is the same in every frame is written once. */
function frameWriter({ id, created, model }: Ids, includeUsage: boolean): (body: JsonObject) => string {
  const head = JSON.stringify({ id, object: 'chat.completion.chunk', created, model }).slice(0, -1);
  const tail = includeUsage ? ',"usage":null}\n\n' : '}\n\n';
  return (body) => {
    let more = '';
    for (const name in body) if (!REPLACED.has(name)) more += `,${JSON.stringify(name)}:${JSON.stringify(body[name])}`;
    return `data: ${head},"choices":${JSON.stringify(body.choices)}${more}${tail}`;
  };
}

async function usageFrame(meter: StreamMeter, ids: Ids): Promise<string> {
  const { tokens, charged } = await meter.settle();
  const frame = { ...ids, object: 'chat.completion.chunk', choices: [], usage: usageView(tokens, charged) };
  return `data: ${JSON.stringify(frame)}\n\n`;
}

/** What a chunk adds to the answer, for counting where the upstream does not. */
function deltaOf({ body, usage }: ChatChunk): string {
  return usage === undefined && body !== undefined ? deltaText(body.choices) : '';
}

function deltaText(choices: unknown): string {
  if (!Array.isArray(choices)) return '';
  const first: unknown = choices[0];
  if (typeof first !== 'object' || first === null || !('delta' in first)) return '';
  const { delta } = first;
  if (typeof delta !== 'object' || delta === null) return '';
  return 'content' in delta && typeof delta.content === 'string'
    ? delta.content
    : Object.values(delta).map(String).join();
}

async function next(rest: AsyncIterator<ChatChunk>): Promise<ChatChunk | undefined> {
  const result = await rest.next();
  return result.done === true ? undefined : result.value;
}
