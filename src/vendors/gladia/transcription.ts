import { UpstreamError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import type { TranscriptionRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import { withTypes } from '../kit/forms.ts';
import type { Upstream } from '../kit/http.ts';
import { requiredString } from '../kit/json.ts';
import { languageCode } from '../kit/languages.ts';
import { beforeSubmission } from '../kit/preparation.ts';
import { refuseKeys } from '../kit/refusals.ts';
import { readTranscript } from '../kit/transcripts.ts';
import type { AudioFile, TranscriptionWork } from '../vendor.ts';
import { progressOf } from './transcript.ts';
import { wire } from './wire.ts';

/** The answer would go elsewhere, be of another sound than was measured, or have what no caller is shown. */
const NOT_FOR_CALLERS = [
  ...['audio_url', 'callback', 'callback_url', 'callback_config', 'language_config', 'subtitles', 'sentences'],
  ...['translation', 'summarization', 'named_entity_recognition', 'sentiment_analysis', 'audio_to_llm'],
];

/** Upload the recording, create a task for it, ask after the task. Its id is all that has to be remembered. */
export const transcription: TranscriptionWork = {
  check(request) {
    const { extra, prompt, temperature } = request;
    // Words to listen for are the vendor's own `custom_vocabulary`; a sentence of context is none.
    if (prompt) throw unsupported('prompt');
    if (temperature !== undefined) throw unsupported('temperature');
    refuseKeys(extra, NOT_FOR_CALLERS);
    languagesOf(request);
  },

  async submit(request, audio, upstream) {
    const audioUrl = await beforeSubmission('upload', () => upload(audio, upstream));
    const json = { ...withTypes(request.extra), audio_url: audioUrl, model: upstream.model, ...languagesOf(request) };
    const answer = await wire.json(upstream, { path: '/v2/pre-recorded', body: { json }, accepts: [200, 201] });
    return { state: 'accepted', task: { id: requiredString(answer, 'id') } };
  },

  async poll(task, upstream) {
    const path = `/v2/pre-recorded/${encodeURIComponent(requiredString(task, 'id'))}`;
    const reply = await wire.send(upstream, { path, accepts: [200, 404] });
    const answer = await readTranscript(reply);
    return reply.status === 404 ? { state: 'lost' } : progressOf(answer);
  },
};

/** The longest that any plan takes; what is too long would fail as a task, and another upstream could not be asked. */
const SECONDS_MAX = 255 * 60;

async function upload(audio: AudioFile, upstream: Upstream): Promise<string> {
  if (audio.seconds > SECONDS_MAX)
    throw new UpstreamError('unfit', `a recording of ${audio.seconds} seconds is too long`);
  const form = [{ name: 'audio', fileName: `audio.${audio.extension}`, file: audio }];
  const answer = await wire.json(upstream, { path: '/v2/upload', body: { form }, accepts: [200, 201] });
  return requiredString(answer, 'audio_url');
}

/** Where none is named, the vendor hears which it is. */
function languagesOf({ language }: TranscriptionRequest): JsonObject {
  if (!language) return {};
  const code = languageCode(language);
  if (code === undefined) throw unsupported('language', 'another value');
  // The vendor has the old code of Javanese.
  return { language_config: { languages: [code === 'jv' ? 'jw' : code], code_switching: false } };
}
