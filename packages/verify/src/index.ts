/**
 * Campaigns: gateways in processes of their own are killed, halted and cut off while callers are at work, and a checker
 * with statements of its own compares what the callers were told with what the database, the store and the upstreams hold.
 * Hides the plans that follow from a seed, the emulated upstreams, the proxies and the rules of the checkers.
 */
export { FAULT_KINDS, type FaultKind } from './fault-kinds.ts';
export { runVerify, type VerifyReport } from './verify.ts';
