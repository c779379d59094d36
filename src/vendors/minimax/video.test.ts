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

const HAILUO = 'MiniMax-Hailuo-2.3';
const LISTED = 'MiniMax-H3';
const picture = inMemoryMedia(Buffer.from('picture'), 'image/png');
const clip = inMemoryMedia(Buffer.from('clip'), 'video/mp4');
const voice = inMemoryMedia(Buffer.from('voice'), 'audio/mpeg');
const PICTURE = `data:image/png;base64,${Buffer.from('picture').toString('base64')}`;
const CLIP = `data:video/mp4;base64,${Buffer.from('clip').toString('base64')}`;
const VOICE = `data:audio/mpeg;base64,${Buffer.from('voice').toString('base64')}`;

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
  const SENT: readonly (readonly [model: string, fields: Fields, body: object])[] = [
    [HAILUO, {}, { prompt: 'Waves', resolution: '768P' }],
    [HAILUO, { seconds: 10 }, { prompt: 'Waves', resolution: '768P', duration: 10 }],
    [
      HAILUO,
      { seconds: 6, resolution: '1080P', firstFrame: picture, watermark: false },
      { prompt: 'Waves', resolution: '1080P', duration: 6, first_frame_image: PICTURE, aigc_watermark: false },
    ],
    [
      'MiniMax-Hailuo-2.3-Fast',
      { prompt: undefined, firstFrame: picture },
      { resolution: '768P', first_frame_image: PICTURE },
    ],
    [
      'MiniMax-Hailuo-02',
      { resolution: '512p', firstFrame: picture, lastFrame: picture },
      { prompt: 'Waves', resolution: '512P', first_frame_image: PICTURE, last_frame_image: PICTURE },
    ],
    ['T2V-01', { resolution: '720p' }, { prompt: 'Waves', resolution: '720P' }],
    ['I2V-01', { firstFrame: picture }, { prompt: 'Waves', first_frame_image: PICTURE }],
    [
      'S2V-01',
      { referenceImages: [picture] },
      { prompt: 'Waves', subject_reference: [{ type: 'character', image: [PICTURE] }] },
    ],
    [
      'S2V-01',
      { inputReference: picture },
      { prompt: 'Waves', subject_reference: [{ type: 'character', image: [PICTURE] }] },
    ],
    [HAILUO, { extra: { prompt_optimizer: true } }, { prompt: 'Waves', resolution: '768P', prompt_optimizer: true }],
  ];
  for (const [model, fields, body] of SENT) {
    test(`${model}: ${JSON.stringify(Object.keys(fields))}`, () =>
      withEmulator(async ({ emulator, at }) => {
        await submit(at(model), fields);
        assert.deepEqual(emulator.submissions, [{ prompt_optimizer: false, model, ...body }]);
        assert.equal(emulator.requests[0]?.path, '/v1/video_generation');
        assert.equal(emulator.requests[0]?.headers.authorization, `Bearer ${KEY}`);
      }));
  }

  const image = (role: string) => ({ type: 'image_url', image_url: { url: PICTURE }, role });
  const LISTS: readonly (readonly [fields: Fields, parts: readonly object[]])[] = [
    [{ firstFrame: picture, lastFrame: picture }, [image('first_frame'), image('last_frame')]],
    [
      { inputReference: picture, referenceImages: [picture], referenceVideos: [clip], referenceAudios: [voice] },
      [
        image('reference_image'),
        image('reference_image'),
        { type: 'video_url', video_url: { url: CLIP }, role: 'reference_video' },
        { type: 'audio_url', audio_url: { url: VOICE }, role: 'reference_audio' },
      ],
    ],
    [{ sourceVideo: clip }, [{ type: 'video_url', video_url: { url: CLIP }, role: 'base_video' }]],
  ];
  for (const [fields, parts] of LISTS) {
    test(`${LISTED}: ${JSON.stringify(Object.keys(fields))}, each with its own role`, () =>
      withEmulator(async ({ emulator, at }) => {
        await submit(at(LISTED), { ...fields, seconds: 5, aspectRatio: '16:9', seed: 7, resolution: '2k' });
        const content = [{ type: 'text', text: 'Waves' }, ...parts];
        const rest = { duration: 5, ratio: '16:9', seed: 7, resolution: '2K' };
        assert.deepEqual(emulator.submissions, [{ model: LISTED, content, ...rest }]);
        assert.equal(emulator.requests[0]?.path, '/v2/video_generation');
      }));
  }
});

