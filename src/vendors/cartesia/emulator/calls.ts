import assert from 'node:assert/strict';
import { plainSound, plainTranscription } from '../../../../test/support/plain-requests.ts';
import type { SoundRequest, TranscriptionRequest } from '../../../schemas/index.ts';
import { withUpstream } from '../../emulator/calls.ts';
import { clip } from '../../emulator/sounds.ts';
import type { AudioFile, Media, Transcript, Upstream } from '../../index.ts';
import { CartesiaEmulator, VOICE } from '../emulator.ts';
import { speech } from '../speech.ts';
import { transcription } from '../transcription.ts';

export const KEY = 'ca-upstream';
export const MARKER = 'mk5C';

export function speechRequest(fields: Partial<SoundRequest<Media>> = {}): SoundRequest<Media> {
  return plainSound({ input: 'Hello there.', voice: VOICE, ...fields });
}

export function withEmulator(run: (emulator: CartesiaEmulator, upstream: Upstream) => Promise<void>): Promise<void> {
  const emulator = new CartesiaEmulator(KEY, MARKER);
  return withUpstream(emulator, { model: 'sonic-3.5', apiKey: KEY }, (upstream) => run(emulator, upstream));
}

/** Checks a request and reads its sound to the end. */
export async function synthesize(request: SoundRequest<Media>, upstream: Upstream): Promise<Buffer> {
  speech.check(request, upstream.model);
  const { pieces } = await speech.speak(request, upstream);
  return Buffer.concat(await Array.fromAsync(pieces));
}

/** Checks a request and transcribes the clip. */
export async function transcribe(
  fields: Partial<TranscriptionRequest>,
  { model, ...rest }: Upstream,
  audio?: AudioFile,
): Promise<Transcript> {
  const upstream = { ...rest, model: model.startsWith('sonic') ? 'ink-whisper' : model };
  const request = plainTranscription(fields);
  transcription.check(request, upstream.model);
  const answer = await transcription.submit(request, audio ?? (await clip()), upstream);
  assert.equal(answer.state, 'transcribed');
  return answer.transcript;
}
