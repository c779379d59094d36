import type { TranscriptionRequest } from '../../schemas/index.ts';
import { toParts, withQuery } from '../kit/forms.ts';
import { defined } from '../kit/json.ts';
import type { Part } from '../kit/multipart.ts';
import { refuseKeys, refuseOutside } from '../kit/refusals.ts';
import { readTranscript } from '../kit/transcripts.ts';
import type { AudioFile, TranscriptionWork } from '../vendor.ts';
import { transcriptOf } from './transcript.ts';
import { wire } from './wire.ts';

/**
 * Answered on the same line. There is no field for a prompt, and it is left out: context is a hint, and a transcript
 * without it is better than none. The vendor's own `keyterms` name words to listen for.
 */
export const transcription: TranscriptionWork = {
  check({ extra, temperature }) {
    // The answer would go elsewhere, be of another sound than was measured, or of another shape.
    refuseKeys(extra, ['webhook', 'source_url', 'cloud_storage_url', 'file', 'use_multi_channel']);
    refuseOutside('temperature', temperature, 0, 2);
  },

  async submit(request, audio, upstream) {
    const path = withQuery('/v1/speech-to-text', { enable_logging: request.extra.enable_logging });
    const reply = await wire.send(upstream, { path, body: { form: formOf(request, audio, upstream.model) } });
    return { state: 'transcribed', transcript: transcriptOf(await readTranscript(reply)) };
  },
};

function formOf(request: TranscriptionRequest, file: AudioFile, model_id: string): Part[] {
  const { language: language_code, temperature, granularities, responseFormat } = request;
  const needsTimes = responseFormat === 'verbose_json' || granularities.length > 0;
  const { enable_logging: _inQuery, ...extra } = request.extra;
  const timestamps_granularity = needsTimes ? 'word' : 'none';
  const fields = { ...extra, model_id, timestamps_granularity, ...defined({ language_code, temperature }) };
  return [...toParts(fields, 'repeated'), { name: 'file', fileName: `audio.${file.extension}`, file }];
}
