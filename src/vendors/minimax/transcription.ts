import type { JsonObject } from '../../json.ts';
import type { TranscriptionRequest } from '../../schemas/index.ts';
import { toParts } from '../kit/forms.ts';
import { amountAt, listAt, objectsAt, stringAt } from '../kit/json.ts';
import { languageCode } from '../kit/languages.ts';
import { refuse, refuseKeys } from '../kit/refusals.ts';
import { readTranscript, timedText } from '../kit/transcripts.ts';
import type { Transcript, TranscriptionWork } from '../vendor.ts';
import { wire } from './wire.ts';

/** The text comes with the answer. There is no task, and so nothing to ask after. */
export const transcription: TranscriptionWork = {
  check({ extra, language, prompt, temperature, granularities }) {
    refuse('language', language !== undefined && languageCode(language) === undefined);
    refuse('prompt', Boolean(prompt), 'none');
    refuse('temperature', temperature !== undefined, 'none');
    // Unverified: where the answer would tell words.
    refuse('timestamp_granularities', granularities.includes('word'), { oneOf: ['segment'] });
    refuseKeys(extra, ['stream', 'file', 'response_format', 'timestamp_level']);
  },

  async submit(request, audio, upstream) {
    const { language, extra } = request;
    const code = language === undefined ? undefined : languageCode(language);
    const fields = { ...extra, model: upstream.model, ...timesOf(request) };
    const reply = await wire.send(upstream, {
      path: '/v1/speech_to_text',
      // The vendor reads the language here and nowhere else.
      headers: code === undefined ? {} : { language: code },
      body: {
        form: [...toParts(fields, 'repeated'), { name: 'file', fileName: `audio.${audio.extension}`, file: audio }],
      },
    });
    const answer = await readTranscript(reply);
    wire.faults.throwIfError(answer);
    return { state: 'transcribed', transcript: transcriptOf(answer) };
  },
};

function timesOf({ responseFormat, granularities }: TranscriptionRequest): Record<string, string> {
  const hasTimes = responseFormat === 'verbose_json' || granularities.length > 0;
  return hasTimes
    ? { response_format: 'verbose_json', timestamp_level: 'sentence', stream: 'false' }
    : { response_format: 'json', stream: 'false' };
}

function transcriptOf(answer: JsonObject): Transcript {
  return {
    // Without a usable text there is none, and the caller is told so.
    text: stringAt(answer, 'text') ?? '',
    seconds: amountAt(answer, 'duration'),
    segments:
      listAt(answer, 'segments') && objectsAt(answer, 'segments').flatMap((entry) => timedText(entry, 'text') ?? []),
  };
}
