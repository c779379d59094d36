import { setImmediate } from 'node:timers/promises';
import type { EmbeddingWork } from '../../../src/vendors/vendor.ts';
import { type FailureCounts, injectFault } from './faults.ts';
import { faultsIn, refuse, refuseOutside } from './tasks.ts';
import { tokensOf } from './tokens.ts';
import { DIMENSIONS_MAX, DIMENSIONS_MIN, vectorOf } from './vector.ts';

/** In code units, which need not be counted. */
const INPUT_CHARS_MAX = 32_768;
/** So many characters are read and numbers written in one turn of the event loop. */
const TURN_STEPS = 16_384;

/** Vectors from the words and letters of each text. */
export function embeddingWork(failures: FailureCounts): EmbeddingWork {
  return {
    check(request) {
      const { input, dimensions } = request;
      // Its tokens have no numbers.
      if (input.kind === 'tokens') refuse('input', { oneOf: ['texts'] });
      const long = input.texts.findIndex(({ length }) => length > INPUT_CHARS_MAX);
      if (long !== -1) refuse(`input[${long}]`, { atMost: INPUT_CHARS_MAX, unit: 'characters' });
      refuseOutside('dimensions', dimensions, DIMENSIONS_MIN, DIMENSIONS_MAX);
      faultsIn(request);
    },

    async embed(request, upstream) {
      const bytes = () => JSON.stringify(request);
      await injectFault(faultsIn(request), upstream, failures, { bytes, isStream: false });
      const texts = request.input.kind === 'texts' ? request.input.texts : [];
      const vectors: Buffer[] = [];
      let inputTokens = 0;
      let steps = 0;
      for (const text of texts) {
        vectors.push(toBytes(vectorOf(text, request.dimensions ?? DIMENSIONS_MAX)));
        inputTokens += tokensOf(text).length;
        steps += text.length + DIMENSIONS_MAX;
        if (steps < TURN_STEPS) continue;
        steps = 0;
        await setImmediate();
        upstream.signal.throwIfAborted();
      }
      return { vectors, usage: { inputTokens, cachedTokens: 0, outputTokens: 0, reasoningTokens: 0 } };
    },
  };
}

function toBytes(vector: Float32Array): Buffer {
  const bytes = Buffer.allocUnsafe(vector.length * 4);
  for (const [at, value] of vector.entries()) bytes.writeFloatLE(value, at * 4);
  return bytes;
}
