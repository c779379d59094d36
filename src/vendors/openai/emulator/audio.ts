import type { ToneFormat } from '../../../../test/support/media-samples.ts';
import { byteSourceOf, measure, sniff } from '../../../media/index.ts';
import type { Recording } from './audio-checks.ts';

type Json = Record<string, unknown>;

/** How a sound comes. */
export interface Sound {
  /** Each is sent when it is there. Undefined: a real sound in the format that was asked for. */
  readonly pieces?: Iterable<Buffer> | AsyncIterable<Buffer>;
  readonly contentType?: string;
  readonly end?: 'close' | 'reset' | 'silence';
}

const TYPES: Readonly<Record<string, string>> = { mp3: 'audio/mpeg', opus: 'audio/ogg' };

export function formatOf({ response_format: name = 'mp3' }: Json): { format: string; type: string } {
  const format = String(name);
  return { format, type: TYPES[format] ?? `audio/${format}` };
}

const SECONDS = 0.5;
const made = new Map<string, Promise<Buffer>>();

/** A real sound; the same again for the same format. */
export function soundAs(format: string): Promise<Buffer> {
  const known = made.get(format) ?? make(format);
  made.set(format, known);
  return known;
}

/** The encoders are loaded when a real sound is wanted: an installation that runs campaigns has none of them. */
async function make(format: string): Promise<Buffer> {
  const { toneAs } = await import('../../../../test/support/media-samples.ts');
  if (format === 'opus') return toneAs('ogg-opus', { seconds: SECONDS });
  const wave = format === 'pcm' ? await soundAs('wav') : undefined;
  if (wave !== undefined) return wave.subarray(wave.indexOf('data', 0, 'latin1') + 8);
  return toneAs(format as ToneFormat, { seconds: SECONDS, sampleRate: 24_000 });
}

/** What the model heard. */
export interface Heard {
  readonly words?: readonly string[];
  /** As this vendor tells it: in words. */
  readonly language?: string;
  /** Done to the finished document. */
  readonly change?: (document: Json) => Json;
  /** The answer waits for this. */
  readonly after?: Promise<void>;
}

const WORDS = ['Hello', 'there.', 'How', 'are', 'you?'];

/** The answer in the form that was asked for. Every word takes its even share of the recording. */
export async function transcriptOf(
  heard: Heard,
  { task, fields, file }: Recording,
): Promise<{ type: string; body: string }> {
  await heard.after;
  const { words = WORDS, language = 'english', change = (document) => document } = heard;
  const seconds = await secondsOf(file.bytes);
  const [text, duration] = [words.join(' '), Math.round(seconds * 100) / 100];
  const plain = { text: `${text}\n`, srt: `1\n00:00:00,000 --> 00:00:01,000\n${text}\n\n`, vtt: `WEBVTT\n\n${text}\n` };
  const { response_format: format = 'json', model } = fields;
  if (format === 'text' || format === 'srt' || format === 'vtt') return { type: 'text/plain', body: plain[format] };
  const usage = String(model).startsWith('gpt') ? tokensOf(words) : { type: 'duration', seconds: Math.ceil(seconds) };
  const verbose = { task, language, duration, text, ...timesOf(words, duration, fields), usage };
  const document = format === 'verbose_json' ? verbose : { text, usage };
  return { type: 'application/json', body: JSON.stringify(change(document)) };
}

async function secondsOf(bytes: Buffer): Promise<number> {
  const sniffed = sniff(bytes);
  return (sniffed && (await measure(byteSourceOf(bytes), sniffed)).seconds) ?? 0;
}

function tokensOf(words: readonly string[]): Json {
  const counts = { input_tokens: 10, output_tokens: words.length, total_tokens: 10 + words.length };
  return { type: 'tokens', ...counts, input_token_details: { audio_tokens: 10, text_tokens: 0 } };
}

function timesOf(words: readonly string[], duration: number, fields: Json): Json {
  const stated = fields['timestamp_granularities[]'];
  const granularities: readonly unknown[] = Array.isArray(stated) ? stated : ['segment'];
  const at = (index: number) => Math.round((duration * 100 * index) / words.length) / 100;
  const timed = words.map((word, index) => ({ word, start: at(index), end: at(index + 1) }));
  const figures = { tokens: [50_364], temperature: 0, avg_logprob: -0.2, compression_ratio: 1.1, no_speech_prob: 0.01 };
  const segment = { id: 0, seek: 0, start: 0, end: duration, text: ` ${words.join(' ')}`, ...figures };
  return {
    ...(granularities.includes('segment') && { segments: [segment] }),
    ...(granularities.includes('word') && { words: timed }),
  };
}