describe('what a model cannot take is refused before anything is sent', () => {
  const REFUSED: readonly (readonly [model: string, fields: Fields, field: string, why: string])[] = [
    [HAILUO, { prompt: undefined }, 'prompt', 'takes at least 1 characters'],
    [HAILUO, { prompt: 'x'.repeat(2001) }, 'prompt', 'takes at most 2000 characters'],
    [HAILUO, { seconds: 7 }, 'seconds', 'takes 6, 10'],
    [HAILUO, { seconds: 10, resolution: '1080p' }, 'seconds', 'does not take it together with "resolution"'],
    [HAILUO, { resolution: '512p' }, 'resolution', 'takes 768p, 1080p'],
    [HAILUO, { size: '1280x720' }, 'size', 'takes none'],
    [HAILUO, { aspectRatio: '16:9' }, 'aspect_ratio', 'takes none'],
    [HAILUO, { fps: 24 }, 'fps', 'takes none'],
    [HAILUO, { seed: 7 }, 'seed', 'takes none'],
    [HAILUO, { negativePrompt: 'fog' }, 'negative_prompt', 'takes none'],
    [HAILUO, { cameraFixed: true }, 'camera_fixed', 'takes none'],
    [HAILUO, { generateAudio: true }, 'generate_audio', 'takes none'],
    // A picture to go by never becomes a frame.
    [HAILUO, { inputReference: picture }, 'input_reference', 'takes none'],
    [HAILUO, { referenceImages: [picture] }, 'reference_image_urls', 'takes none'],
    [HAILUO, { firstFrame: picture, lastFrame: picture }, 'last_frame', 'takes none'],
    [HAILUO, { referenceVideos: [clip] }, 'reference_videos', 'takes none'],
    [HAILUO, { referenceAudios: [voice] }, 'reference_audios', 'takes none'],
    [HAILUO, { sourceVideo: clip }, 'ref_video_url', 'takes none'],
    ['MiniMax-Hailuo-2.3-Fast', {}, 'first_frame', 'takes at least 1'],
    ['T2V-01', { firstFrame: picture }, 'first_frame', 'takes none'],
    ['T2V-01', { seconds: 10 }, 'seconds', 'takes 6'],
    ['S2V-01', {}, 'reference_image_urls', 'takes at least 1'],
    ['S2V-01', { inputReference: picture, referenceImages: [picture] }, 'reference_image_urls', 'takes at most 1'],
    [LISTED, { prompt: undefined, firstFrame: picture }, 'prompt', 'takes at least 1'],
    [LISTED, { seconds: 4.5 }, 'seconds', 'takes 4 to 15'],
    [LISTED, { aspectRatio: '2:1' }, 'aspect_ratio', 'takes adaptive, 21:9'],
    [LISTED, { generateAudio: true }, 'generate_audio', 'takes none'],
    [LISTED, { lastFrame: picture, sourceVideo: clip }, 'last_frame', 'does not take it together with "ref_video_url"'],
    ...['duration', 'resolution', 'ratio', 'content', 'callback_url', 'first_frame_image', 'subject_reference'].map(
      (name) => [HAILUO, { extra: { [name]: 'x' } }, name, 'takes none'] as const,
    ),
  ];
  for (const [model, fields, field, why] of REFUSED) {
    test(`${model}: ${field} ${why}`, () => {
      assert.throws(() => video.check(plainVideo({ prompt: 'Waves', ...fields }), model), isRefused(field, why));
    });
  }
});

