/**
 * Campaigns: gateways in processes of their own are killed, halted and cut off while callers are at work, and a checker
 * with statements of its own compares what the callers were told with what the database, the store and the upstreams hold.
 * Hides the plans that follow from a seed, the emulated upstreams and the rules of the checkers.
 */
export { runChaos as runAudioCampaign } from './audio/run.ts';
export { runChaos as runJobsCampaign } from './jobs/run.ts';
export { startServer } from './world.ts';
