import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { plainImage, plainVideo } from '../../../test/support/plain-requests.ts';
import { ApiError, type Fault } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import type { ImageRequest, VideoRequest } from '../../schemas/index.ts';
import { json } from '../emulator/json.ts';
import type { Upstream } from '../kit/http.ts';
import { inMemoryMedia } from '../kit/in-memory-media.ts';
import type { Media } from '../vendor.ts';
import { isFault, KEY, submit, withEmulator } from './emulator/calls.ts';
import { work as luma } from './work.ts';

type Videos = Partial<VideoRequest<Media>>;
type Images = Partial<ImageRequest<Media>>;

const url = 'https://example.com/a.png';
const picture = inMemoryMedia(Buffer.from('abc'), 'image/png', url);
const homeless = inMemoryMedia(Buffer.from('abc'), 'image/png');
const clip = inMemoryMedia(Buffer.from('abc'), 'video/mp4', 'https://example.com/a.mp4');
const PLAIN = { duration: '5s', resolution: '720p' };
const prompt = 'Waves';

const VIDEOS: readonly [fields: Videos, path: string, wire: object][] = [
  [{ prompt }, '/generations/video', { prompt, ...PLAIN }],
  [
    { prompt, seconds: 9, resolution: '4K', aspectRatio: '9:21', extra: { loop: true } },
    '/generations/video',
    { prompt, duration: '9s', resolution: '4k', aspect_ratio: '9:21', loop: true },
  ],
  [
    { prompt, firstFrame: picture, lastFrame: picture, aspectRatio: 'auto', size: 'auto' },
    '/generations/video',
    { prompt, ...PLAIN, keyframes: { frame0: { type: 'image', url }, frame1: { type: 'image', url } } },
  ],
  [{ lastFrame: picture }, '/generations/video', { ...PLAIN, keyframes: { frame1: { type: 'image', url } } }],
  [
    { prompt, sourceVideo: clip, firstFrame: picture },
    '/generations/video/modify',
    { prompt, generation_type: 'modify_video', mode: 'flex_1', media: { url: clip.url }, first_frame: { url } },
  ],
  [
    { sourceVideo: clip, extra: { mode: 'adhere_2' } },
    '/generations/video/modify',
    { generation_type: 'modify_video', mode: 'adhere_2', media: { url: clip.url } },
  ],
];

const IMAGES: readonly [fields: Images, wire: object][] = [
  [{}, {}],
  [
    { aspectRatio: '1:1', outputFormat: 'jpeg' },
    { aspect_ratio: '1:1', format: 'jpg' },
  ],
  [
    { outputFormat: 'png', referenceImages: [picture, picture] },
    { format: 'png', image_ref: [{ url }, { url }] },
  ],
  [{ extra: { style_ref: [{ url, weight: 0.5 }] } }, { style_ref: [{ url, weight: 0.5 }] }],
];

describe('the exact request', () => {
  for (const [fields, path, wire] of VIDEOS) {
    test(`a clip with ${JSON.stringify(fields).slice(0, 90)}`, () =>
      withEmulator(async ({ emulator, upstream }) => {
        luma.video?.check(plainVideo(fields), 'ray-2');
        await submit(luma.video, plainVideo(fields), upstream);
        assert.deepEqual(emulator.submissions, [{ model: 'ray-2', ...wire }]);
        const [{ path: route, headers } = assert.fail()] = emulator.requests;
        assert.equal(route, `/dream-machine/v1${path}`);
        assert.deepEqual([headers.authorization, headers['content-type']], [`Bearer ${KEY}`, 'application/json']);
      }));
  }

  for (const [fields, wire] of IMAGES) {
    test(`a picture with ${JSON.stringify(fields).slice(0, 90)}`, () =>
      withEmulator(async ({ emulator, upstream }) => {
        const model = 'photon-1';
        luma.image?.check(plainImage({ prompt, ...fields }), model);
        await submit(luma.image, plainImage({ prompt, ...fields }), { ...upstream, model });
        assert.deepEqual(emulator.submissions, [{ model, prompt, ...wire }]);
        assert.equal(luma.image?.perCall(plainImage({ n: 4 }), model), 1);
      }));
  }

  test('the balance is asked for to test a credential', () =>
    withEmulator(async ({ upstream }) => {
      await luma.check?.run(upstream);
      await assert.rejects(async () => luma.check?.run({ ...upstream, apiKey: 'other' }), isFault('account'));
    }));
});

