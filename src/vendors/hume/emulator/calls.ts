import assert from 'node:assert/strict';
import { plainSound } from '../../../../test/support/plain-requests.ts';
import type { SoundRequest } from '../../../schemas/index.ts';
import { withUpstream } from '../../emulator/calls.ts';
import type { Media, Upstream, VoicePreview } from '../../index.ts';
import { HumeEmulator, LIBRARY_VOICE } from '../emulator.ts';
import { speech } from '../speech.ts';

export const KEY = 'hume-upstream';
export const MARKER = 'mk6H';

export function speechRequest(fields: Partial<SoundRequest<Media>> = {}): SoundRequest<Media> {
  return plainSound({ input: 'Hello there.', voice: LIBRARY_VOICE, ...fields });
}

export function withEmulator(run: (emulator: HumeEmulator, upstream: Upstream) => Promise<void>): Promise<void> {
  const emulator = new HumeEmulator(KEY, MARKER);
  return withUpstream(emulator, { model: 'octave-2', apiKey: KEY }, (upstream) => run(emulator, upstream));
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
  const request = plainSound({ voiceDescription: 'A sassy squeaky mouse', input: 'Squeak.', ...fields });
  const model = 'voice-design';
  speech.check(request, model);
  return (await speech.design?.(request, { ...upstream, model })) ?? assert.fail();
}
