import { anything, between, fileUrl, flag, objectOf, oneOf, text, textOf, whole, wholeBetween } from './fields.ts';
import { model } from './model.ts';

const codec = oneOf(
  'mp3_22050_32',
  'mp3_44100_32',
  'mp3_44100_64',
  'mp3_44100_96',
  'mp3_44100_128',
  'mp3_44100_192',
  'pcm_16000',
  'pcm_22050',
  'pcm_24000',
  'pcm_44100',
  'pcm_48000',
  'opus_48000_32',
  'opus_48000_64',
  'opus_48000_96',
  'opus_48000_128',
  'opus_48000_192',
);
const guided = { prompt: text, guidance_scale: between(1, 25), num_inference_steps: wholeBetween(4, 8), seed: whole };

export const MUSIC_MODELS = [
  model('fal-ai/elevenlabs/music', 'audio', {
    prompt: text,
    composition_plan: anything,
    force_instrumental: flag,
    music_length_ms: wholeBetween(3000, 600_000),
    output_format: codec,
    respect_sections_durations: flag,
  }),
  model(
    'fal-ai/elevenlabs/sound-effects/v2',
    'audio',
    {
      text,
      duration_seconds: between(0.5, 22),
      loop: flag,
      prompt_influence: between(0, 1),
      output_format: codec,
    },
    ['text'],
  ),
  model(
    'fal-ai/minimax-music/v2',
    'audio',
    { prompt: textOf(10, 300), lyrics_prompt: textOf(10, 3000), audio_setting: audioSetting() },
    ['prompt', 'lyrics_prompt'],
  ),
  model(
    'fal-ai/minimax-music/v2.6',
    'audio',
    { prompt: textOf(10, 300), lyrics: textOf(0, 1000), is_instrumental: flag, audio_setting: audioSetting() },
    ['prompt'],
  ),
  model('fal-ai/minimax-music', 'audio', { prompt: text, reference_audio_url: fileUrl }, [
    'prompt',
    'reference_audio_url',
  ]),
  model(
    'fal-ai/stable-audio',
    'audio_file',
    { prompt: text, seconds_start: whole, seconds_total: wholeBetween(0, 47), steps: wholeBetween(1, 1000) },
    ['prompt'],
  ),
  model(
    'fal-ai/stable-audio-25/text-to-audio',
    'audio',
    { ...guided, seconds_total: wholeBetween(1, 190), sync_mode: flag },
    ['prompt'],
  ),
  model(
    'fal-ai/stable-audio-25/audio-to-audio',
    'audio',
    { ...guided, audio_url: fileUrl, strength: between(0, 1), total_seconds: wholeBetween(1, 190), sync_mode: flag },
    ['prompt', 'audio_url'],
  ),
  model(
    'fal-ai/ace-step/prompt-to-audio',
    'audio',
    {
      prompt: text,
      duration: between(5, 240),
      instrumental: flag,
      seed: whole,
      guidance_scale: between(0, 200),
      granularity_scale: anything,
      guidance_interval: anything,
      guidance_interval_decay: anything,
      guidance_type: anything,
      lyric_guidance_scale: anything,
      minimum_guidance_scale: anything,
      number_of_steps: anything,
      scheduler: anything,
      tag_guidance_scale: anything,
    },
    ['prompt'],
  ),
];

function audioSetting() {
  return objectOf({
    format: oneOf('mp3', 'pcm', 'flac'),
    sample_rate: oneOf('8000', '16000', '22050', '24000', '32000', '44100'),
    bitrate: oneOf('32000', '64000', '128000', '256000'),
    channel: oneOf('1', '2'),
  });
}
