import { anything, fileUrl, flag, oneOf, text, whole } from './fields.ts';
import { model } from './model.ts';

type Json = Readonly<Record<string, unknown>>;

const task = oneOf('transcribe', 'translate');

export const TRANSCRIPTION_MODELS = [
  model(
    'fal-ai/whisper',
    'transcript',
    {
      audio_url: fileUrl,
      task,
      language: anything,
      chunk_level: oneOf('none', 'segment', 'word'),
      prompt: text,
      diarize: flag,
      num_speakers: whole,
      batch_size: whole,
    },
    ['audio_url'],
  ),
  model(
    'fal-ai/wizper',
    'transcript',
    {
      audio_url: fileUrl,
      task,
      language: anything,
      chunk_level: text,
      max_segment_len: whole,
      merge_chunks: flag,
      version: text,
    },
    ['audio_url'],
  ),
  model(
    'fal-ai/elevenlabs/speech-to-text/scribe-v2',
    'transcript',
    { audio_url: fileUrl, language_code: text, diarize: flag, tag_audio_events: flag, keyterms: anything },
    ['audio_url'],
  ),
  model('fal-ai/speech-to-text', 'transcript', { audio_url: fileUrl, use_pnc: flag }, ['audio_url']),
];

const HEARD = 'Hello there. Hi.';
const WORDS: readonly (readonly [text: string, start: number, end: number])[] = [
  [' Hello', 0, 0.4],
  [' there.', 0.4, 0.9],
  [' Hi.', 1.2, 1.4],
];
const SEGMENTS: typeof WORDS = [
  [' Hello there.', 0, 0.9],
  [' Hi.', 1.2, 1.4],
];

/** What the vendor hears in every recording, in the shape of the model. */
export function heardBy(name: string, { chunk_level: level = 'segment' }: Json): Json {
  if (name.endsWith('/speech-to-text')) return { output: HEARD, partial: false };
  if (name.includes('/elevenlabs/')) {
    const words = WORDS.map(([word, start, end]) => ({
      text: word.trim(),
      start,
      end,
      type: 'word',
      speaker_id: null,
    }));
    return { text: HEARD, language_code: 'eng', language_probability: 0.98, words };
  }
  const chunks = (level === 'word' ? WORDS : SEGMENTS).map(([words, start, end]) => {
    return { text: words, timestamp: [start, end] };
  });
  const languages = name.endsWith('/wizper')
    ? { languages: ['en'] }
    : { inferred_languages: ['en'], diarization_segments: [] };
  return { text: HEARD, ...(level !== 'none' && { chunks }), ...languages };
}
