import type { TranscriptionRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import { toParts } from '../kit/forms.ts';
import { languageCode } from '../kit/languages.ts';
import type { Part } from '../kit/multipart.ts';
import { refuseKeys } from '../kit/refusals.ts';
import { readTranscript } from '../kit/transcripts.ts';
import type { TranscriptionWork } from '../vendor.ts';
import { transcriptOf } from './transcript.ts';
import { wire } from './wire.ts';

/** The vendor hears no language by itself, and takes every recording for this one. */
const DEFAULT_LANGUAGE = 'en';

/** Answered on the same line: there is no task, and so nothing to ask after. */
export const transcription: TranscriptionWork = {
  check(request, upstreamModel) {
    const { extra, prompt, temperature } = request;
    if (prompt) throw unsupported('prompt');
    if (temperature !== undefined) throw unsupported('temperature');
    // Of bare samples, which are not what was measured; or another file.
    refuseKeys(extra, ['encoding', 'sample_rate', 'file']);
    valuesOf(request, upstreamModel);
  },

  async submit(request, audio, upstream) {
    const file = { name: 'file', fileName: `audio.${audio.extension}`, file: audio };
    const form = [...valuesOf(request, upstream.model), file];
    const reply = await wire.send(upstream, { path: '/stt', body: { form } });
    return { state: 'transcribed', transcript: transcriptOf(await readTranscript(reply)) };
  },
};

/** Times are of words alone, and only where they are asked for. */
function valuesOf({ language, extra, granularities, responseFormat }: TranscriptionRequest, model: string): Part[] {
  const needsTimes = responseFormat === 'verbose_json' || granularities.length > 0;
  const fields = {
    ...extra,
    model,
    language: language ? codeOf(language) : DEFAULT_LANGUAGE,
    ...(needsTimes && { timestamp_granularities: ['word'] }),
  };
  // A value of the caller's own never stands beside the file.
  return toParts(fields, 'brackets').filter(({ name }) => name !== 'file');
}

function codeOf(language: string): string {
  const code = languageCode(language);
  if (code === undefined) throw unsupported('language', 'another value');
  // The vendor has the old code of Javanese.
  return code === 'jv' ? 'jw' : code;
}
