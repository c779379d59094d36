import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { plainVideo } from '../../../test/support/plain-requests.ts';
import type { Fault } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import type { VideoRequest } from '../../schemas/index.ts';
import { json } from '../emulator/json.ts';
import { inMemoryMedia, type Media, type Upstream } from '../index.ts';
import { isFault, isRefused, KEY, ORDER, withEmulator } from './emulator/calls.ts';
import { video } from './video.ts';

type Fields = Partial<VideoRequest<Media>>;

const FIRST = 'grok-imagine-video';
const LATEST = 'grok-imagine-video-1.5';
const picture = inMemoryMedia(Buffer.from('picture'), 'image/png');
const clip = inMemoryMedia(Buffer.from('clip'), 'video/mp4');
const voice = inMemoryMedia(Buffer.from('voice'), 'audio/mpeg');
const PICTURE = { url: `data:image/png;base64,${Buffer.from('picture').toString('base64')}` };
const CLIP = { url: `data:video/mp4;base64,${Buffer.from('clip').toString('base64')}` };
const VOICE = { url: `data:audio/mpeg;base64,${Buffer.from('voice').toString('base64')}` };

async function submit(upstream: Upstream, fields: Fields = {}): Promise<JsonObject> {
  const request = plainVideo({ prompt: 'Waves', ...fields });
  video.check(request, upstream.model);
  const submitted = await video.submit(request, ORDER, upstream);
  assert.ok(submitted.state === 'accepted');
  return submitted.task;
}

async function poll(task: JsonObject, upstream: Upstream) {
  return video.poll?.(task, upstream);
}

describe('what is sent', () => {
  const unstated = { generate_audio: false, resolution: '480p' };
  const silent = { prompt: 'Waves', ...unstated };
  const SENT: readonly (readonly [model: string, fields: Fields, body: object, path?: string])[] = [
    // It would have sound, for more money, unless told not to.
    [FIRST, {}, silent],
    [
      LATEST,
      { seconds: 5, aspectRatio: '16:9', resolution: '1080P', generateAudio: true },
      { prompt: 'Waves', generate_audio: true, duration: 5, aspect_ratio: '16:9', resolution: '1080p' },
    ],
    [FIRST, { prompt: undefined, firstFrame: picture }, { ...unstated, image: PICTURE }],
    [LATEST, { firstFrame: picture, lastFrame: picture }, { ...silent, image: PICTURE, last_frame: PICTURE }],
    [
      LATEST,
      { inputReference: picture, referenceImages: [picture], referenceAudios: [voice], aspectRatio: 'auto' },
      { ...silent, reference_images: [PICTURE, PICTURE], reference_audios: [VOICE] },
    ],
    [FIRST, { sourceVideo: clip, generateAudio: false }, { prompt: 'Waves', video: CLIP }, '/v1/videos/edits'],
    [FIRST, { extra: { user: 'u' } }, { ...silent, user: 'u' }],
  ];
  for (const [model, fields, body, path = '/v1/videos/generations'] of SENT) {
    test(`${model}: ${JSON.stringify(Object.keys(fields))}`, () =>
      withEmulator(async ({ emulator, at }) => {
        await submit(at(model), fields);
        assert.deepEqual(emulator.submissions, [{ model, ...body }]);
        assert.equal(emulator.requests[0]?.path, path);
        assert.equal(emulator.requests[0]?.headers.authorization, `Bearer ${KEY}`);
      }));
  }
});

