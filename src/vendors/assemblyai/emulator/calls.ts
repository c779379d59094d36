import assert from 'node:assert/strict';
import { plainTranscription } from '../../../../test/support/plain-requests.ts';
import type { JsonObject } from '../../../json.ts';
import type { TranscriptionRequest } from '../../../schemas/index.ts';
import { withUpstream } from '../../emulator/calls.ts';
import {
  type AudioFile,
  inMemoryMedia,
  type TranscriptionProgress,
  type TranscriptionWork,
  type Upstream,
} from '../../index.ts';
import { AssemblyAiEmulator, type AssemblyAiOptions } from '../emulator.ts';
import { work as vendor } from '../work.ts';

export const MARKER = 'mk7Q';
export const KEY = 'upstream-key';

function transcriptionWork(): TranscriptionWork {
  const work = vendor.transcription;
  assert.ok(work);
  return work;
}

export const transcription = transcriptionWork();

export async function poll(task: JsonObject, upstream: Upstream): Promise<TranscriptionProgress> {
  const progress = await transcription.poll?.(task, upstream);
  assert.ok(progress);
  return progress;
}

export const AUDIO: AudioFile = {
  ...inMemoryMedia(Buffer.from('RIFF of a kind'), 'audio/wav'),
  extension: 'wav',
  seconds: 5,
};

export function withEmulator(
  run: (emulator: AssemblyAiEmulator, upstream: Upstream) => Promise<void>,
  options: AssemblyAiOptions = {},
): Promise<void> {
  const emulator = new AssemblyAiEmulator({ apiKey: KEY, marker: MARKER, ...options });
  return withUpstream(emulator, { model: 'universal-3-pro', apiKey: KEY }, (upstream) => run(emulator, upstream));
}

/** The task of a request that was accepted. */
export async function accepted(
  upstream: Upstream,
  fields: Partial<TranscriptionRequest> = {},
): Promise<{ id: string }> {
  const request = plainTranscription(fields);
  transcription.check(request, upstream.model);
  const answer = await transcription.submit(request, AUDIO, upstream);
  assert.ok(answer.state === 'accepted' && typeof answer.task.id === 'string');
  assert.deepEqual(Object.keys(answer.task), ['id']);
  return { id: answer.task.id };
}

/** What becomes of a request when this is done to its task. */
export async function outcome(upstream: Upstream, done: (id: string) => void): Promise<TranscriptionProgress> {
  const task = await accepted(upstream);
  done(task.id);
  return poll(task, upstream);
}
