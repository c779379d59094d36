import type { Caller } from '../accounts/index.ts';
import { UpstreamError } from '../errors.ts';
import type { ChatFormat } from '../formats/index.ts';
import { type Candidate, candidatesFor, modelFor, upstreamOf } from '../routing/index.ts';
import type { ChatRequest } from '../schemas/index.ts';
import { estimatePromptTokens } from '../text/index.ts';
import { passedTo } from './chat.ts';
import type { CallDeps } from './deps.ts';

/**
 * How many tokens a prompt has: as its upstream counts where that costs nothing, else as estimated here. Free, and outside
 * of health: a fault of counting is no strike, and leaves the estimate.
 */
export async function countPrompt(
  deps: CallDeps,
  caller: Caller,
  request: ChatRequest,
  format: ChatFormat<unknown>,
  signal: AbortSignal,
): Promise<number> {
  const model = modelFor(deps, caller, request.model, 'chat');
  const candidates = candidatesFor(deps, caller, model, ({ vendor }) => vendor.chat !== undefined);
  const [first] = candidates;
  try {
    const counted = first && (await askToCount(deps, first, request, format, signal));
    if (counted !== undefined) return counted;
  } catch (error) {
    if (!(error instanceof UpstreamError) || signal.aborted) throw error;
    deps.log.warn({ upstream: first?.upstreamId, fault: error.fault }, 'counting failed');
  }
  return estimatePromptTokens([request.messages, request.tools]);
}

/** Undefined where this upstream does not count. */
function askToCount(
  { pools }: CallDeps,
  candidate: Candidate,
  request: ChatRequest,
  format: ChatFormat<unknown>,
  signal: AbortSignal,
): Promise<number> | undefined {
  const upstream = upstreamOf(candidate, pools, signal);
  const passed = passedTo(candidate, format);
  if (passed !== undefined) return passed.work.count?.(passed.through.request(candidate.upstreamId), upstream);
  return format.refusal === undefined ? candidate.vendor.chat?.count?.(request, upstream) : undefined;
}
