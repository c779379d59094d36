import { UpstreamError } from '../../errors.ts';
import type { TranscriptionRequest } from '../../schemas/index.ts';
import { dialectOf } from '../kit/dialects.ts';
import { toParts, withQuery } from '../kit/forms.ts';
import type { Upstream } from '../kit/http.ts';
import { defined, objectAt, requiredString } from '../kit/json.ts';
import type { Part } from '../kit/multipart.ts';
import { refuseKeys, refuseOutside } from '../kit/refusals.ts';
import { readTranscript } from '../kit/transcripts.ts';
import { transcriptOfWords } from '../kit/word-transcripts.ts';
import type { AudioFile, TranscriptionWork } from '../vendor.ts';
import { DIALECTS } from './terms.ts';
import { wire } from './wire.ts';

/**
 * Answered on the same line, or stored by the vendor and polled for. There is no field for a prompt, and it is left out:
 * context is a hint, and a transcript without it is better than none. The vendor's own `keyterms` name words to listen for.
 */
export const transcription: TranscriptionWork = {
  check({ extra, temperature }) {
    // The answer would go elsewhere, be of another sound than was measured, or of another shape.
    refuseKeys(extra, [
      'webhook',
      'webhook_id',
      'webhook_metadata',
      'source_url',
      'cloud_storage_url',
      'file',
      'use_multi_channel',
    ]);
    refuseOutside('temperature', temperature, 0, 2);
  },

  async submit(request, audio, upstream) {
    const path = withQuery('/v1/speech-to-text', { enable_logging: request.extra.enable_logging });
    const form = formOf(request, audio, upstream.model);
    if (isStored(request, upstream)) {
      const stored = { path, body: { form: [{ name: 'webhook', value: 'true' }, ...form] }, accepts: [200, 202] };
      const id = requiredString(await wire.json(upstream, stored), 'transcription_id');
      return { state: 'accepted', task: { id } };
    }
    const reply = await wire.send(upstream, { path, body: { form } });
    return { state: 'transcribed', transcript: transcriptOfWords(await readTranscript(reply)) };
  },

  async poll(task, upstream) {
    const path = `/v1/speech-to-text/transcripts/${encodeURIComponent(requiredString(task, 'id'))}`;
    const reply = await wire.send(upstream, { path, accepts: [200, 404] });
    const answer = await readTranscript(reply);
    if (reply.status === 200) return { state: 'transcribed', transcript: transcriptOfWords(answer) };
    // The vendor's own answer until the transcript is stored; the record's deadline ends the wait for one that never is.
    if (objectAt(answer, 'detail') !== undefined) return { state: 'running' };
    throw new UpstreamError('config', 'the route for transcripts is not found');
  },
};

/** What a caller does not want to be logged is not stored either. */
function isStored({ extra }: TranscriptionRequest, upstream: Upstream): boolean {
  const { enable_logging: isLogged } = extra;
  return dialectOf(upstream, DIALECTS) === 'webhook' && isLogged !== false && isLogged !== 'false';
}

function formOf(request: TranscriptionRequest, file: AudioFile, model_id: string): Part[] {
  const { language: language_code, temperature, granularities, responseFormat } = request;
  const needsTimes = responseFormat === 'verbose_json' || granularities.length > 0;
  const { enable_logging: _inQuery, ...extra } = request.extra;
  const timestamps_granularity = needsTimes ? 'word' : 'none';
  const fields = { ...extra, model_id, timestamps_granularity, ...defined({ language_code, temperature }) };
  return [...toParts(fields, 'repeated'), { name: 'file', fileName: `audio.${file.extension}`, file }];
}
