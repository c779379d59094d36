import { DatabaseUnavailable, retryWhileUnavailable } from '../db/index.ts';
import { ApiError, type ErrorCode, UpstreamError } from '../errors.ts';
import { killPoint } from '../kill-point.ts';
import { LostLease, pollTask } from '../leased/index.ts';
import { TRANSCRIPT_BYTES_MAX, TRANSCRIPTION_MS_MAX, TRANSCRIPTION_POLL_MS } from '../limits.ts';
import type { RequestTrace } from '../request-log/index.ts';
import { type Candidate, firstThatWorks, redact } from '../routing/index.ts';
import type { TranscriptionRequest } from '../schemas/index.ts';
import { StorageUnavailable } from '../storage/index.ts';
import type { AudioFile, Transcript, TranscriptionProgress, Upstream } from '../vendors/index.ts';
import type { Waits } from '../waits.ts';
import { workOf } from './candidates.ts';
import type { TranscriptionDeps } from './deps.ts';
import type { LeasedRecord, Outcome } from './record.ts';
import { saveCall, saveTask } from './store.ts';

/** What is to be asked, and of whom. */
export interface Submission {
  readonly request: TranscriptionRequest;
  readonly audio: AudioFile;
  readonly candidates: readonly Candidate[];
  readonly trace: RequestTrace;
  /** To be called when the audio is not read any more. */
  readonly release: () => void;
}

export interface WorkDeps {
  readonly deps: TranscriptionDeps;
  readonly waits: Waits;
  /** Aborted when the process begins to end: what has a task is left to the next one at once. */
  readonly stopping: AbortSignal;
  /** Aborted when it must end. A caller who leaves changes nothing. */
  readonly leaving: AbortSignal;
}

/** The process ends, and an upstream works on: the record is left to the next one. */
export class LeftRunning extends Error {}

/** Asks until there is a transcript or none can be had. Throws LeftRunning, LostLease or DatabaseUnavailable. */
export function transcribe(work: WorkDeps, record: LeasedRecord, submission: Submission): Promise<Outcome> {
  const { deps, leaving } = work;
  return withOutcome(work, async () => {
    const answer = await firstThatWorks(
      deps,
      submission.candidates,
      { requestId: record.id, signal: leaving, trace: submission.trace },
      (candidate, upstream) => submit(deps, record, submission, candidate, upstream),
      'submission',
    ).finally(submission.release);
    return 'task' in answer ? follow(work, answer, TRANSCRIPTION_POLL_MS.first) : outcomeOfTranscript(answer);
  });
}

/**
 * The same for what another process has begun. It never submits again: who was asked without a task to show for it may
 * have heard everything or nothing.
 */
export function takeUp(work: WorkDeps, record: LeasedRecord): Promise<Outcome> {
  return withOutcome(work, async () => {
    const outcome = record.task === null ? unavailableOutcome('upstream_failed') : await follow(work, record, 0);
    killPoint(work.deps.log, 'transcription.resume.after-call', record.id);
    return outcome;
  });
}

/** Every failure ends the record, unless another process has it or will take it over. */
async function withOutcome({ leaving }: WorkDeps, hear: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await hear();
  } catch (error) {
    if (error instanceof LeftRunning || error instanceof LostLease || error instanceof DatabaseUnavailable) throw error;
    return leaving.aborted ? unavailableOutcome('shutting_down', error) : outcomeOf(error);
  }
}

/** Whom it asks is written down before, and what has been accepted at once after. */
async function submit(
  { db, log, clock, health }: TranscriptionDeps,
  record: LeasedRecord,
  { request, audio }: Submission,
  candidate: Candidate,
  upstream: Upstream,
): Promise<Transcript | LeasedRecord> {
  const { upstreamId, upstreamModel } = candidate;
  await writeLeased(() => saveCall(db, record, upstreamId, upstreamModel));
  const startedAt = clock.now();
  health.latencies.at(upstreamId, upstreamModel, 'result').begin(startedAt.getTime());
  killPoint(log, 'transcription.submit.before-call', record.id);
  const answer = await refusingTooMuch(workOf(candidate).submit(request, audio, upstream));
  killPoint(log, 'transcription.submit.after-call', record.id);
  if (answer.state === 'transcribed') {
    health.latencies.noteTask({ upstreamId, upstreamModel, startedAt }, clock.nowMs());
    return answer.transcript;
  }
  const { task } = answer;
  await writeLeased(() => saveTask(db, record, task));
  killPoint(log, 'transcription.submit.after-commit', record.id);
  return { ...record, upstreamId, upstreamModel, task };
}

