import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MediaRequest } from './media-requests.ts';
import { list, map } from './media-slots.ts';
import { toVideoRequest, videoSchema } from './video.ts';

const BODY = {
  model: 'acme/clip',
  input_reference: 'https://media.example/a.png',
  reference_image_urls: ['https://media.example/b.png', 'https://media.example/c.png'],
  last_frame: 'https://media.example/d.png',
  reference_audios: ['https://media.example/e.mp3'],
  video_url: 'https://media.example/f.mp4',
};

test('every picture and clip of a request is listed with its field, its place in it and its kind', () => {
  const slots = list(toVideoRequest(videoSchema.parse(BODY), {}));
  assert.deepEqual(
    slots.map(({ path, kind, media }) => [path, kind, media.from === 'url' && media.url]),
    [
      ['input_reference', 'image', 'https://media.example/a.png'],
      ['reference_image_urls[0]', 'image', 'https://media.example/b.png'],
      ['reference_image_urls[1]', 'image', 'https://media.example/c.png'],
      ['last_frame', 'image', 'https://media.example/d.png'],
      ['reference_audios[0]', 'audio', 'https://media.example/e.mp3'],
      ['ref_video_url', 'video', 'https://media.example/f.mp4'],
    ],
  );
});

test('a change of the media leaves the rest of a request, and what is absent, as it is', () => {
  const request = toVideoRequest(videoSchema.parse(BODY), {});
  const changed: MediaRequest<string> = map(request, (source) => (source.from === 'url' ? source.url : ''));
  assert.deepEqual(changed, {
    ...request,
    inputReference: BODY.input_reference,
    referenceImages: BODY.reference_image_urls,
    lastFrame: BODY.last_frame,
    referenceAudios: BODY.reference_audios,
    sourceVideo: BODY.video_url,
  });
});
