import type { Caller } from '../accounts/index.ts';
import { type Bill, openBill, outputTokensPerAnswer, quote } from '../billing/index.ts';
import { unixSeconds } from '../clock.ts';
import { randomBase62 } from '../ids.ts';
import type { JsonObject } from '../json.ts';
import {
  type Candidate,
  candidatesFor,
  firstThatWorks,
  modelFor,
  noteLateFault,
  noteOverclaim,
} from '../routing/index.ts';
import type { ChatRequest } from '../schemas/index.ts';
import { estimatePromptTokens, estimateTokens } from '../text/index.ts';
import type { ChatWork } from '../vendors/index.ts';
import { ChatFrames, type ChatIds, withFirst } from './chat-frames.ts';
import type { CallContext, CallDeps } from './deps.ts';
import { StreamMeter } from './stream-meter.ts';
import { type TokenOrder, textBytesIn, tokenOrder } from './token-order.ts';
import { estimatedTokens, reportedTokens, tokenUnits, tokenUsageView } from './token-usage.ts';

/** One whole answer, settled. Nothing is charged unless it is returned. */
export async function completeChat(
  deps: CallDeps,
  caller: Caller,
  request: ChatRequest,
  context: CallContext,
): Promise<JsonObject> {
  const { candidates, bill, order, priced } = await openCall(deps, caller, request, context);
  try {
    const { candidate, answer } = await firstThatWorks(deps, candidates, context, async (candidate, upstream) => ({
      candidate,
      answer: await chatOf(candidate).complete(priced, upstream),
    }));
    const { body, usage } = answer;
    const tokens =
      usage === undefined
        ? estimatedTokens(order, estimateTokens(JSON.stringify(body.choices)))
        : reportedTokens(usage, order, (detail) => noteOverclaim(deps, candidate, context.requestId, detail));
    const charged = await bill.settle(tokenUnits(tokens));
    return { ...body, ...gatewayIds(deps, request), object: 'chat.completion', usage: tokenUsageView(tokens, charged) };
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
  deps: CallDeps,
  caller: Caller,
  request: ChatRequest,
  context: CallContext,
): Promise<AsyncIterable<string>> {
  const { candidates, bill, order, priced } = await openCall(deps, caller, request, context);
  try {
    const started = await firstThatWorks(deps, candidates, context, async (candidate, upstream) => ({
      candidate,
      chunks: await withFirst(await chatOf(candidate).stream(priced, upstream), (error) =>
        noteLateFault(deps, candidate, context.requestId, error),
      ),
    }));
    const meter = new StreamMeter(bill, order, (detail) =>
      noteOverclaim(deps, started.candidate, context.requestId, detail),
    );
    return new ChatFrames(started.chunks, meter, gatewayIds(deps, request), request.includeUsage);
  } catch (error) {
    await bill.refund();
    throw error;
  }
}

const HELD =
  'The prompt and "max_tokens" decide it, or where that is not given the model\'s max_output_tokens: fewer need less.';

interface Opened {
  readonly candidates: readonly Candidate[];
  readonly bill: Bill;
  readonly order: TokenOrder;
  /** The request with what is held for it. */
  readonly priced: ChatRequest;
}

async function openCall(deps: CallDeps, caller: Caller, request: ChatRequest, context: CallContext): Promise<Opened> {
  const model = modelFor(deps, caller, request.model, 'chat');
  const candidates = candidatesFor(deps, caller, model, ({ vendor }) => vendor.chat !== undefined);
  const requested = {
    inputTokens: estimatePromptTokens([request.messages, request.tools]),
    maxOutputTokens: request.maxOutputTokens,
    answers: request.n,
    textBytes: () => textBytesOf(request),
  };
  const order = tokenOrder(requested, model);
  const { inputTokens, outputTokens } = order;
  const { accountId, keyId, hasKeyLimit } = caller;
  const { requestId, trace } = context;
  const booked = {
    accountId,
    keyId,
    hasKeyLimit,
    requestId,
    model: model.id,
    endpoint: 'chat',
    decidedBy: HELD,
    trace,
  };
  const bill = await openBill(deps, booked, quote(model.pricing, {}, { inputTokens, outputTokens, requests: 1 }));
  const heldOutputTokens = outputTokensPerAnswer(request.maxOutputTokens, model);
  return { candidates, bill, order, priced: { ...request, heldOutputTokens } };
}

/** Undefined where a part of a message is more than its text, or an upstream's own tool may add to it. */
function textBytesOf({ body, messages, tools }: ChatRequest): number | undefined {
  const isText = messages.every(isTextMessage) && tools.every((tool) => typeAt(tool) === 'function');
  return isText ? textBytesIn(body) : undefined;
}

function isTextMessage(message: unknown): boolean {
  const content = typeof message === 'object' && message !== null && 'content' in message ? message.content : null;
  return !Array.isArray(content) || content.every((part) => typeof part === 'string' || typeAt(part) === 'text');
}

function typeAt(value: unknown): unknown {
  return typeof value === 'object' && value !== null && 'type' in value ? value.type : undefined;
}

function chatOf({ vendor }: Candidate): ChatWork {
  if (vendor.chat === undefined) throw new Error(`vendor ${vendor.name} has no chat`);
  return vendor.chat;
}

/** The gateway's own ids, in place of the upstream's, which would tell which upstream answered. */
function gatewayIds(deps: CallDeps, { model }: ChatRequest): ChatIds {
  return { id: `chatcmpl-${randomBase62(29)}`, created: unixSeconds(deps.clock.now()), model };
}