async function writeLeased(write: () => Promise<boolean>): Promise<void> {
  if (!(await retryWhileUnavailable(write))) throw new LostLease();
}

/** No other candidate is asked for what was heard already. */
async function refusingTooMuch<Answer>(answer: Promise<Answer>): Promise<Answer> {
  try {
    return await answer;
  } catch (error) {
    const isTooLarge = error instanceof UpstreamError && error.isTooLarge;
    throw isTooLarge ? new ApiError('upstream_response_too_large', { cause: error }) : error;
  }
}

/** Polls a task until it has ended. Throws LeftRunning. */
async function follow(work: WorkDeps, record: LeasedRecord, firstMs: number): Promise<Outcome> {
  const { deps, waits, stopping } = work;
  const { first, most } = TRANSCRIPTION_POLL_MS;
  const overAtMs = record.createdAt.getTime() + TRANSCRIPTION_MS_MAX;
  for (let waitMs = firstMs; ; waitMs = Math.min(Math.max(waitMs * 1.5, first), most)) {
    await waits.pass(waitMs, stopping);
    if (stopping.aborted) throw new LeftRunning();
    const progress = await poll(work, record);
    switch (progress.state) {
      case 'transcribed':
        noteLatency(deps, record);
        return outcomeOfTranscript(progress.transcript);
      case 'failed':
        return {
          status: 'failed',
          code: progress.code,
          cause: new Error(redact(deps.catalogue.snapshot, progress.detail)),
        };
      case 'lost':
        return unavailableOutcome('upstream_failed', new Error('the upstream knows nothing of the task'));
      case 'too large':
        return unavailableOutcome('upstream_response_too_large');
      case 'running':
        if (deps.clock.nowMs() >= overAtMs) return unavailableOutcome('request_timeout');
    }
  }
}

/** From its admission on: what came before the submission is short. */
function noteLatency({ health, clock }: TranscriptionDeps, record: LeasedRecord): void {
  const { upstreamId, upstreamModel, createdAt: startedAt } = record;
  if (upstreamId === null || upstreamModel === null) return;
  health.latencies.noteTask({ upstreamId, upstreamModel, startedAt }, clock.nowMs());
}

/** Throws LeftRunning. */
async function poll(
  { deps, stopping }: WorkDeps,
  record: LeasedRecord,
): Promise<TranscriptionProgress | { readonly state: 'too large' }> {
  const ids = { request_id: record.id };
  const progress = await pollTask(deps, record, ids, stopping, ({ transcription }) => transcription).catch(
    (error: unknown) => Promise.reject(stopping.aborted ? new LeftRunning() : error),
  );
  // Without its upstream in the configuration the task cannot be polled: its work is given up.
  if (progress === undefined) return { state: 'lost' };
  if (progress instanceof UpstreamError) {
    // A poll that was aborted says nothing of the task.
    if (stopping.aborted) throw new LeftRunning();
    return { state: progress.isTooLarge ? 'too large' : 'running' };
  }
  killPoint(deps.log, 'transcription.poll.after-call', record.id);
  return progress;
}

/** A result is kept whole or not at all. */
function outcomeOfTranscript(transcript: Transcript): Outcome {
  if (transcript.text.trim() === '') return { status: 'failed', code: 'empty_transcription_response' };
  const json = JSON.stringify(transcript);
  if (Buffer.byteLength(json) > TRANSCRIPT_BYTES_MAX) return unavailableOutcome('upstream_response_too_large');
  return { status: 'completed', transcript, json };
}

/** The request's own fault is definitive; whatever else went wrong says nothing about the sound. */
function outcomeOf(error: unknown): Outcome {
  if (error instanceof ApiError) {
    const { code, cause } = error;
    return error.status === 400 ? { status: 'failed', code, cause } : unavailableOutcome(code, cause);
  }
  return unavailableOutcome(error instanceof StorageUnavailable ? 'job_service_unavailable' : 'internal_error', error);
}

function unavailableOutcome(code: ErrorCode, cause?: unknown): Outcome {
  return { status: 'unavailable', code, cause };
}
