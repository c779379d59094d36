import { type Encoding, encoderOf } from '../studio/encoder.ts';
import { loadFlite } from './flite.ts';
import { passagesOf } from './passages.ts';
import { Resampler } from './resampler.ts';
import { serve } from './serve.ts';
import type { Voice } from './voices.ts';

/** What is to be said, by whom and how; bytes of the wanted format come back. */
export interface SpeechOrder {
  readonly text: string;
  readonly voice: Voice;
  readonly speed: number;
  readonly volume: number;
  readonly encoding: Encoding;
}

/** A longer text is not held until its length is known. */
const WHOLE_CHARS_MAX = 4_000;

const flite = await loadFlite();

serve(async function* ({ text, voice, speed, volume, encoding }: SpeechOrder): AsyncGenerator<Uint8Array> {
  const encoder = await encoderOf(encoding, text.length <= WHOLE_CHARS_MAX);
  // A voice gets higher when it is played faster than it was spoken, so it speaks that much slower.
  const stretch = voice.pitch / (voice.speed * speed);
  const { sampleRate } = encoding;
  for (const passage of passagesOf(text)) {
    const spoken = flite({ text: passage, voice: voice.name, stretch });
    const resampler = new Resampler(spoken.sampleRate * voice.pitch, sampleRate);
    for (const samples of [resampler.push(spoken.samples), resampler.end()]) {
      const bytes = await encoder.add({ channels: [louder(samples, volume)], sampleRate });
      if (bytes.length > 0) yield bytes;
    }
  }
  const rest = await encoder.end();
  if (rest.length > 0) yield rest;
});

function louder(samples: Float32Array<ArrayBuffer>, volume: number): Float32Array<ArrayBuffer> {
  return samples.map((sample) => Math.min(1, Math.max(-1, sample * volume)));
}
