import assert from 'node:assert/strict';
import { plainTranscription } from '../../../../test/support/plain-requests.ts';
import type { JsonObject } from '../../../json.ts';
import type { TranscriptionRequest } from '../../../schemas/index.ts';
import { withUpstream } from '../../emulator/calls.ts';
import { clip } from '../../emulator/sounds.ts';
import type { AudioFile, TranscriptionProgress, Upstream } from '../../index.ts';
import { GladiaEmulator } from '../emulator.ts';
import { transcription } from '../transcription.ts';

export const KEY = 'gladia-upstream';
export const MARKER = 'mk8G';

export function withEmulator(run: (emulator: GladiaEmulator, upstream: Upstream) => Promise<void>): Promise<void> {
  const emulator = new GladiaEmulator(KEY, MARKER);
  return withUpstream(emulator, { model: 'solaria-1', apiKey: KEY }, (upstream) => run(emulator, upstream));
}

/** The task of a request that was accepted. */
export async function accepted(
  upstream: Upstream,
  fields: Partial<TranscriptionRequest> = {},
  audio?: AudioFile,
): Promise<{ id: string }> {
  const request = plainTranscription(fields);
  transcription.check(request, upstream.model);
  const answer = await transcription.submit(request, audio ?? (await clip()), upstream);
  assert.ok(answer.state === 'accepted' && typeof answer.task.id === 'string');
  assert.deepEqual(Object.keys(answer.task), ['id']);
  return { id: answer.task.id };
}

export async function poll(task: JsonObject, upstream: Upstream): Promise<TranscriptionProgress> {
  return (await transcription.poll?.(task, upstream)) ?? assert.fail();
}
