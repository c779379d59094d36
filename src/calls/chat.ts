import type { Caller } from '../accounts/index.ts';
import { type Bill, outputTokensPerAnswer } from '../billing/index.ts';
import { ApiError, type UpstreamError } from '../errors.ts';
import type { ChatFormat, PassThrough, Settled } from '../formats/index.ts';
import type { JsonValue } from '../json.ts';
import { type Candidate, firstThatWorks, noteLateFault, noteOverclaim } from '../routing/index.ts';
import type { ChatRequest } from '../schemas/index.ts';
import { estimatePromptTokens, estimateTokens } from '../text/index.ts';
import type { ChatWork, FormatWork, TokenUsage, Upstream } from '../vendors/index.ts';
import type { CallContext, CallDeps } from './deps.ts';
import { addedByChunk, type FrameStream, StreamFrames, withFirst } from './stream-frames.ts';
import { StreamMeter } from './stream-meter.ts';
import { type FoundCall, findCall, holdTokens, type TokenCall } from './token-call.ts';
import { type TokenOrder, textBytesIn } from './token-order.ts';
import { estimatedTokens, reportedTokens, tokenUnits } from './token-usage.ts';

/** One whole answer in its format, settled. Nothing is charged unless it is returned. */
export async function completeChat<Answer>(
  deps: CallDeps,
  caller: Caller,
  request: ChatRequest,
  format: ChatFormat<Answer>,
  context: CallContext,
): Promise<Answer> {
  const { candidates, bill, order, priced } = await openCall(deps, caller, request, format, context);
  try {
    const { candidate, answer } = await firstThatWorks(deps, candidates, context, async (candidate, upstream) => ({
      candidate,
      answer: await ask(format, priced, candidate, upstream),
    }));
    const { usage, output, tell } = answer;
    const tokens =
      usage === undefined
        ? estimatedTokens(order, estimateTokens(JSON.stringify(output) ?? ''))
        : reportedTokens(usage, order, (detail) => noteOverclaim(deps, candidate, context.requestId, detail));
    return await tell({ tokens, charged: await bill.settle(tokenUnits(tokens)) });
  } catch (error) {
    await bill.refund();
    throw error;
  }
}

/** A whole answer of one upstream, before it is settled. */
interface WholeAnswer<Answer> {
  readonly usage: TokenUsage | undefined;
  /** What the model wrote. */
  readonly output: JsonValue | undefined;
  readonly tell: (settled: Settled) => Answer | Promise<Answer>;
}

async function ask<Answer>(
  format: ChatFormat<Answer>,
  request: ChatRequest,
  candidate: Candidate,
  upstream: Upstream,
): Promise<WholeAnswer<Answer>> {
  const passed = passedTo(candidate, format);
  if (passed === undefined) {
    const { body, usage } = await chatOf(candidate).complete(request, upstream);
    return { usage, output: body.choices, tell: (settled) => format.whole(body, settled) };
  }
  const { work, through } = passed;
  const { upstreamId } = candidate;
  const { body, usage } = await work.complete(through.request(upstreamId), upstream);
  return { usage, output: through.outputOf(body), tell: (settled) => through.whole(body, settled, upstreamId) };
}

/**
 * Resolves once the first chunk is in hand: until then a failure is an error and another candidate may be tried; after
 * it, a failure ends the frames with the error to be told. However the frames end, what was delivered is charged.
 */
export async function startChat(
  deps: CallDeps,
  caller: Caller,
  request: ChatRequest,
  format: ChatFormat<unknown>,
  context: CallContext,
): Promise<FrameStream> {
  const { candidates, bill, order, priced } = await openCall(deps, caller, request, format, context);
  const { requestId } = context;
  try {
    return await firstThatWorks<FrameStream>(deps, candidates, context, async (candidate, upstream) => {
      const terms = () => ({
        meter: new StreamMeter(bill, order, (detail) => noteOverclaim(deps, candidate, requestId, detail)),
        onFault: (error: UpstreamError) => noteLateFault(deps, candidate, requestId, error),
      });
      const passed = passedTo(candidate, format);
      if (passed === undefined) {
        const started = await withFirst(await chatOf(candidate).stream(priced, upstream));
        return new StreamFrames(started, {
          ...terms(),
          writer: format.writer(order.inputTokens),
          addedBy: addedByChunk,
        });
      }
      const { work, through } = passed;
      const { upstreamId } = candidate;
      const started = await withFirst(await work.stream(through.request(upstreamId), upstream));
      return new StreamFrames(started, {
        ...terms(),
        writer: through.writer(upstreamId),
        addedBy: ({ added }) => added,
      });
    });
  } catch (error) {
    await bill.refund();
    throw error;
  }
}

interface Opened {
  readonly candidates: readonly Candidate[];
  readonly bill: Bill;
  readonly order: TokenOrder;
  /** The request with what is held for it. */
  readonly priced: ChatRequest;
}

async function openCall(
  deps: CallDeps,
  caller: Caller,
  request: ChatRequest,
  format: ChatFormat<unknown>,
  context: CallContext,
): Promise<Opened> {
  const call: TokenCall = {
    endpoint: 'chat',
    model: request.model,
    isStreamed: request.stream,
    isAble: (candidate) =>
      passedTo(candidate, format) !== undefined ||
      (candidate.vendor.chat !== undefined && format.refusal === undefined),
    requested: () => ({
      inputTokens: estimatePromptTokens([request.messages, request.tools]),
      maxOutputTokens: request.maxOutputTokens,
      answers: request.n,
      writesCache: () => format.writesCache?.() ?? false,
      textBytes: () => textBytesOf(request),
    }),
    decidedBy: `The prompt and "${format.limitField}"`,
  };
  const found = findAble(deps, caller, call, format);
  const bill = await holdTokens(deps, caller, call, found, context);
  const heldOutputTokens = outputTokensPerAnswer(request.maxOutputTokens, found.model);
  return { candidates: found.candidates, bill, order: found.order, priced: { ...request, heldOutputTokens } };
}

/** Where none of the candidates speaks the format, its own refusal says more than that there are none. */
function findAble(deps: CallDeps, caller: Caller, call: TokenCall, { refusal }: ChatFormat<unknown>): FoundCall {
  try {
    return findCall(deps, caller, call);
  } catch (error) {
    const isNoneAble = error instanceof ApiError && error.code === 'no_capable_provider';
    throw isNoneAble && refusal !== undefined ? refusal : error;
  }
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

interface Passed<Answer> {
  readonly work: FormatWork;
  readonly through: PassThrough<Answer>;
}

/** Undefined where the candidate's upstream is asked over its chat. */
export function passedTo<Answer>(
  candidate: Candidate,
  { passThrough }: ChatFormat<Answer>,
): Passed<Answer> | undefined {
  const work = passThrough?.workOf(candidate.vendor);
  return passThrough !== undefined && work?.speaks(candidate) === true ? { work, through: passThrough } : undefined;
}
