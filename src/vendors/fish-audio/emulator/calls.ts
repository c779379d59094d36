import assert from 'node:assert/strict';
import { plainSound, plainTranscription } from '../../../../test/support/plain-requests.ts';
import type { SoundRequest, TranscriptionRequest } from '../../../schemas/index.ts';
import { withUpstream } from '../../emulator/calls.ts';
import { clip } from '../../emulator/sounds.ts';
import type { AudioFile, Media, Transcript, Upstream, VoicePreview } from '../../index.ts';
import { FishAudioEmulator } from '../emulator.ts';
import { speech } from '../speech.ts';
import { transcription } from '../transcription.ts';

export const KEY = 'fish-upstream';
export const MARKER = 'mk4F';

export function speechRequest(fields: Partial<SoundRequest<Media>> = {}): SoundRequest<Media> {
  return plainSound({ input: 'Hello there.', ...fields });
}

export function withEmulator(run: (emulator: FishAudioEmulator, upstream: Upstream) => Promise<void>): Promise<void> {
  const emulator = new FishAudioEmulator(KEY, MARKER);
  return withUpstream(emulator, { model: 's1', apiKey: KEY }, (upstream) => run(emulator, upstream));
}

/** Checks a request and reads its sound to the end. */
export async function synthesize(request: SoundRequest<Media>, upstream: Upstream): Promise<Buffer> {
  speech.check(request, upstream.model);
  const { pieces } = await speech.speak(request, upstream);
  return Buffer.concat(await Array.fromAsync(pieces));
}

/** Checks a request and designs its voices. */
export async function design(
  fields: Partial<SoundRequest<Media>>,
  upstream: Upstream,
): Promise<readonly VoicePreview[]> {
  const request = plainSound({ voiceDescription: 'A sassy squeaky mouse', ...fields });
  const model = 'voice-design-1';
  speech.check(request, model);
  return (await speech.design?.(request, { ...upstream, model })) ?? assert.fail();
}

/** Checks a request and transcribes the clip. */
export async function transcribe(
  fields: Partial<TranscriptionRequest>,
  upstream: Upstream,
  model = 'transcribe-1',
  audio?: AudioFile,
): Promise<Transcript> {
  const request = plainTranscription(fields);
  transcription.check(request, model);
  const answer = await transcription.submit(request, audio ?? (await clip()), { ...upstream, model });
  assert.equal(answer.state, 'transcribed');
  return answer.transcript;
}
