import assert from 'node:assert/strict';
import { plainSound } from '../../../../test/support/plain-requests.ts';
import type { SoundRequest } from '../../../schemas/index.ts';
import { withUpstream } from '../../emulator/calls.ts';
import type { Media, Upstream } from '../../index.ts';
import { ElevenLabsEmulator, type ElevenLabsOptions } from '../emulator.ts';
import { work as vendor } from '../work.ts';

export const MARKER = 'mk7Q';
export const KEY = 'xi-upstream';
export const VOICE = 'JBFqnCBsd6RMkjVDRZzb';

export const speech = present(vendor.speech);
export const music = present(vendor.music);
export const transcription = present(vendor.transcription);

function present<Work>(work: Work | undefined): Work {
  assert.ok(work);
  return work;
}

export function spoken(fields: Partial<SoundRequest<Media>> = {}): SoundRequest<Media> {
  return plainSound({ input: 'Hello there.', voice: VOICE, ...fields });
}

export function withEmulator(
  options: ElevenLabsOptions,
  run: (emulator: ElevenLabsEmulator, upstream: Upstream) => Promise<void>,
): Promise<void> {
  const emulator = new ElevenLabsEmulator({ apiKey: KEY, marker: MARKER, ...options });
  return withUpstream(emulator, { model: 'eleven_flash_v2_5', apiKey: KEY }, (upstream) => run(emulator, upstream));
}

/** Checked and spoken, all of it. */
export async function synthesize(request: SoundRequest<Media>, upstream: Upstream): Promise<Buffer> {
  speech.check(request, upstream.model);
  const { pieces } = await speech.speak(request, upstream);
  return Buffer.concat(await Array.fromAsync(pieces));
}