const REFUSED_VIDEOS: readonly [fields: Videos, field: string][] = [
  [{}, 'prompt'],
  [{ prompt, seconds: 6 }, 'seconds'],
  [{ prompt, resolution: '480p' }, 'resolution'],
  [{ prompt, aspectRatio: '3:2' }, 'aspect_ratio'],
  [{ prompt, aspectRatio: 'adaptive' }, 'aspect_ratio'],
  [{ prompt, size: '1280x720' }, 'size'],
  [{ prompt, fps: 24 }, 'fps'],
  [{ prompt, seed: 1 }, 'seed'],
  [{ prompt, negativePrompt: 'fog' }, 'negative_prompt'],
  [{ prompt, cameraFixed: true }, 'camera_fixed'],
  [{ prompt, watermark: true }, 'watermark'],
  [{ prompt, generateAudio: true }, 'generate_audio'],
  [{ prompt, inputReference: picture }, 'input_reference'],
  [{ prompt, referenceImages: [picture] }, 'reference_image_urls'],
  [{ prompt, referenceVideos: [clip] }, 'reference_videos'],
  [{ prompt, referenceAudios: [clip] }, 'reference_audios'],
  [{ prompt, firstFrame: homeless }, 'first_frame'],
  [{ prompt, lastFrame: homeless }, 'last_frame'],
  [{ prompt, sourceVideo: homeless }, 'ref_video_url'],
  [{ prompt, sourceVideo: clip, seconds: 5 }, 'seconds'],
  [{ prompt, sourceVideo: clip, resolution: '720p' }, 'resolution'],
  [{ prompt, sourceVideo: clip, lastFrame: picture }, 'last_frame'],
  ...['duration', 'keyframes', 'callback_url', 'media', 'generation_type'].map((name): [Videos, string] => [
    { prompt, extra: { [name]: 'x' } },
    name,
  ]),
];

const REFUSED_IMAGES: readonly [fields: Images, field: string][] = [
  [{ size: '1024x1024' }, 'size'],
  [{ resolution: '1k' }, 'resolution'],
  [{ aspectRatio: '3:2' }, 'aspect_ratio'],
  [{ quality: 'high' }, 'quality'],
  [{ style: 'vivid' }, 'style'],
  [{ negativePrompt: 'fog' }, 'negative_prompt'],
  [{ background: 'opaque' }, 'background'],
  [{ outputFormat: 'webp' }, 'output_format'],
  [{ seed: 1 }, 'seed'],
  [{ watermark: true }, 'watermark'],
  [{ mask: picture }, 'mask'],
  [{ referenceImages: [homeless] }, 'reference_images'],
  [{ referenceImages: Array.from({ length: 5 }, () => picture) }, 'reference_images'],
  ...['sync', 'callback_url', 'image_ref', 'format'].map((name): [Images, string] => [
    { extra: { [name]: 'x' } },
    name,
  ]),
];

describe('what the models cannot take is refused in one wording', () => {
  for (const [fields, field] of REFUSED_VIDEOS) {
    test(`a clip with ${JSON.stringify(fields).slice(0, 70)}: "${field}"`, () =>
      assertRefused(field, () => luma.video?.check(plainVideo(fields), 'ray-2')));
  }
  for (const [fields, field] of REFUSED_IMAGES) {
    test(`a picture with ${JSON.stringify(fields).slice(0, 70)}: "${field}"`, () =>
      assertRefused(field, () => luma.image?.check(plainImage(fields), 'photon-1')));
  }

  function assertRefused(field: string, check: () => void): void {
    assert.throws(check, (error) => {
      assert.ok(error instanceof ApiError && error.code === 'unsupported_parameter', String(error));
      assert.ok(error.message.startsWith(`"${field}": this model `), error.message);
      assert.doesNotMatch(error.message, /luma|ray|photon/i);
      return error.param === field;
    });
  }
});

const begin = (upstream: Upstream) => submit(luma.video, plainVideo({ prompt }), upstream);
const poll = async (task: JsonObject, upstream: Upstream) => luma.video?.poll?.(task, upstream);