describe('a task', () => {
  test('of the first version ends with a file, whose address is asked for with the key', () =>
    withEmulator(async ({ emulator, at }) => {
      emulator.readsUntilDone = 2;
      const task = await submit(at(HAILUO));
      assert.deepEqual(task, { id: '10000', version: 'v1' });
      for (const _ of [1, 2]) assert.deepEqual(await poll(task, at('another')), { state: 'running' });
      const outputs = [{ url: `${emulator.url}/files/clip?signature=s` }];
      assert.deepEqual(await poll(task, at('another')), { state: 'succeeded', outputs });
      assert.deepEqual(
        emulator.sent('GET').map(({ path }) => path),
        [...[1, 2, 3].map(() => '/v1/query/video_generation?task_id=10000'), '/v1/files/retrieve?file_id=910000'],
      );
    }));

  test('of the second version tells its address and its seconds', () =>
    withEmulator(async ({ emulator, at }) => {
      const task = await submit(at(LISTED));
      assert.deepEqual(task, { id: '10000', version: 'v2' });
      assert.deepEqual(await poll(task, at('another')), { state: 'running' });
      const outputs = [{ url: `${emulator.url}/files/clip?signature=s` }];
      assert.deepEqual(await poll(task, at('another')), { state: 'succeeded', outputs, usage: { seconds: 6 } });
      assert.equal(emulator.requests.at(-1)?.path, '/v2/query/video_generation/10000');
    }));

  const ENDS = [
    ['sensitive', HAILUO, 'content_rejected'],
    ['sensitive', LISTED, 'content_rejected'],
    ['broken', HAILUO, 'upstream_failed'],
    ['broken', LISTED, 'upstream_failed'],
    ['expired', LISTED, 'upstream_failed'],
  ] as const;
  for (const [ending, model, code] of ENDS) {
    test(`of ${model} that ends as ${ending} is ${code}`, () =>
      withEmulator(async ({ emulator, at }) => {
        emulator.readsUntilDone = 0;
        emulator.endings.push(ending);
        const progress = await poll(await submit(at(model)), at(model));
        assert.equal(progress?.state === 'failed' && progress.code, code, JSON.stringify(progress));
      }));
  }

  test('that is told as Failed is over as well, and an unknown word is garbled', () =>
    withEmulator(async ({ emulator, at }) => {
      const task = await submit(at(HAILUO));
      emulator.script({ kind: 'instead', ...json(200, { status: 'Failed' }) });
      assert.equal((await poll(task, at(HAILUO)))?.state, 'failed');
      emulator.script({ kind: 'instead', ...json(200, { status: 'Odd' }) });
      await assert.rejects(poll(task, at(HAILUO)), isFault('garbled'));
    }));

  for (const model of [HAILUO, LISTED]) {
    test(`of ${model} that the vendor does not know any more is lost`, () =>
      withEmulator(async ({ at }) => {
        const { version = null } = await submit(at(model));
        const progress = await poll({ id: '404', version }, at(model));
        assert.equal(progress?.state === 'failed' && progress.code, 'upstream_failed', JSON.stringify(progress));
      }));
  }

  test('is asked after again when the file cannot be read, or a limit is met', () =>
    withEmulator(async ({ emulator, at }) => {
      emulator.readsUntilDone = 0;
      const task = await submit(at(HAILUO));
      const busy = json(200, { base_resp: { status_code: 1002, status_msg: 'rate limit' } });
      emulator.script({ kind: 'instead', ...busy });
      await assert.rejects(poll(task, at(HAILUO)), isFault('rate'));
      emulator.script({ kind: 'answer' }, { kind: 'instead', ...json(200, { file: {}, base_resp: {} }) });
      await assert.rejects(poll(task, at(HAILUO)), isFault('garbled'));
      assert.equal((await poll(task, at(HAILUO)))?.state, 'succeeded');
    }));

  test('with a number that was rounded is garbled: it would be another task', () =>
    withEmulator(async ({ emulator, at }) => {
      emulator.script({ kind: 'instead', status: 200, body: '{"task_id":123456789012345678901}' });
      await assert.rejects(submit(at(HAILUO)), isFault('garbled', { isUncertain: true }));
    }));
});

describe('a refusal is known by its body', () => {
  const base = (status_code: number, status_msg: string) => ({ base_resp: { status_code, status_msg } });
  const REFUSALS: readonly (readonly [status: number, body: object, fault: Fault])[] = [
    [200, base(1008, 'insufficient balance'), 'account'],
    [200, base(9999, 'insufficient balance'), 'account'],
    [429, { error: { type: 'insufficient_balance_error', message: 'marker' } }, 'account'],
    [400, { error: { message: 'your account has insufficient balance (1008)' } }, 'account'],
    [200, base(2061, 'your plan does not support this model'), 'account'],
    [200, base(1002, 'rate limit exceeded(RPM)'), 'rate'],
    [200, base(1002, 'input new_sensitive'), 'policy'],
    [422, { error: { message: 'sensitive content' } }, 'policy'],
    [422, { error: { message: 'marker' } }, 'policy'],
    [400, { error: { message: 'names are case-sensitive' } }, 'client'],
    [503, { error: { message: 'the check of sensitive words is down' } }, 'server'],
    [200, base(2013, 'invalid params'), 'client'],
    [200, base(424242, 'a new number'), 'server'],
  ];
  for (const [status, body, fault] of REFUSALS) {
    test(`${status} with ${JSON.stringify(body)} is ${fault}, and certain`, () =>
      withEmulator(async ({ emulator, at }) => {
        emulator.script({ kind: 'instead', ...json(status, body) });
        await assert.rejects(submit(at(HAILUO)), isFault(fault, { isUncertain: false }));
      }));
  }

  for (const model of [HAILUO, LISTED]) {
    test(`${model}: no money, too many calls, another key`, () =>
      withEmulator(async ({ emulator, at }) => {
        emulator.isBusy = true;
        await assert.rejects(submit(at(model)), isFault('rate', { isUncertain: false }));
        emulator.isBroke = true;
        await assert.rejects(submit(at(model)), isFault('account', { isUncertain: false }));
        await assert.rejects(submit({ ...at(model), apiKey: 'other' }), isFault('account', { isUncertain: false }));
      }));
  }

  test('a forbidden prompt is a matter of policy', () =>
    withEmulator(async ({ at }) => {
      await assert.rejects(submit(at(HAILUO), { prompt: 'forbidden' }), isFault('policy', { isUncertain: false }));
    }));

  for (const fault of ['reset', 'reset in the answer', 'empty'] as const) {
    test(`a ${fault} after acceptance leaves it uncertain`, () =>
      withEmulator(async ({ emulator, at }) => {
        emulator.script({ kind: 'fault', fault });
        await assert.rejects(
          submit(at(HAILUO)),
          isFault(fault === 'empty' ? 'garbled' : 'connection', { isUncertain: true }),
        );
      }));
  }
});
