import type { Caller } from '../accounts/index.ts';
import { type Bill, measureTokens, openBill, outputTokensPerAnswer, quote } from '../billing/index.ts';
import { unixSeconds } from '../clock.ts';
import { randomBase62 } from '../ids.ts';
import type { JsonObject } from '../json.ts';
import type { ChatRequest } from '../requests/index.ts';
import { type Candidate, candidatesFor, firstThatWorks, modelFor, noteLateFault } from '../routing/index.ts';
import { estimatePromptTokens, estimateTokens } from '../tokens.ts';
import type { ChatWork } from '../vendors/index.ts';
import { ChatFrames, type ChatIds, withFirst } from './chat-frames.ts';
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
  const { candidates, bill, inputTokens, priced } = await open(parts, caller, request, context);
  try {
    const { body, usage } = await firstThatWorks(
      parts,
      candidates,
      context.requestId,
      context.signal,
      (candidate, upstream) => chatOf(candidate).complete(priced, upstream),
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
  const { candidates, bill, inputTokens, priced } = await open(parts, caller, request, context);
  try {
    const started = await firstThatWorks(
      parts,
      candidates,
      context.requestId,
      context.signal,
      async (candidate, upstream) =>
        withFirst(await chatOf(candidate).stream(priced, upstream), (error) =>
          noteLateFault(parts, candidate, context.requestId, error),
        ),
    );
    return new ChatFrames(started, new StreamMeter(bill, inputTokens), ours(parts, request), request.includeUsage);
  } catch (error) {
    await bill.refund();
    throw error;
  }
}

interface Opened {
  readonly candidates: readonly Candidate[];
  readonly bill: Bill;
  readonly inputTokens: number;
  /** The request with what is held for it. */
  readonly priced: ChatRequest;
}

async function open(parts: CallParts, caller: Caller, request: ChatRequest, context: CallContext): Promise<Opened> {
  const model = modelFor(parts, caller, request.model, 'chat');
  const candidates = candidatesFor(parts, caller, model, ({ vendor }) => vendor.chat !== undefined);
  const inputTokens = estimatePromptTokens([request.messages, request.tools]);
  const heldOutputTokens = outputTokensPerAnswer(request.maxOutputTokens, model);
  const { units, selectors } = measureTokens(inputTokens, heldOutputTokens, request.n, model);
  const { accountId, keyId, hasKeyLimit } = caller;
  const order = { accountId, keyId, hasKeyLimit, requestId: context.requestId, model: model.id, endpoint: 'chat' };
  const bill = await openBill(parts, order, quote(model.pricing, selectors, units));
  return { candidates, bill, inputTokens, priced: { ...request, heldOutputTokens } };
}

function chatOf({ vendor }: Candidate): ChatWork {
  if (vendor.chat === undefined) throw new Error(`vendor ${vendor.name} has no chat`);
  return vendor.chat;
}

/** In place of what would tell which upstream answered. */
function ours(parts: CallParts, { model }: ChatRequest): ChatIds {
  return { id: `chatcmpl-${randomBase62(29)}`, created: unixSeconds(parts.clock.now()), model };
}
