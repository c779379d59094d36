import { UpstreamError } from '../../errors.ts';
import type { TranscriptionRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import { toParts } from '../kit/forms.ts';
import { languageCode } from '../kit/languages.ts';
import type { Part } from '../kit/multipart.ts';
import { refuseKeys } from '../kit/refusals.ts';
import { readTranscript } from '../kit/transcripts.ts';
import type { AudioFile, TranscriptionWork } from '../vendor.ts';
import { transcriptOf } from './transcript.ts';
import { refuseModel, wire } from './wire.ts';

const MODELS = /^transcribe-\d+(-pro)?$/;
const PRO_FIELDS = ['tag_audio_events', 'diarize', 'num_speakers', 'min_speakers', 'max_speakers'];

/** Answered on the same line, however long it takes: there is no task, and so nothing to ask after. */
export const transcription: TranscriptionWork = {
  check(request, upstreamModel) {
    refuseModel(upstreamModel, MODELS);
    const { extra, prompt, temperature } = request;
    if (prompt) throw unsupported('prompt');
    if (temperature !== undefined) throw unsupported('temperature');
    // Times are asked for by public fields; the rest is for another model, or would be of another sound.
    refuseKeys(extra, ['ignore_timestamps', 'audio', ...(isPro(upstreamModel) ? [] : PRO_FIELDS)]);
    valuesOf(request, upstreamModel);
  },

  async submit(request, audio, upstream) {
    refuseFile(audio, upstream.model);
    const file = { name: 'audio', fileName: `audio.${audio.extension}`, file: audio };
    const form = [...valuesOf(request, upstream.model), file];
    const reply = await wire.send(upstream, { path: '/v1/asr', headers: { model: upstream.model }, body: { form } });
    return { state: 'transcribed', transcript: transcriptOf(await readTranscript(reply), audio.seconds) };
  },
};

function isPro(model: string): boolean {
  return model.endsWith('-pro');
}

/** Against surprising defaults: no times, and laughter between the words. */
function valuesOf(request: TranscriptionRequest, model: string): Part[] {
  const { language, extra, granularities, responseFormat } = request;
  const needsTimes = responseFormat === 'verbose_json' || granularities.length > 0;
  const fields = {
    ...(isPro(model) && { tag_audio_events: false }),
    ...extra,
    ...(language && { language: twoLetters(language) }),
    ignore_timestamps: !needsTimes,
  };
  // A value of the caller's own never stands beside the file.
  return toParts(fields, 'repeated').filter(({ name }) => name !== 'audio');
}

/** The vendor takes no other form of a language. */
function twoLetters(language: string): string {
  const code = languageCode(language);
  if (code?.length !== 2) throw unsupported('language', 'another value');
  return code;
}

const FILE_BYTES_MAX = 50 * 1024 * 1024;
const PRO_SECONDS_MAX = 60 * 60;

/** What the vendor is known to refuse is not sent there first. */
function refuseFile({ bytes, seconds, extension }: AudioFile, model: string): void {
  if (isPro(model)) {
    if (seconds > PRO_SECONDS_MAX) throw new UpstreamError('unfit', `a recording of ${seconds} seconds is too long`);
    return;
  }
  if (bytes > FILE_BYTES_MAX) throw new UpstreamError('unfit', `a file of ${bytes} bytes is too large`);
  if (extension === 'webm') throw new UpstreamError('unfit', 'no WebM is taken');
}
