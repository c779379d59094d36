import type { Caller } from '../accounts/index.ts';
import type { Bill } from '../billing/index.ts';
import type { MicroCredits } from '../credits.ts';
import { ApiError, UpstreamError } from '../errors.ts';
import { type Candidate, firstThatWorks, noteLateFault, noteOverclaim } from '../routing/index.ts';
import type { NativeTokens } from '../schemas/index.ts';
import { estimateTokens } from '../text/index.ts';
import type { NativeAnswer, NativeFrame, NativeRequest, NativeWork } from '../vendors/index.ts';
import type { CallContext, CallDeps } from './deps.ts';
import { StreamMeter } from './stream-meter.ts';
import { type FoundCall, findCall, holdTokens, type TokenCall } from './token-call.ts';
import type { TokenOrder } from './token-order.ts';
import { estimatedTokens, type OnExcess, reportedTokens, tokenUnits } from './token-usage.ts';

/** A call in the native format: its bytes, and what they ask for, for the price. */
export interface NativeCall {
  readonly model: string;
  readonly request: NativeRequest;
  readonly tokens: NativeTokens;
}

/** The upstream's answer, untouched. Counting tokens is free. */
export async function callNative(
  deps: CallDeps,
  caller: Caller,
  call: NativeCall,
  context: CallContext,
): Promise<{ answer: NativeAnswer; charged: MicroCredits }> {
  const { candidates, bill, order } = await openCall(deps, caller, call, context);
  try {
    const { candidate, answer } = await firstThatWorks(deps, candidates, context, async (candidate, upstream) => ({
      candidate,
      answer: await nativeOf(candidate).call(call.request, upstream),
    }));
    if (bill === undefined) return { answer, charged: 0n };
    const tokens =
      answer.usage === undefined
        ? estimatedTokens(order, estimateTokens(answer.body.toString('utf8')))
        : reportedTokens(answer.usage, order, (detail) => noteOverclaim(deps, candidate, context.requestId, detail));
    return { answer, charged: await bill.settle(tokenUnits(tokens)) };
  } catch (error) {
    await bill?.refund();
    throw error;
  }
}

/** As startChat: resolves with the first frame in hand; however the frames end, what was delivered is charged. */
export async function startNative(
  deps: CallDeps,
  caller: Caller,
  call: NativeCall,
  context: CallContext,
): Promise<{ contentType: string; frames: AsyncIterable<NativeFrame> }> {
  const { candidates, bill, order } = await openCall(deps, caller, call, context);
  try {
    const { contentType, ...started } = await firstThatWorks(
      deps,
      candidates,
      context,
      async (candidate, upstream) => ({
        ...(await withFirst(await nativeOf(candidate).stream(call.request, upstream))),
        onFault: (error: UpstreamError) => noteLateFault(deps, candidate, context.requestId, error),
        onExcess: (detail: string) => noteOverclaim(deps, candidate, context.requestId, detail),
      }),
    );
    return { contentType, frames: meterFrames(started, bill, order) };
  } catch (error) {
    await bill?.refund();
    throw isEmpty(error) ? new ApiError('empty_stream', { cause: error }) : error;
  }
}

interface Opened extends FoundCall {
  /** Undefined when nothing is charged. */
  readonly bill: Bill | undefined;
}

async function openCall(deps: CallDeps, caller: Caller, native: NativeCall, context: CallContext): Promise<Opened> {
  const { model, request, tokens } = native;
  const call: TokenCall = {
    endpoint: 'native',
    model,
    isStreamed: request.action === 'streamGenerateContent',
    isAble: ({ vendor }) => vendor.native !== undefined,
    requested: () => ({ ...tokens, textBytes: () => textBytesOf(request) }),
    decidedBy: 'The contents and "generationConfig.maxOutputTokens"',
  };
  const found = findCall(deps, caller, call);
  const isFree = request.action === 'countTokens';
  return { ...found, bill: isFree ? undefined : await holdTokens(deps, caller, call, found, context) };
}

/** Media, what the upstream has cached, and its own tools: what they add to a prompt does not stand in its bytes. */
const NOT_IN_BYTES = /"(inline_?data|file_?data|cached_?content|google_?search\w*|url_?context|code_?execution)"/i;

function textBytesOf({ body }: NativeRequest): number | undefined {
  return NOT_IN_BYTES.test(body.toString('utf8')) ? undefined : body.length;
}

function nativeOf({ vendor }: Candidate): NativeWork {
  if (vendor.native === undefined) throw new Error(`vendor ${vendor.name} has no native format`);
  return vendor.native;
}

const NO_FRAMES = 'the stream ended without a frame';

function isEmpty(error: unknown): boolean {
  return error instanceof ApiError && error.cause instanceof UpstreamError && error.cause.message === NO_FRAMES;
}

async function withFirst({ contentType, frames }: { contentType: string; frames: AsyncIterable<NativeFrame> }) {
  const rest = frames[Symbol.asyncIterator]();
  const { value, done } = await rest.next();
  if (done === true) throw new UpstreamError('garbled', NO_FRAMES);
  return { contentType, first: value, rest };
}

interface StartedNative {
  readonly first: NativeFrame;
  readonly rest: AsyncIterator<NativeFrame>;
  /** Told of a fault that comes after the first frame. */
  readonly onFault: (error: UpstreamError) => void;
  readonly onExcess: OnExcess;
}

async function* meterFrames(
  { first, rest, onFault, onExcess }: StartedNative,
  bill: Bill | undefined,
  order: TokenOrder,
): AsyncIterable<NativeFrame> {
  const meter = bill === undefined ? undefined : new StreamMeter(bill, order, onExcess);
  try {
    for (let frame: NativeFrame | undefined = first; frame !== undefined; frame = await next(rest)) {
      meter?.count(frame.data, frame.usage);
      yield frame;
    }
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    onFault(error);
    throw new ApiError('upstream_failed', { cause: error });
  } finally {
    await rest.return?.();
    await meter?.settle();
  }
}

async function next(rest: AsyncIterator<NativeFrame>): Promise<NativeFrame | undefined> {
  const { value, done } = await rest.next();
  return done === true ? undefined : value;
}
