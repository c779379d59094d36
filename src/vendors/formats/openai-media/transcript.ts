import { UpstreamError } from '../../../errors.ts';
import type { JsonObject } from '../../../json.ts';
import type { UpstreamReply } from '../../kit/exchange.ts';
import type { FaultTable } from '../../kit/faults.ts';
import { readBytes } from '../../kit/http.ts';
import { amountAt, listAt, objectAt, objectsAt, stringAt } from '../../kit/json.ts';
import { languageCode } from '../../kit/languages.ts';
import { parseTranscript, timedText } from '../../kit/transcripts.ts';
import { contentTypeOf } from '../../kit/wire.ts';
import type { Transcript, TranscriptSegment, TranscriptWord } from '../../vendor.ts';

/** Brief and verbose answers, under whatever content type; some servers answer with nothing but the text. */
export async function transcriptIn(reply: UpstreamReply, faults: FaultTable): Promise<Transcript> {
  const text = (await readBytes(reply)).toString('utf8');
  const answer = parseTranscript(text);
  if (answer !== undefined) return transcriptOf(answer, faults);
  const isText = contentTypeOf(reply).startsWith('text/plain');
  if (!isText) throw new UpstreamError('garbled', 'the answer is neither JSON nor text');
  return { text: text.trimEnd() };
}

function transcriptOf(answer: JsonObject, faults: FaultTable): Transcript {
  faults.throwIfError(answer);
  // A newer model lists every language that it heard.
  const language = stringAt(answer, 'language') ?? stringAt(objectsAt(answer, 'languages')[0], 'code');
  return {
    // Without a usable text there is none, and the caller is told so.
    text: stringAt(answer, 'text') ?? '',
    language: language === undefined ? undefined : languageCode(language),
    seconds: amountAt(answer, 'duration') ?? amountAt(objectAt(answer, 'usage'), 'seconds'),
    segments: listAt(answer, 'segments') && objectsAt(answer, 'segments').flatMap(segmentOf),
    words: listAt(answer, 'words') && objectsAt(answer, 'words').flatMap(wordOf),
  };
}

function segmentOf(entry: JsonObject): TranscriptSegment[] {
  const timed = timedText(entry, 'text');
  const probability = entry.no_speech_prob;
  const noSpeechProbability = typeof probability === 'number' ? probability : undefined;
  return timed === undefined ? [] : [{ ...timed, noSpeechProbability }];
}

function wordOf(entry: JsonObject): TranscriptWord[] {
  const timed = timedText(entry, 'word') ?? timedText(entry, 'text');
  return timed === undefined ? [] : [{ word: timed.text, start: timed.start, end: timed.end }];
}
