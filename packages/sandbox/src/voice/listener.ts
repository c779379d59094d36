import { decoded } from './decoder.ts';
import { loadMoonshine } from './moonshine.ts';
import { HEARING_RATE, Pauses, type Stretch } from './pauses.ts';
import { Resampler } from './resampler.ts';
import { serve } from './serve.ts';

/** What was said in one stretch of a recording, and when. */
export interface Sentence {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

const recognise = await loadMoonshine();

serve(async function* (file: SharedArrayBuffer): AsyncGenerator<Sentence> {
  for await (const { samples, startSeconds } of stretchesOf(new Uint8Array(file))) {
    const text = await recognise(samples);
    const end = startSeconds + samples.length / HEARING_RATE;
    yield { text, start: startSeconds, end };
  }
});

async function* stretchesOf(file: Uint8Array): AsyncGenerator<Stretch> {
  const pauses = new Pauses();
  let resampler: Resampler | undefined;
  for await (const { samples, sampleRate } of decoded(file)) {
    // A rate that changes on the way is what a broken stream says, and none of the formats lets it.
    resampler ??= new Resampler(sampleRate, HEARING_RATE);
    yield* pauses.push(resampler.push(samples));
  }
  if (resampler !== undefined) yield* pauses.push(resampler.end());
  yield* pauses.end();
}
