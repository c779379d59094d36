import type { Logger } from './log.ts';

/**
 * Crash points: the moments between two durable effects at which the kill campaigns (`packages/verify`) end, halt or stop a
 * process. Named `subject.step.moment`, with the outcome before the moment where a step has several. The moment is before
 * or after a commit, a call to an upstream, a write to or a deletion from the object store, or the answer. A test holds
 * each name to one call in the program and to a campaign.
 */
export const KILL_POINTS = [
  'job.claim.before-commit',
  'job.claim.after-commit',
  'job.admission.before-commit',
  'job.admission.after-commit',
  'job.dispatch.before-call',
  'job.dispatch.after-call',
  'job.dispatch.after-commit',
  'job.recover.after-call',
  'job.poll.after-call',
  'job.collect.before-store',
  'job.collect.after-store',
  'job.end.succeeded.before-commit',
  'job.end.succeeded.after-commit',
  'job.end.failed.before-commit',
  'job.end.failed.after-commit',
  'job.end.queue_expired.before-commit',
  'job.end.queue_expired.after-commit',
  'transcription.admission.before-commit',
  'transcription.admission.after-commit',
  'transcription.submit.before-call',
  'transcription.submit.after-call',
  'transcription.submit.after-commit',
  'transcription.poll.after-call',
  'transcription.take-over.after-commit',
  'transcription.resume.after-call',
  'transcription.end.completed.before-commit',
  'transcription.end.completed.after-commit',
  'transcription.end.failed.before-commit',
  'transcription.end.failed.after-commit',
  'transcription.end.unavailable.before-commit',
  'transcription.end.unavailable.after-commit',
  'transcription.answer.before-send',
  'transcription.expiry.before-commit',
  'transcription.expiry.after-commit',
  'upstream.attempt.after-call',
  'speech.result.before-store',
  'speech.result.after-store',
  'object.input.before-store',
  'object.input.after-store',
  'object.clean-up.before-delete',
  'object.clean-up.after-delete',
  'object.clean-up.after-commit',
] as const;

export type KillPoint = (typeof KILL_POINTS)[number];

/** Logs at trace level that the point was reached, and for which job, record or object. Otherwise does nothing. */
export function killPoint(log: Logger, name: KillPoint, id?: string): void {
  if (log.isLevelEnabled('trace')) log.trace({ kill_point: name, id }, 'kill point');
}
