import { UpstreamError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import type { TranscriptionRequest } from '../../schemas/index.ts';
import { unsupported } from '../../unsupported.ts';
import { amountAt, objectAt, objectsAt, stringAt } from '../kit/json.ts';
import { languageCode } from '../kit/languages.ts';
import { refuseKeys } from '../kit/refusals.ts';
import { readTranscript, timedText } from '../kit/transcripts.ts';
import type { Transcript, TranscriptionWork, TranscriptSegment, TranscriptWord } from '../vendor.ts';
import { pathWith, wire } from './wire.ts';

/**
 * The answer would go elsewhere, be of another sound or shape than is measured and read, or cost more than the sound does
 * for what no caller is shown.
 */
const NOT_FOR_CALLERS = [
  ...['callback', 'callback_method', 'multichannel', 'encoding', 'version', 'mip_opt_out'],
  ...['summarize', 'topics', 'custom_topic', 'custom_topic_mode', 'intents', 'custom_intent', 'custom_intent_mode'],
  ...['sentiment', 'detect_entities', 'search'],
];

/** Answered on the same line. The vendor has tasks too, but tells their results to an address only, never to a poll. */
export const transcription: TranscriptionWork = {
  check({ extra, prompt, temperature }) {
    // Words to listen for are the vendor's own `keyterm`; a sentence of context is none.
    if (prompt) throw unsupported('prompt');
    if (temperature !== undefined) throw unsupported('temperature');
    refuseKeys(extra, NOT_FOR_CALLERS);
  },

  async submit(request, audio, upstream) {
    const options = optionsOf(request, upstream.model);
    const content = { bytes: audio.bytes, pieces: audio.pieces() };
    const path = pathWith('/v1/listen', options);
    const reply = await wire.send(upstream, { path, body: { type: audio.mimeType, content } });
    const requested = typeof options.language === 'string' ? options.language : undefined;
    return { state: 'transcribed', transcript: transcriptOf(await readTranscript(reply), requested) };
  },
};

/** Models that take everything for English where no language is named, and detect none. */
const ENGLISH_MODELS =
  /(^|-)(medical|pharma|meeting|phonecall|finance|conversationalai|voicemail|video|drivethru|automotive|atc)$/;

/** Against surprising defaults: a language that is assumed and not heard, and a text without sentences. */
function optionsOf(request: TranscriptionRequest, model: string): JsonObject {
  const { language, extra, granularities, responseFormat } = request;
  const needsTimes = responseFormat === 'verbose_json' || granularities.length > 0;
  const fallback: JsonObject = ENGLISH_MODELS.test(model) ? { language: 'en' } : { detect_language: true };
  return {
    smart_format: true,
    ...(language ? {} : fallback),
    ...extra,
    model,
    ...(language && { language }),
    ...(needsTimes && { utterances: true }),
  };
}

/** Times are in seconds. A text that is empty was silence. */
function transcriptOf(answer: JsonObject, requested: string | undefined): Transcript {
  const results = objectAt(answer, 'results');
  const [channel] = objectsAt(results, 'channels');
  const [best] = objectsAt(channel, 'alternatives');
  const text = stringAt(best, 'transcript');
  if (text === undefined) throw new UpstreamError('garbled', 'an answer without a transcript');
  const language = stringAt(channel, 'detected_language') ?? requested;
  return {
    text,
    language: language === undefined ? undefined : languageCode(language),
    seconds: amountAt(objectAt(answer, 'metadata'), 'duration'),
    words: objectsAt(best, 'words').flatMap(wordOf),
    ...(results?.utterances !== undefined && { segments: objectsAt(results, 'utterances').flatMap(segmentOf) }),
  };
}

function wordOf(entry: JsonObject): TranscriptWord[] {
  const timed = timedText(entry, 'punctuated_word') ?? timedText(entry, 'word');
  return timed === undefined ? [] : [{ word: timed.text, start: timed.start, end: timed.end }];
}

function segmentOf(entry: JsonObject): TranscriptSegment[] {
  const timed = timedText(entry, 'transcript');
  return timed === undefined ? [] : [timed];
}
