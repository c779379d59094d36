import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { plainVideo } from '../../../test/support/plain-requests.ts';
import { ApiError } from '../../errors.ts';
import type { VideoRequest } from '../../schemas/index.ts';
import { json } from '../emulator/json.ts';
import { inMemoryMedia } from '../kit/in-memory-media.ts';
import type { Media } from '../vendor.ts';
import { withEmulator } from './emulator/calls.ts';
import { work as bfl } from './work.ts';

type Fields = Partial<VideoRequest<Media>>;

const work = bfl.video ?? assert.fail('the vendor makes clips');
const picture = inMemoryMedia(Buffer.from('a picture'), 'image/png');
const clip = inMemoryMedia(Buffer.from('a clip'), 'video/mp4');
const [PICTURE, CLIP] = ['YSBwaWN0dXJl', 'YSBjbGlw'];
const MODEL = 'flux-3-video';
const ORDER = { id: 'order-1', count: 1, startWithinMs: 600_000 };
const silent = { prompt: 'Waves', generate_audio: false };

const REQUESTS: readonly { fields: Fields; wire: object }[] = [
  { fields: {}, wire: { ...silent, mode: 't2v' } },
  { fields: { seconds: 20, resolution: '1080p' }, wire: { ...silent, mode: 't2v', duration: 20, resolution: 'fhd' } },
  { fields: { generateAudio: true }, wire: { ...silent, mode: 't2v', generate_audio: true } },
  { fields: { aspectRatio: '2:1' }, wire: { ...silent, mode: 't2v', aspect_ratio: '2:1' } },
  { fields: { aspectRatio: 'adaptive' }, wire: { ...silent, mode: 't2v', aspect_ratio: 'auto' } },
  { fields: { firstFrame: picture }, wire: { ...silent, mode: 'i2v', keyframes: [[0, PICTURE]] } },
  {
    fields: { firstFrame: picture, lastFrame: picture, seconds: 8 },
    wire: {
      ...silent,
      mode: 'i2v',
      duration: 8,
      keyframes: [
        [0, PICTURE],
        [8, PICTURE],
      ],
    },
  },
  { fields: { sourceVideo: clip }, wire: { ...silent, mode: 'v2v', start_video: CLIP } },
  { fields: { extra: { safety_tolerance: 4 } }, wire: { ...silent, mode: 't2v', safety_tolerance: 4 } },
];

describe('a clip is asked for', () => {
  for (const { fields, wire } of REQUESTS) {
    test(`with ${Object.keys(fields).join(', ') || 'words alone'}`, () =>
      withEmulator(async ({ emulator, upstream }) => {
        const request = plainVideo({ prompt: 'Waves', ...fields });
        work.check(request, MODEL);
        const to = { ...upstream, model: MODEL };
        const submitted = await work.submit(request, ORDER, to);
        assert.equal(submitted.state, 'accepted');
        assert.deepEqual(emulator.submissions, [wire]);
        assert.equal(emulator.requests[0]?.path, '/v1/flux-3-video');
      }));
  }

  test('and costs what the end of it says', () =>
    withEmulator(async ({ emulator, upstream }) => {
      const to = { ...upstream, model: MODEL };
      const submitted = await work.submit(plainVideo({ prompt: 'Waves' }), ORDER, to);
      assert.ok(submitted.state === 'accepted');
      const ready = { id: 'task-1', status: 'Ready', result: { sample: 'https://f.example/a.mp4' }, cost: 90 };
      emulator.script({ kind: 'instead', ...json(200, ready) });
      const outputs = [{ url: 'https://f.example/a.mp4' }];
      assert.deepEqual(await work.poll?.(submitted.task, to), { state: 'succeeded', outputs, usage: { credits: 90 } });
    }));
});

const REFUSED: readonly [fields: Fields, message: string][] = [
  [{ prompt: undefined, firstFrame: picture }, '"prompt": this model takes at least 1 character.'],
  [{ seconds: 4 }, '"seconds": this model takes 5 to 20.'],
  [{ seconds: 5.5 }, '"seconds": this model takes whole seconds.'],
  [{ lastFrame: picture }, '"seconds": this model takes 5 to 20.'],
  [{ resolution: '480p' }, '"resolution": this model takes 720p, 1080p.'],
  [{ aspectRatio: '3:2' }, '"aspect_ratio": this model takes 21:9, 2:1, 16:9, 4:3, 1:1, 3:4, 9:16, auto.'],
  [{ fps: 24 }, '"fps": this model takes none.'],
  [{ seed: 7 }, '"seed": this model takes none.'],
  [{ negativePrompt: 'fog' }, '"negative_prompt": this model takes none.'],
  // A picture to go by is never a frame.
  [{ inputReference: picture }, '"input_reference": this model takes none.'],
  [{ referenceImages: [picture] }, '"reference_image_urls": this model takes none.'],
  [
    { sourceVideo: clip, firstFrame: picture },
    '"ref_video_url": this model does not take it together with "first_frame".',
  ],
  [
    { sourceVideo: clip, lastFrame: picture, seconds: 5 },
    '"ref_video_url": this model does not take it together with "last_frame".',
  ],
  [{ extra: { mode: 'draft_enhance' } }, '"mode": this model takes none.'],
  [{ extra: { webhook_url: 'https://x.example' } }, '"webhook_url": this model takes none.'],
];

describe('a clip is refused before anything is held', () => {
  for (const [fields, message] of REFUSED) {
    test(message, () =>
      assert.throws(
        () => work.check(plainVideo({ prompt: 'Waves', ...fields }), MODEL),
        (error) => error instanceof ApiError && error.message === message,
      ),
    );
  }
});
