import type { Caller } from '../accounts/index.ts';
import { type Bill, measureTokens, openBill, quote } from '../billing/index.ts';
import { unixSeconds } from '../clock.ts';
import { ApiError, UpstreamError } from '../errors.ts';
import { randomBase62 } from '../ids.ts';
import type { JsonObject } from '../json.ts';
import { type ChatRequest, estimatePromptTokens, estimateTokens } from '../requests/index.ts';
import { type Candidate, candidatesFor, firstThatWorks, modelFor } from '../routing/index.ts';
import type { ChatChunk, ChatWork } from '../vendors/index.ts';

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

/** What would tell which upstream answered. */
function ours(parts: CallParts, { model }: ChatRequest) {
  return { id: `chatcmpl-${randomBase62(29)}`, created: unixSeconds(parts.clock.now()), model };
}

interface Started {
  readonly first: ChatChunk;
  readonly rest: AsyncIterator<ChatChunk>;
}

/** A stream that ends before it began has failed. */
async function withFirst(chunks: AsyncIterable<ChatChunk>): Promise<Started> {
  const rest = chunks[Symbol.asyncIterator]();
  for (;;) {
    const { value, done } = await rest.next();
    if (done === true) throw new UpstreamError('garbled', 'the stream ended without a chunk');
    if (value.body !== undefined) return { first: value, rest };
  }
}

async function* frames(
  { first, rest }: Started,
  meter: StreamMeter,
  request: ChatRequest,
  ids: ReturnType<typeof ours>,
): AsyncIterable<string> {
  try {
    for (let chunk: ChatChunk | undefined = first; chunk !== undefined; chunk = await next(rest)) {
      const text = chunk.body === undefined ? '' : frame(chunk.body, request, ids);
      meter.count(deltaOf(chunk), chunk.usage);
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
  const { value, done } = await rest.next();
  return done === true ? undefined : value;
}

function frame(body: JsonObject, request: ChatRequest, ids: ReturnType<typeof ours>): string {
  const { usage: _, ...chunk } = body;
  const whole = { ...chunk, ...ids, object: 'chat.completion.chunk' };
  return JSON.stringify(request.includeUsage ? { ...whole, usage: null } : whole);
}

async function usageFrame(meter: StreamMeter, ids: ReturnType<typeof ours>): Promise<string> {
  const { tokens, charged } = await meter.settle();
  return JSON.stringify({ ...ids, object: 'chat.completion.chunk', choices: [], usage: usageView(tokens, charged) });
}