describe('what became of a generation', () => {
  test('it waits and ends with its clip', () =>
    withEmulator(async ({ emulator, upstream }) => {
      const task = await begin(upstream);
      assert.deepEqual(task, { id: 'generation-1' });
      assert.deepEqual(await poll(task, upstream), { state: 'running' });
      const outputs = [{ url: `${emulator.origin}/assets/generation-1.mp4` }];
      assert.deepEqual(await poll(task, upstream), { state: 'succeeded', outputs });
    }));

  for (const [reason, code] of [
    ['frame0 moderation failed', 'content_rejected'],
    ['the prompt was moderated', 'content_rejected'],
    ['an internal error', 'upstream_failed'],
  ] as const) {
    test(`"${reason}" is ${code}`, () =>
      withEmulator(async ({ emulator, upstream }) => {
        emulator.readsUntilDone = 0;
        emulator.reasons.push(reason);
        assert.deepEqual(await poll(await begin(upstream), upstream), { state: 'failed', code, detail: reason });
      }));
  }

  test('one that the vendor does not know is lost, and its id cannot lead to another route', () =>
    withEmulator(async ({ emulator, upstream }) => {
      const detail = 'the generation is lost: 404';
      assert.deepEqual(await poll({ id: '../credits' }, upstream), {
        state: 'failed',
        code: 'upstream_failed',
        detail,
      });
      assert.equal(emulator.requests[0]?.path, '/dream-machine/v1/generations/..%2Fcredits');
    }));

  const GARBLED: readonly object[] = [
    { id: 'g', state: 'completed', assets: null },
    { id: 'g', state: 'completed', assets: { image: 'https://f.example/a' } },
    { id: 'g', state: 'completed', assets: { video: '' } },
    { id: 'g', state: 'sleeping' },
    { id: 'g', status: 'completed' },
  ];
  for (const body of GARBLED) {
    test(`${JSON.stringify(body)} is garbled`, () =>
      withEmulator(async ({ emulator, upstream }) => {
        const task = await begin(upstream);
        emulator.script({ kind: 'instead', ...json(200, body) });
        await assert.rejects(poll(task, upstream), isFault('garbled'));
      }));
  }
});

describe('a refusal is known by its words', () => {
  const REFUSALS: readonly [status: number, body: object, fault: Fault][] = [
    [400, { detail: 'Insufficient credits' }, 'account'],
    [402, { detail: 'Payment required' }, 'account'],
    [429, { detail: 'You are out of credits' }, 'account'],
    [429, { detail: 'Too many concurrent generations' }, 'rate'],
    [400, { detail: 'prompt not allowed because advanced moderation failed' }, 'policy'],
    [422, { detail: [{ loc: ['body', 'prompt'], msg: 'failed moderation', type: 'value_error' }] }, 'policy'],
    // The prompt itself may speak of anything.
    [422, { detail: [{ loc: ['body', 'loop'], msg: 'Input should be a boolean', input: 'moderation' }] }, 'client'],
    [503, { detail: 'moderation is not available' }, 'server'],
    [403, { detail: 'Not authenticated' }, 'account'],
    [404, { detail: 'Not Found' }, 'config'],
  ];
  for (const [status, body, fault] of REFUSALS) {
    test(`${status} with ${JSON.stringify(body)} is ${fault}, and certain`, () =>
      withEmulator(async ({ emulator, upstream }) => {
        emulator.script({ kind: 'instead', ...json(status, body) });
        await assert.rejects(begin(upstream), isFault(fault, { isUncertain: false }));
      }));
  }

  test('an account without credits, one with as many generations as it may have, and a prompt that is refused', () =>
    withEmulator(async ({ emulator, upstream }) => {
      emulator.activeMax = 1;
      await begin(upstream);
      await assert.rejects(begin(upstream), isFault('rate'));
      emulator.forbidden = /waves/i;
      await assert.rejects(begin(upstream), isFault('policy'));
      emulator.credits = 0;
      await assert.rejects(begin(upstream), isFault('account'));
    }));

  for (const fault of ['reset', 'reset in the answer'] as const) {
    test(`a ${fault} after acceptance leaves it uncertain`, () =>
      withEmulator(async ({ emulator, upstream }) => {
        emulator.script({ kind: 'fault', fault });
        await assert.rejects(begin(upstream), isFault('connection', { isUncertain: true }));
      }));
  }

  test('a generation without an id is garbled, and may have been accepted', () =>
    withEmulator(async ({ emulator, upstream }) => {
      emulator.script({ kind: 'instead', ...json(201, { state: 'queued' }) });
      await assert.rejects(begin(upstream), isFault('garbled', { isUncertain: true }));
    }));
});

describe('the emulator refuses what the vendor refuses', () => {
  const BODIES: readonly [name: string, path: string, body: object][] = [
    ['an unknown field', 'video', { model: 'ray-2', prompt, seed: 1 }],
    ['no model', 'video', { prompt }],
    ['a model of pictures', 'video', { model: 'photon-1', prompt }],
    ['a number of seconds', 'video', { model: 'ray-2', prompt, duration: 5 }],
    ['a data URL', 'image', { model: 'photon-1', prompt, image_ref: [{ url: 'data:image/png;base64,YWJj' }] }],
    ['a frame without a type', 'video', { model: 'ray-2', keyframes: { frame0: { url } } }],
    ['a change without a mode', 'video/modify', { model: 'ray-2', generation_type: 'modify_video', media: { url } }],
  ];
  for (const [name, path, body] of BODIES) {
    test(name, () =>
      withEmulator(async ({ emulator }) => {
        const answer = await fetch(`${emulator.url}/generations/${path}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        });
        assert.equal(answer.status, 422);
        assert.match(await answer.text(), /^\{"detail":\[\{"loc":\["body"/);
      }),
    );
  }
});
