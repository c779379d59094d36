import assert from 'node:assert/strict';
import { test } from 'node:test';
import { imageOf, soundOf, videoOf } from '../../test/support/media-bodies.ts';
import type { MediaSource } from './media-requests.ts';
import { toWireBody } from './wire-body.ts';

const urlOf = (source: MediaSource) => (source.from === 'url' ? source.url : undefined);
const at = (name: string) => `https://media.example/${name}`;

const IMAGE = {
  model: 'm',
  prompt: 'a gate',
  n: 3,
  size: '512x512',
  resolution: '1k',
  aspect_ratio: '1:1',
  quality: 'high',
  style: 'vivid',
  negative_prompt: 'rust',
  background: 'auto',
  output_format: 'webp',
  response_format: 'url',
  seed: 7,
  watermark: false,
  reference_images: [at('one.png'), at('two.png')],
  mask: at('mask.png'),
  house_rule: { strength: 0.5 },
};
const VIDEO = {
  model: 'm',
  prompt: 'a gate',
  seconds: 4,
  resolution: '720p',
  size: '1280x720',
  aspect_ratio: '16:9',
  fps: 24,
  seed: 7,
  negative_prompt: 'rust',
  camera_fixed: true,
  watermark: false,
  generate_audio: true,
  input_reference: at('look.png'),
  reference_image_urls: [at('one.png')],
  first_frame: at('first.png'),
  last_frame: at('last.png'),
  reference_videos: [at('walk.mp4')],
  reference_audios: [at('hum.mp3')],
  ref_video_url: at('source.mp4'),
  house_rule: true,
};
const SOUND = {
  model: 'm',
  input: 'Hello',
  prompt: 'calm',
  lyrics: 'la',
  voice_description: 'deep',
  voice: 'alloy',
  reference_id: 'v1',
  language: 'en',
  response_format: 'wav',
  output: 'url',
  n: 2,
  duration_seconds: 5,
  speed: 1.5,
  volume: 2,
  loudness: 3,
  guidance_scale: 4,
  prompt_influence: 0.5,
  sample_rate: 44_100,
  bitrate: 128,
  seed: 7,
  instrumental: true,
  loop: false,
  auto_generate_text: true,
  reference_audio: [at('sample.mp3')],
  house_rule: 'x',
};

for (const [kind, body, parse] of [
  ['picture', IMAGE, imageOf],
  ['clip', VIDEO, videoOf],
  ['sound', SOUND, soundOf],
] as const) {
  test(`R-523: a request for a ${kind} becomes the body that it was read from`, () => {
    assert.deepEqual(toWireBody(parse(body), urlOf), body);
  });
}

test('what a body need not say is left out, and media without an address too', () => {
  const request = imageOf({ model: 'm', prompt: 'p', n: 1, reference_images: [at('one.png'), at('two.png')] });
  const only = (source: MediaSource) => (urlOf(source) === at('two.png') ? 'kept' : undefined);
  assert.deepEqual(toWireBody(request, only), { model: 'm', prompt: 'p', reference_images: ['kept'] });
  assert.deepEqual(
    toWireBody(request, () => undefined),
    { model: 'm', prompt: 'p' },
  );
  assert.deepEqual(toWireBody(soundOf({ model: 'm', input: 'x' }), urlOf), { model: 'm', input: 'x' });
});
