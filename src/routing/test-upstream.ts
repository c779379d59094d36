import { ApiError } from '../errors.ts';
import { UPSTREAM_TEST_TIMEOUT_MS } from '../limits.ts';
import { connectTo, type Upstream } from '../vendors/index.ts';
import { type AttemptDeps, upstreamOf } from './attempt.ts';
import { type Candidate, type CandidateDeps, candidateOf } from './candidates.ts';
import {
  type ConfiguredKind,
  configuredKinds,
  DEAR_KINDS,
  type TestCall,
  type TestKind,
  testCall,
} from './test-calls.ts';
import { failureOf, type Problem } from './upstream-problem.ts';

export { TEST_KINDS } from './test-calls.ts';
export { PROBLEMS } from './upstream-problem.ts';

/** One call of a test, or why it was not made. */
export interface TestedCall {
  readonly kind: TestKind | 'credential' | 'connection';
  /** Undefined where it was not made. */
  readonly ok: boolean | undefined;
  /** What was asked of it, in words. */
  readonly what: string;
  /** Of the HTTP answer; undefined when there was none. */
  readonly status: number | undefined;
  readonly durationMs: number;
  /** The fault, what it comes to for an operator, and in words; or why the call was not made. */
  readonly fault: string | undefined;
  readonly problem: Problem | undefined;
  readonly message: string | undefined;
  /** The upstream's own words without secrets. */
  readonly detail: string | undefined;
}

export interface UpstreamTest {
  readonly ok: boolean;
  readonly calls: readonly [TestedCall, ...TestedCall[]];
}

export type TestDeps = AttemptDeps & Pick<CandidateDeps, 'vendors'>;

/**
 * Asks an upstream for the least of each kind of work that it is configured for; pictures, clips and music only with
 * `isDear`. Where none of it is asked for: for what the vendor offers without charge, else for no more than a connection.
 * The operator pays, and no account does. Neither breakers nor counts of attempts learn of it, so it can be repeated.
 * Throws `upstream_not_found`.
 */
export async function testUpstream(
  deps: TestDeps,
  upstreamId: string,
  { left, isDear }: { readonly left: AbortSignal; readonly isDear: boolean },
): Promise<UpstreamTest> {
  const { snapshot } = deps.catalogue;
  const bare = candidateOf(deps, upstreamId, '');
  if (bare === undefined) throw new ApiError('upstream_not_found');
  if (bare.vendor.address === 'none') {
    return { ok: true, calls: [untold('connection', 'nothing: it runs inside the gateway', { ok: true })] };
  }
  const signal = AbortSignal.any([left, AbortSignal.timeout(UPSTREAM_TEST_TIMEOUT_MS)]);
  const kinds = configuredKinds(snapshot.document, upstreamId);
  const made = await Promise.all(
    kinds.map((kind) => tryKind(deps, { ...bare, upstreamModel: kind.upstreamModel }, kind, { signal, isDear })),
  );
  const calls = made.filter((call) => call !== undefined);
  const tried = calls.filter(({ ok }) => ok !== undefined);
  const skipped = calls.filter(({ ok }) => ok === undefined);
  const [first, ...others] = [...tried, ...skipped];
  if (tried.length === 0 || first === undefined) {
    const proof = await tryFree(deps, bare, signal);
    return { ok: proof.ok === true, calls: [proof, ...skipped] };
  }
  return { ok: tried.every(({ ok }) => ok), calls: [first, ...others] };
}

interface TestTerms {
  readonly signal: AbortSignal;
  readonly isDear: boolean;
}

async function tryKind(
  deps: TestDeps,
  candidate: Candidate,
  kind: ConfiguredKind,
  { signal, isDear }: TestTerms,
): Promise<TestedCall | undefined> {
  const call = testCall(kind, candidate.vendor);
  if (call === undefined) return undefined;
  if (DEAR_KINDS.has(kind.kind) && !isDear) return untold(kind.kind, call.what, { message: NOT_ASKED });
  return tryCall(deps, candidate, { kind: kind.kind, status: 200, ...call }, signal);
}

const NOT_ASKED = 'Not tried, since it costs more than a fraction of a cent: ask for it with media=true, or --media.';

async function tryFree(deps: TestDeps, candidate: Candidate, signal: AbortSignal): Promise<TestedCall> {
  const { check } = candidate.vendor;
  const probe =
    check === undefined
      ? {
          kind: 'connection' as const,
          status: undefined,
          what: 'a connection; the credential was not checked',
          run: connectTo,
        }
      : {
          kind: 'credential' as const,
          status: 200,
          what: check.what,
          run: (upstream: Upstream) => check.run(upstream),
        };
  return tryCall(deps, candidate, probe, signal);
}

interface Probe extends TestCall {
  readonly kind: TestedCall['kind'];
  /** Of the answer, when it is no refusal. */
  readonly status: number | undefined;
}

async function tryCall(deps: TestDeps, candidate: Candidate, probe: Probe, signal: AbortSignal): Promise<TestedCall> {
  const { kind, what, status } = probe;
  const startedMs = performance.now();
  try {
    await probe.run(upstreamOf(candidate, deps.pools, signal));
    return untold(kind, what, { ok: true, status, durationMs: Math.round(performance.now() - startedMs) });
  } catch (error) {
    if (error instanceof ApiError) return untold(kind, what, { message: `Not tried: ${error.message}` });
    const failure = failureOf(deps.catalogue.snapshot, error, signal);
    const { fault, problem, detail } = failure;
    deps.log.warn({ upstream: candidate.upstreamId, kind, fault, problem, detail }, 'test of an upstream failed');
    return { kind, ok: false, what, durationMs: Math.round(performance.now() - startedMs), ...failure };
  }
}

function untold(kind: TestedCall['kind'], what: string, fields: Partial<TestedCall>): TestedCall {
  const nothing = { ok: undefined, status: undefined, durationMs: 0, fault: undefined, problem: undefined };
  return { kind, what, ...nothing, message: undefined, detail: undefined, ...fields };
}
