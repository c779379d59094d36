import type { JsonObject } from '../../json.ts';
import { withTypes } from '../kit/forms.ts';
import { amountAt, objectAt, objectsAt, stringAt } from '../kit/json.ts';
import { languageCode } from '../kit/languages.ts';
import { refuse, refuseKeys } from '../kit/refusals.ts';
import { readTranscript } from '../kit/transcripts.ts';
import type { Transcript, TranscriptionWork } from '../vendor.ts';
import { callFor } from './tasks.ts';
import { GENERATION, wire } from './wire.ts';

/**
 * The models that answer while the line is open, for recordings of a few minutes. Those that make a task of it are not
 * offered: they take recordings at public addresses only, which what a caller uploads does not have.
 */
export const transcription: TranscriptionWork = {
  check({ extra, language, temperature, granularities }) {
    refuse('language', language !== undefined && languageCode(language) === undefined);
    refuse('temperature', temperature !== undefined, 'none');
    refuse('timestamp_granularities', granularities.length > 0, 'none');
    refuseKeys(extra, ['input', 'parameters', 'messages', 'asr_options', 'file_url', 'file_urls', 'stream']);
  },

  async submit({ language, prompt, extra }, audio, upstream) {
    const code = language === undefined ? undefined : languageCode(language);
    // What to expect, such as names, is told as the system's words.
    const context = prompt ? [{ role: 'system', content: [{ text: prompt }] }] : [];
    const fields = {
      messages: [...context, { role: 'user', content: [{ audio }] }],
      asr_options: { ...withTypes(extra), ...(code !== undefined && { language: code }) },
    };
    const reply = await wire.send(upstream, callFor(GENERATION, upstream.model, fields, ['messages']));
    const answer = await readTranscript(reply);
    wire.faults.throwIfError(answer);
    return { state: 'transcribed', transcript: transcriptOf(answer) };
  },
};

function transcriptOf(answer: JsonObject): Transcript {
  const [choice] = objectsAt(objectAt(answer, 'output'), 'choices');
  const message = objectAt(choice, 'message');
  const heard = objectsAt(message, 'annotations').map((note) => stringAt(note, 'language'));
  return {
    // Without a usable text there is none, and the caller is told so.
    text: objectsAt(message, 'content')
      .map((part) => stringAt(part, 'text') ?? '')
      .join(''),
    language: languageCode(heard.find((name) => name !== undefined) ?? ''),
    seconds: amountAt(objectAt(answer, 'usage'), 'seconds'),
  };
}
