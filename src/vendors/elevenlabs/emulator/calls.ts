import assert from 'node:assert/strict';
import { plainSound } from '../../../../test/support/plain-requests.ts';
import type { SoundRequest } from '../../../schemas/index.ts';
import { type Media, type Upstream, UpstreamPools } from '../../index.ts';
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

export async function withEmulator(
  options: ElevenLabsOptions,
  run: (emulator: ElevenLabsEmulator, upstream: Upstream) => Promise<void>,
): Promise<void> {
  const emulator = new ElevenLabsEmulator({ apiKey: KEY, marker: MARKER, ...options });
  await emulator.start();
  const pools = new UpstreamPools();
  const { signal } = new AbortController();
  const upstream = { address: emulator.url, apiKey: KEY, timeoutMs: 60_000, signal, pools };
  try {
    await run(emulator, { model: 'eleven_flash_v2_5', ...upstream });
  } finally {
    await pools.close();
    await emulator.stop();
  }
}

/** Checked and spoken, all of it. */
export async function synthesize(request: SoundRequest<Media>, upstream: Upstream): Promise<Buffer> {
  speech.check(request, upstream.model);
  const { pieces } = await speech.speak(request, upstream);
  return Buffer.concat(await Array.fromAsync(pieces));
}
