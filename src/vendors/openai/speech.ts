import type { JsonValue } from '../../json.ts';
import { send, type Upstream } from '../kit/http.ts';
import { openSound } from '../kit/sound.ts';
import type { Media, SpeechWork } from '../vendor.ts';
import { faultOf, throwIfError } from './faults.ts';
import { headersOf } from './headers.ts';
import { checkFields, fieldsOf, samplesOf, textsOf } from './speech-fields.ts';

/** Sound that comes while it is made. A text too long for one call is said in several, and heard as one. */
export const speech: SpeechWork = {
  check: checkFields,

  async speak(request, upstream) {
    const samples = request.referenceAudio.length === 0 ? undefined : await samplesIn(request.referenceAudio);
    const say = (text: string) => begin(upstream, fieldsOf(request, text, upstream.model, samples));
    const [first = '', ...others] = textsOf(request);
    return { pieces: inTurn(await say(first), others, say), ...samplesOf(request) };
  },
};

/** As data URLs: what was checked is what is sent, and no server has to reach where it was. */
function samplesIn(samples: readonly Media[]): Promise<string[]> {
  return Promise.all(
    samples.map(async (media) => `data:${media.mimeType};base64,${(await media.read()).toString('base64')}`),
  );
}

async function* inTurn(
  first: AsyncIterable<Buffer>,
  others: readonly string[],
  say: (text: string) => Promise<AsyncIterable<Buffer>>,
): AsyncGenerator<Buffer> {
  yield* first;
  for (const text of others) yield* await say(text);
}

/** Resolves when the first of the sound is there, so that an empty answer is found while another may still be asked. */
async function begin(
  upstream: Upstream,
  fields: Readonly<Record<string, JsonValue | undefined>>,
): Promise<AsyncIterable<Buffer>> {
  const headers = { ...headersOf(upstream, 'application/octet-stream'), 'content-type': 'application/json' };
  const call = { method: 'POST', path: '/audio/speech', headers, body: JSON.stringify(fields) } as const;
  const reply = await send(upstream, call, { faultOf });
  return openSound(reply, throwIfError);
}
