import type { JsonObject } from '../../json.ts';
import { toParts } from '../kit/forms.ts';
import { objectsAt } from '../kit/json.ts';
import { languageCode } from '../kit/languages.ts';
import { refuse, refuseKeys } from '../kit/refusals.ts';
import { readTranscript } from '../kit/transcripts.ts';
import { transcriptOfWords } from '../kit/word-transcripts.ts';
import type { Transcript, TranscriptionWork } from '../vendor.ts';
import { wire } from './wire.ts';

/** The text and its words come with the answer. There is no task, and so nothing to ask after. */
export const transcription: TranscriptionWork = {
  check({ extra, language, prompt, temperature }) {
    refuse('language', language !== undefined && languageCode(language) === undefined);
    refuse('prompt', Boolean(prompt), 'none');
    refuse('temperature', temperature !== undefined, 'none');
    // Another sound than was measured, or an answer of another shape.
    refuseKeys(extra, ['file', 'url', 'audio_format', 'sample_rate', 'multichannel', 'channels', 'stream']);
  },

  async submit({ extra, language }, audio, upstream) {
    const fields = { ...extra, language: language === undefined ? undefined : languageCode(language) };
    // The file comes last: what stands behind it may be passed over.
    const file = { name: 'file', fileName: `audio.${audio.extension}`, file: audio };
    const reply = await wire.send(upstream, { path: '/stt', body: { form: [...toParts(fields, 'repeated'), file] } });
    const answer = await readTranscript(reply);
    wire.faults.throwIfError(answer);
    return { state: 'transcribed', transcript: transcriptOf(answer) };
  },
};

/** In the words of the format that the kit reads, with the spaces that this vendor leaves out. */
function transcriptOf(answer: JsonObject): Transcript {
  const words = objectsAt(answer, 'words').flatMap((word, at) => {
    const space = { type: 'spacing', text: ' ', start: word.start ?? 0, end: word.start ?? 0 };
    const spoken = { type: 'word', ...word };
    return at === 0 ? [spoken] : [space, spoken];
  });
  const { text = null, language = null, duration = null } = answer;
  return transcriptOfWords({ text, language_code: language, audio_duration_secs: duration, words });
}