describe('what a model cannot take is refused before anything is sent', () => {
  const REFUSED: readonly (readonly [model: string, fields: Fields, field: string, why: string])[] = [
    [FIRST, { prompt: undefined }, 'prompt', 'takes at least 1 characters'],
    [FIRST, { prompt: 'x'.repeat(4097) }, 'prompt', 'takes at most 4096 characters'],
    [FIRST, { seconds: 16 }, 'seconds', 'takes 1 to 15'],
    [FIRST, { seconds: 1.5 }, 'seconds', 'takes 1 to 15'],
    [FIRST, { resolution: '1080p' }, 'resolution', 'takes 480p, 720p'],
    [LATEST, { resolution: '1080p', referenceImages: [picture] }, 'resolution', 'takes 480p, 720p'],
    [LATEST, { resolution: '4k' }, 'resolution', 'takes 480p, 720p, 1080p'],
    [FIRST, { aspectRatio: '21:9' }, 'aspect_ratio', 'takes 1:1'],
    [FIRST, { lastFrame: picture }, 'last_frame', 'takes none'],
    [FIRST, { size: '1280x720' }, 'size', 'takes none'],
    [FIRST, { fps: 24 }, 'fps', 'takes none'],
    [FIRST, { seed: 7 }, 'seed', 'takes none'],
    [FIRST, { negativePrompt: 'fog' }, 'negative_prompt', 'takes none'],
    [FIRST, { cameraFixed: true }, 'camera_fixed', 'takes none'],
    [FIRST, { watermark: true }, 'watermark', 'takes none'],
    [FIRST, { referenceVideos: [clip] }, 'reference_videos', 'takes none'],
    [FIRST, { referenceImages: Array(8).fill(picture) }, 'reference_image_urls', 'takes at most 7'],
    [FIRST, { referenceAudios: Array(4).fill(voice) }, 'reference_audios', 'takes at most 3'],
    [
      FIRST,
      { firstFrame: picture, inputReference: picture },
      'input_reference',
      'does not take it together with "first_frame"',
    ],
    [FIRST, { sourceVideo: clip, seconds: 5 }, 'seconds', 'does not take it together with "ref_video_url"'],
    [FIRST, { sourceVideo: clip, generateAudio: true }, 'generate_audio', 'does not take it together with'],
    [FIRST, { sourceVideo: clip, resolution: '720p' }, 'resolution', 'does not take it together with'],
    [FIRST, { sourceVideo: clip, referenceVideos: [clip] }, 'reference_videos', 'takes none'],
    ...['duration', 'resolution', 'video', 'generate_audio', 'storage_options', 'keyframes'].map(
      (name) => [FIRST, { extra: { [name]: 'x' } }, name, 'takes none'] as const,
    ),
  ];
  for (const [model, fields, field, why] of REFUSED) {
    test(`${model}: ${field} ${why}`, () => {
      assert.throws(() => video.check(plainVideo({ prompt: 'Waves', ...fields }), model), isRefused(field, why));
    });
  }
});

describe('a task', () => {
  test('is known by its id, may answer without a body, and tells its address, its seconds and its cost', () =>
    withEmulator(async ({ emulator, at }) => {
      emulator.readsUntilDone = 2;
      const task = await submit(at(FIRST));
      assert.deepEqual(task, { id: 'task-1' });
      assert.deepEqual(await poll(task, at('another')), { state: 'running' });
      assert.deepEqual(await poll(task, at('another')), { state: 'running', percent: 40 });
      const outputs = [{ url: `${emulator.origin}/files/clip?signature=s` }];
      const usage = { seconds: 8, credits: 200_000_000 };
      assert.deepEqual(await poll(task, at('another')), { state: 'succeeded', outputs, usage });
      assert.equal(emulator.requests.at(-1)?.path, '/v1/videos/task-1');
    }));

  const ENDS = [
    ['withheld', 'content_rejected'],
    ['blocked', 'content_rejected'],
    ['failed', 'upstream_failed'],
    ['expired', 'upstream_failed'],
  ] as const;
  for (const [ending, code] of ENDS) {
    test(`that ends as ${ending} is ${code}`, () =>
      withEmulator(async ({ emulator, at }) => {
        emulator.readsUntilDone = 0;
        emulator.endings.push(ending);
        const progress = await poll(await submit(at(FIRST)), at(FIRST));
        assert.equal(progress?.state === 'failed' && progress.code, code, JSON.stringify(progress));
      }));
  }

  test('that failed for its words is a matter of policy, and without a status it is done by its address', () =>
    withEmulator(async ({ emulator, at }) => {
      const task = await submit(at(FIRST));
      const error = { code: 'invalid-argument', message: 'rejected by content moderation' };
      emulator.script({ kind: 'instead', ...json(200, { status: 'failed', error }) });
      const progress = await poll(task, at(FIRST));
      assert.equal(progress?.state === 'failed' && progress.code, 'content_rejected');
      emulator.script({ kind: 'instead', ...json(200, { video: { url: 'https://example.com/a.mp4' } }) });
      assert.equal((await poll(task, at(FIRST)))?.state, 'succeeded');
    }));

  test('that is unknown is lost; words that are not known, and none, are garbled', () =>
    withEmulator(async ({ emulator, at }) => {
      const lost = await poll({ id: 'task-9' }, at(FIRST));
      assert.equal(lost?.state === 'failed' && lost.code, 'upstream_failed');
      const task = await submit(at(FIRST));
      for (const body of [{ status: 'odd' }, {}, { status: 'done', video: {} }]) {
        emulator.script({ kind: 'instead', ...json(200, body) });
        await assert.rejects(poll(task, at(FIRST)), isFault('garbled'));
      }
    }));
});

