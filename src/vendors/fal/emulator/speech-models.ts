import { anything, between, fileUrl, flag, objectOf, oneOf, text, textOf, whole } from './fields.ts';
import { model } from './model.ts';

const share = between(0, 1);
const normalization = oneOf('auto', 'on', 'off');

export const SPEECH_MODELS = [
  model(
    'fal-ai/elevenlabs/tts/multilingual-v2',
    'audio',
    {
      text: textOf(1, 10_000),
      voice: text,
      speed: between(0.7, 1.2),
      stability: share,
      similarity_boost: share,
      style: share,
      language_code: text,
      previous_text: text,
      next_text: text,
      timestamps: flag,
      apply_text_normalization: normalization,
    },
    ['text'],
  ),
  model(
    'fal-ai/elevenlabs/tts/eleven-v3',
    'audio',
    {
      text: textOf(1, 5_000),
      voice: text,
      stability: share,
      language_code: text,
      timestamps: flag,
      apply_text_normalization: normalization,
    },
    ['text'],
  ),
  model(
    'fal-ai/minimax/speech-02-hd',
    'audio',
    {
      text: textOf(1, 5_000),
      voice_setting: objectOf({
        voice_id: text,
        speed: between(0.5, 2),
        vol: between(0, 10),
        pitch: between(-12, 12),
        emotion: oneOf('happy', 'sad', 'angry', 'fearful', 'disgusted', 'surprised', 'neutral'),
        english_normalization: flag,
      }),
      audio_setting: objectOf({
        format: oneOf('mp3', 'pcm', 'flac'),
        sample_rate: oneOf('8000', '16000', '22050', '24000', '32000', '44100'),
        bitrate: oneOf('32000', '64000', '128000', '256000'),
        channel: oneOf('1', '2'),
      }),
      language_boost: anything,
      output_format: oneOf('url', 'hex'),
      pronunciation_dict: anything,
    },
    ['text'],
  ),
  model('fal-ai/kokoro/american-english', 'audio', { prompt: text, voice: anything, speed: between(0.1, 5) }),
  model(
    'fal-ai/chatterbox/text-to-speech',
    'audio',
    { text, audio_url: fileUrl, cfg: share, exaggeration: share, seed: whole, temperature: between(0, 2) },
    ['text'],
  ),
  model(
    'fal-ai/f5-tts',
    'audio_url',
    {
      gen_text: textOf(1, 5_000),
      ref_audio_url: fileUrl,
      ref_text: text,
      model_type: oneOf('F5-TTS', 'E2-TTS'),
      remove_silence: flag,
    },
    ['gen_text', 'ref_audio_url', 'model_type'],
  ),
];
