import type { ListedModel, Snapshot } from '../catalogue/index.ts';
import { ApiError, UpstreamError } from '../errors.ts';
import { UPSTREAM_TEST_TIMEOUT_MS } from '../limits.ts';
import { parseWith } from '../parse.ts';
import { chatSchema, toChatRequest } from '../schemas/index.ts';
import { connectTo, type Upstream } from '../vendors/index.ts';
import { type AttemptDeps, upstreamOf } from './attempt.ts';
import { type Candidate, type CandidateDeps, candidateOf } from './candidates.ts';
import { redactError } from './redact.ts';

export interface UpstreamTest {
  readonly ok: boolean;
  /** What was asked of it, in words. */
  readonly what: string;
  /** Of the HTTP answer; undefined when there was none. */
  readonly status: number | undefined;
  readonly durationMs: number;
  /** The fault, and the upstream's own words without secrets. */
  readonly fault: string | undefined;
  readonly detail: string | undefined;
}

type TestDeps = AttemptDeps & Pick<CandidateDeps, 'vendors'>;

/**
 * Asks an upstream for the least that proves its credential: a chat call of one token where a chat model has a route there,
 * else what the vendor offers without charge, else no more than a connection. The operator pays for that token and no
 * account does. Neither breakers nor counts of attempts learn of it, so it can be repeated. Throws `upstream_not_found`.
 */
export async function testUpstream(deps: TestDeps, upstreamId: string, left: AbortSignal): Promise<UpstreamTest> {
  const { snapshot } = deps.catalogue;
  const chatModel = chatModelOf(snapshot, upstreamId);
  const candidate = candidateOf(deps, upstreamId, chatModel ?? '');
  if (candidate === undefined) throw new ApiError('upstream_not_found');
  const probe = probeOf(candidate, chatModel);
  const { what, status } = probe;
  const signal = AbortSignal.any([left, AbortSignal.timeout(UPSTREAM_TEST_TIMEOUT_MS)]);
  const startedMs = performance.now();
  const durationMs = () => Math.round(performance.now() - startedMs);
  try {
    await probe.run(upstreamOf(candidate, deps.pools, signal));
    return { ok: true, what, status, durationMs: durationMs(), fault: undefined, detail: undefined };
  } catch (error) {
    const fault = faultOf(error, signal);
    redactError(snapshot, fault);
    deps.log.warn({ upstream: upstreamId, fault: fault.fault, detail: fault.message }, 'test of an upstream failed');
    return {
      ok: false,
      what,
      status: fault.status,
      durationMs: durationMs(),
      fault: fault.fault,
      detail: fault.message.slice(0, DETAIL_CHARS_MAX),
    };
  }
}

const DETAIL_CHARS_MAX = 500;

/** A model on its wire that chat is routed to. */
function chatModelOf({ document }: Snapshot, upstreamId: string): string | undefined {
  const hasChat = ({ endpoints }: Pick<ListedModel, 'endpoints'>) =>
    endpoints.includes('chat') || endpoints.includes('native');
  const routes = document.models.filter(hasChat).flatMap((model) => model.routes);
  return routes.find(({ upstream }) => upstream === upstreamId)?.model;
}

interface Probe {
  readonly what: string;
  /** Of the answer, when it is no refusal. */
  readonly status: number | undefined;
  run(upstream: Upstream): Promise<unknown>;
}

function probeOf({ vendor }: Candidate, chatModel: string | undefined): Probe {
  const { chat, check, address } = vendor;
  if (address === 'none') {
    return { what: 'nothing: it runs inside the gateway', status: undefined, run: async () => undefined };
  }
  if (chat !== undefined && chatModel !== undefined) {
    const what = `a chat call of one token to ${chatModel}`;
    return { what, status: 200, run: (upstream) => chat.complete(oneToken(chatModel), upstream) };
  }
  if (check !== undefined) return { what: check.what, status: 200, run: (upstream) => check.run(upstream) };
  return { what: 'a connection; the credential was not checked', status: undefined, run: connectTo };
}

function oneToken(model: string) {
  const body = { model, messages: [{ role: 'user', content: 'Hi' }], max_tokens: 1 };
  return toChatRequest(parseWith(chatSchema, body), body);
}

/** What was given up here, for its time or because the operator left, is a timeout of the test. */
function faultOf(error: unknown, signal: AbortSignal): UpstreamError {
  if (error instanceof UpstreamError) return error;
  if (signal.aborted) return new UpstreamError('timeout', 'no answer in time', { cause: error });
  if (error instanceof ApiError) return new UpstreamError('config', error.message, { cause: error });
  throw error;
}
