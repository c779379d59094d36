/**
 * Which upstreams to ask, in which order, and what to do when one fails. Hides weights, costs and latencies, the circuit
 * breakers and how processes share them, the bound on attempts, and which faults are the request's own.
 */
export { ableCandidates, judgedCandidates } from './able.ts';
export {
  type AttemptContext,
  type AttemptDeps,
  firstThatWorks,
  noteLateFault,
  noteOverclaim,
  tryOne,
  upstreamOf,
} from './attempt.ts';
export { type Candidate, type CandidateDeps, candidateOf, candidatesFor, modelFor } from './candidates.ts';
export { type Accepts, asksForVoiceDesign, checkFits, inPublishedWords } from './fits.ts';
export { type BreakerView, Health } from './health.ts';
export * as offers from './offers.ts';
export type { Pacing } from './pacing.ts';
export { redact } from './redact.ts';
export * as upstreamTests from './test-upstream.ts';
export type { Turn, Turns } from './turns.ts';
export * as upstreamModels from './upstream-models.ts';