describe('a refusal is known by its body', () => {
  const REFUSALS: readonly (readonly [status: number, body: object, fault: Fault])[] = [
    [429, { code: 'resource-exhausted', error: 'Your team has used all available credits' }, 'account'],
    [403, { code: 'permission-denied', error: 'Your newly created team doesn’t have any credits yet' }, 'account'],
    [400, { code: 'invalid-argument', error: 'Incorrect API key provided' }, 'account'],
    [429, { code: 'resource-exhausted', error: 'Too many requests' }, 'rate'],
    [400, { code: 'invalid-argument', error: 'Rejected by content moderation.' }, 'policy'],
    [403, { error: { message: 'Content violates usage guidelines.' } }, 'policy'],
    [400, { error: 'Argument not supported: size' }, 'client'],
    [404, { code: 'not-found', error: 'The model does not exist' }, 'config'],
    [503, { error: 'content moderation is not available' }, 'server'],
    [200, { code: 'unavailable', error: 'marker' }, 'server'],
    [200, { error: 'marker' }, 'server'],
  ];
  for (const [status, body, fault] of REFUSALS) {
    test(`${status} with ${JSON.stringify(body)} is ${fault}, and certain`, () =>
      withEmulator(async ({ emulator, at }) => {
        emulator.script({ kind: 'instead', ...json(status, body) });
        await assert.rejects(submit(at(FIRST)), isFault(fault, { isUncertain: false }));
      }));
  }

  test('no money, too many calls, a prompt that breaks rules, another key', () =>
    withEmulator(async ({ emulator, at }) => {
      await assert.rejects(submit(at(FIRST), { prompt: 'forbidden' }), isFault('policy', { isUncertain: false }));
      emulator.isBusy = true;
      await assert.rejects(submit(at(FIRST)), isFault('rate', { isUncertain: false }));
      emulator.isBroke = true;
      await assert.rejects(submit(at(FIRST)), isFault('account', { isUncertain: false }));
      await assert.rejects(submit({ ...at(FIRST), apiKey: 'other' }), isFault('account', { isUncertain: false }));
    }));

  for (const fault of ['reset', 'reset in the answer', 'empty'] as const) {
    test(`an answer with the fault "${fault}" after acceptance leaves it uncertain`, () =>
      withEmulator(async ({ emulator, at }) => {
        emulator.script({ kind: 'fault', fault });
        await assert.rejects(
          submit(at(FIRST)),
          isFault(fault === 'empty' ? 'garbled' : 'connection', { isUncertain: true }),
        );
      }));
  }
});
