import { toDataUrl } from '../../kit/data-url.ts';
import type { Wire } from '../../kit/wire.ts';
import type { SpeechWork } from '../../vendor.ts';
import { checkFields, fieldsOf, samplesOf, speechFamily, textsOf } from './speech-fields.ts';

/** Sound that comes while it is made. A text too long for one call is said in several, and heard as one. */
export function speechOver(wire: Wire, familyOf = speechFamily): SpeechWork {
  return {
    check: (request, upstreamModel) => checkFields(request, familyOf(upstreamModel)),

    async speak(request, upstream) {
      // As data URLs: what was checked is what is sent, and no server has to reach where it was.
      const samples = await Promise.all(request.referenceAudio.map(toDataUrl));
      const say = (text: string) => {
        const voices = samples.length === 0 ? undefined : samples;
        const json = { ...fieldsOf(request, text, familyOf(upstream.model), voices), model: upstream.model };
        return wire.sound(upstream, { path: '/audio/speech', accept: 'application/octet-stream', body: { json } });
      };
      const [first = '', ...others] = textsOf(request);
      return { pieces: joined(await say(first), others, say), ...samplesOf(request) };
    },
  };
}

async function* joined(
  first: AsyncIterable<Buffer>,
  others: readonly string[],
  say: (text: string) => Promise<AsyncIterable<Buffer>>,
): AsyncGenerator<Buffer> {
  yield* first;
  for (const text of others) yield* await say(text);
}
