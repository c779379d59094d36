import assert from 'node:assert/strict';
import { after, afterEach, beforeEach, describe, test } from 'node:test';
import { GoogleGenAI } from '@google/genai';
import { plainImage, plainSound, plainVideo } from '../../../test/support/plain-requests.ts';
import { UpstreamError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import type { VideoRequest } from '../../schemas/index.ts';
import { inMemoryMedia, type Media, type Upstream, UpstreamPools } from '../index.ts';
import { VertexEmulator } from './emulator.ts';
import { work } from './work.ts';

const { video, image, speech } = work;
assert.ok(video?.poll && video.open && image && speech);
const poll = (task: JsonObject, upstream: Upstream) => video.poll?.(task, upstream) ?? assert.fail();
const open = (path: string, upstream: Upstream) => video.open?.(path, upstream) ?? assert.fail();

const MODEL = 'veo-3.1-generate-001';
const ORDER = { id: 'order', count: 1, startWithinMs: 60_000 };
const CLIP = Buffer.alloc(3_000_000, 'a clip of some length. ');
const NAME = `projects/project-1/locations/us-central1/publishers/google/models/${MODEL}/operations/1`;
const picture = (text: string) => inMemoryMedia(Buffer.from(text), 'image/png', `https://pictures.example/${text}.png`);
const base64 = (text: string) => ({ bytesBase64Encoded: Buffer.from(text).toString('base64'), mimeType: 'image/png' });

const pools = new UpstreamPools();
let cloud: VertexEmulator;
beforeEach(async () => {
  cloud = new VertexEmulator({ apiKey: 'express-key', samples: { clip: CLIP, picture: CLIP, samples: CLIP } });
  await cloud.start();
});
afterEach(() => cloud.stop());
after(() => pools.close());

function upstreamOf(fields: Partial<Upstream> = {}): Upstream {
  const { signal } = new AbortController();
  return {
    model: MODEL,
    address: `${cloud.origin}/v1`,
    apiKey: 'express-key',
    timeoutMs: 10_000,
    signal,
    pools,
    ...fields,
  };
}

function request(fields: Partial<VideoRequest<Media>> = {}): VideoRequest<Media> {
  return plainVideo({ prompt: 'waves', ...fields });
}

async function submitted(fields: Partial<VideoRequest<Media>> = {}) {
  const asked = request(fields);
  video?.check(asked, MODEL);
  const answer = (await video?.submit(asked, ORDER, upstreamOf())) ?? assert.fail();
  assert.ok(answer.state === 'accepted');
  return answer.task;
}

/** Asked after until it is over. */
async function ended(task: Awaited<ReturnType<typeof submitted>>) {
  for (;;) {
    const progress = await poll(task, upstreamOf());
    if (progress.state !== 'running') return progress;
  }
}

describe('a clip', () => {
  test('is asked for with every default that costs money or makes noise', async () => {
    const task = await submitted();
    assert.deepEqual(task, { id: NAME, model: MODEL });
    const { path, body } = cloud.calls[0] ?? assert.fail();
    assert.equal(path, `/v1/publishers/google/models/${MODEL}:predictLongRunning`);
    assert.deepEqual(body, {
      instances: [{ prompt: 'waves' }],
      parameters: { sampleCount: 1, durationSeconds: 8, resolution: '720p', generateAudio: false },
    });
  });

  test('is asked after by the name of its operation, and streamed out of the answer', async () => {
    const task = await submitted();
    assert.deepEqual(await poll(task, upstreamOf()), { state: 'running', pollAfterMs: 10_000 });
    const over = await ended(task);
    assert.ok(over.state === 'succeeded');
    const [output] = over.outputs;
    assert.ok(output !== undefined && 'path' in output && over.outputs.length === 1);
    const pieces = await Array.fromAsync(await open(output.path, upstreamOf()));
    assert.ok(pieces.length > 1);
    assert.deepEqual(Buffer.concat(pieces), CLIP);
    for (const { path, body } of cloud.calls.slice(1)) {
      assert.equal(path, `/v1/${NAME.replace('/operations/1', '')}:fetchPredictOperation`);
      assert.deepEqual(body, { operationName: NAME });
    }
  });

  test('remembers the location that it was begun in, and is not asked after elsewhere', async () => {
    const tokens = new Set(['token']);
    const project = new VertexEmulator({ tokens, samples: { clip: CLIP } });
    await project.start();
    // A token that is at hand stands for one that was fetched.
    const credential = { kind: 'service_account' };
    const account = { address: project.url, apiKey: 'k', credential };
    const own = new UpstreamPools();
    const { signal } = new AbortController();
    await own.tokens.take(JSON.stringify(['vertex', credential, 'k']), signal, async () => ({
      value: 'token',
      lifetimeMs: 3_600_000,
    }));
    const here = upstreamOf({ ...account, pools: own });
    const answer = await video.submit(request(), ORDER, here);
    assert.ok(answer.state === 'accepted');
    assert.deepEqual(answer.task, { id: NAME, model: MODEL, location: 'us-central1' });
    assert.equal((await poll(answer.task, here)).state, 'running');
    const moved = { ...here, address: project.url.replace('us-central1', 'global') };
    await assert.rejects(poll(answer.task, moved), { fault: 'config', message: /us-central1/ });
    assert.equal(project.calls.length, 2);
    await own.close();
    await project.stop();
  });

  test('has all the fields that the vendor takes', async () => {
    await submitted({
      seconds: 6,
      resolution: '1080P',
      aspectRatio: '9:16',
      fps: 24,
      seed: 4_294_967_295,
      negativePrompt: 'fog',
      generateAudio: true,
      watermark: false,
      extra: { personGeneration: 'allow_adult', compressionQuality: 'lossless' },
    });
    assert.deepEqual(cloud.calls[0]?.body.parameters, {
      sampleCount: 1,
      durationSeconds: 6,
      resolution: '1080p',
      aspectRatio: '9:16',
      seed: 4_294_967_295,
      negativePrompt: 'fog',
      generateAudio: true,
      personGeneration: 'allow_adult',
      compressionQuality: 'lossless',
    });
  });

  test('of a size in pixels is a tier and a shape', async () => {
    await submitted({ size: '1080x1920' });
    const { resolution, aspectRatio } = cloud.calls[0]?.body.parameters ?? {};
    assert.deepEqual([resolution, aspectRatio], ['1080p', '9:16']);
  });

  test('is made from frames or goes by pictures, as bytes whatever their addresses', async () => {
    await submitted({ prompt: undefined, firstFrame: picture('first'), lastFrame: picture('last') });
    await submitted({ inputReference: picture('one'), referenceImages: [picture('two')] });
    assert.deepEqual(
      cloud.calls.map(({ body }) => body.instances),
      [
        [{ image: base64('first'), lastFrame: base64('last') }],
        [
          {
            prompt: 'waves',
            referenceImages: ['one', 'two'].map((name) => ({ image: base64(name), referenceType: 'asset' })),
          },
        ],
      ],
    );
  });

  const one = picture('one');
  const REFUSED: readonly (readonly [Partial<VideoRequest<Media>>, string])[] = [
    [{ seconds: 5 }, 'seconds'],
    [{ seconds: 4, referenceImages: [one] }, 'seconds'],
    [{ resolution: '480p' }, 'resolution'],
    [{ resolution: '720p', size: '1280x720' }, 'resolution'],
    [{ aspectRatio: '1:1' }, 'aspect_ratio'],
    [{ aspectRatio: '16:9', size: '720x1280' }, 'aspect_ratio'],
    [{ size: '1000x1000' }, 'size'],
    [{ fps: 30 }, 'fps'],
    [{ seed: 2 ** 32 }, 'seed'],
    [{ seed: -1 }, 'seed'],
    [{ cameraFixed: true }, 'camera_fixed'],
    [{ watermark: true }, 'watermark'],
    [{ prompt: undefined }, 'prompt'],
    [{ prompt: undefined, referenceImages: [one] }, 'prompt'],
    [{ lastFrame: one }, 'first_frame'],
    [{ firstFrame: one, inputReference: one }, 'first_frame'],
    [{ referenceImages: [one, one, one], inputReference: one }, 'reference_image_urls'],
    [{ sourceVideo: one }, 'ref_video_url'],
    [{ referenceVideos: [one] }, 'reference_videos'],
    [{ referenceAudios: [one] }, 'reference_audios'],
    [{ extra: { sampleCount: 4 } }, 'sampleCount'],
    [{ extra: { storageUri: 'gs://bucket' } }, 'storageUri'],
    [{ extra: { pubsubTopic: 'topic' } }, 'pubsubTopic'],
    [{ extra: { instances: [] } }, 'instances'],
  ];
  for (const [fields, param] of REFUSED) {
    test(`is refused for ${param} before anything is held: ${Object.keys(fields).join(', ')}`, () => {
      assert.throws(() => video.check(request(fields), MODEL), { code: 'unsupported_parameter', param });
    });
  }

  const ENDINGS = [
    ['filtered', 'content_rejected', /Support codes/],
    ['refused', 'content_rejected', /usage guidelines/],
    ['invalid', 'upstream_rejected', /cannot be read/],
    ['failed', 'upstream_failed', /Internal error/],
    ['bucket', 'upstream_failed', /gs:\/\//],
    ['lost', 'upstream_failed', /is lost/],
  ] as const;
  for (const [ending, code, detail] of ENDINGS) {
    test(`whose operation is ${ending} has failed with ${code}`, async () => {
      cloud.operations.endings.push(ending);
      const over = await ended(await submitted());
      assert.ok(over.state === 'failed', over.state);
      assert.equal(over.code, code);
      assert.match(over.detail, detail);
    });
  }

  test('that is no longer in its operation is not delivered', async () => {
    await submitted();
    const path = `/${NAME.replace('/operations/1', '')}:fetchPredictOperation?operationName=${encodeURIComponent(NAME)}`;
    await assert.rejects(open(path, upstreamOf()), { fault: 'garbled' });
  });

  const GARBLED = [
    '{}',
    '[]',
    '{"name":"x","done":true}',
    '{"name":"x","done":true,"response":{"videos":[{"bytesBase64Enc',
  ];
  for (const body of GARBLED) {
    test(`is asked after again where the answer is ${body}`, async () => {
      const task = await submitted();
      cloud.script({ kind: 'raw', body });
      await assert.rejects(poll(task, upstreamOf()), { fault: 'garbled' });
    });
  }

  test('whose answer ends inside it is not taken for whole', async () => {
    const task = await submitted();
    await poll(task, upstreamOf());
    const over = await ended(task);
    assert.ok(over.state === 'succeeded' && over.outputs[0] !== undefined && 'path' in over.outputs[0]);
    const { path } = over.outputs[0];
    const body = `{"done":true,"response":{"videos":[{"bytesBase64Encoded":"${CLIP.toString('base64').slice(0, 100_000)}`;
    cloud.script({ kind: 'raw', body });
    await assert.rejects(async () => Array.fromAsync(await open(path, upstreamOf())), { fault: 'garbled' });
  });

  const WORDS = [
    ['The prompt violates Google’s Responsible AI practices.', 400, 'policy'],
    ['Veo could not generate videos. Support codes: 15236754', 400, 'policy'],
    ['The request violates the organization policy constraints/vertexai.allowedModels', 403, 'account'],
  ] as const;
  for (const [message, status, fault] of WORDS) {
    test(`that is refused with "${message}" is ${fault}`, async () => {
      cloud.script({ kind: 'raw', status, body: JSON.stringify({ error: { code: status, message } }) });
      await assert.rejects(submitted(), (error) => error instanceof UpstreamError && error.fault === fault);
    });
  }
});

describe('pictures and speech', () => {
  test('are those of the Developer API under another path', async () => {
    const model = 'gemini-3.1-flash-image';
    const asked = plainImage({ prompt: 'a gate', resolution: '2k', outputFormat: 'jpeg' });
    image.check(asked, model);
    const drawn = await image.submit(asked, ORDER, upstreamOf({ model }));
    assert.ok(drawn.state === 'succeeded');
    assert.deepEqual(drawn.outputs, [{ data: CLIP }]);
    const sent = JSON.parse(cloud.requests[0]?.bytes.toString() ?? '');
    assert.deepEqual(sent.generationConfig, {
      responseModalities: ['IMAGE'],
      imageConfig: { imageOutputOptions: { mimeType: 'image/jpeg' }, imageSize: '2K' },
    });
    const tts = { model: 'gemini-2.5-flash-tts' };
    const { pieces } = await speech.speak(plainSound({ input: 'Hi', format: 'pcm' }), upstreamOf(tts));
    assert.deepEqual(Buffer.concat(await Array.fromAsync(pieces)), CLIP);
    assert.deepEqual(
      cloud.calls.map(({ path }) => path),
      [model, tts.model].map((name) => `/v1/publishers/google/models/${name}:generateContent`),
    );
    assert.throws(() => image.check({ ...asked, outputFormat: 'webp' }, model), { param: 'output_format' });
  });
});

test('the vendor’s own library makes a clip and a picture with the emulator', async () => {
  const client = new GoogleGenAI({
    vertexai: true,
    apiKey: 'express-key',
    httpOptions: { baseUrl: cloud.origin, apiVersion: 'v1' },
  });
  const still = { imageBytes: Buffer.from('x').toString('base64'), mimeType: 'image/png' };
  const config = { numberOfVideos: 1, durationSeconds: 4, resolution: '720p', generateAudio: false, seed: 7 };
  const source = { prompt: 'waves', image: still };
  let operation = await client.models.generateVideos({ model: MODEL, source, config });
  assert.equal(operation.name, NAME);
  while (operation.done !== true) operation = await client.operations.getVideosOperation({ operation });
  const clip = operation.response?.generatedVideos?.[0]?.video;
  assert.deepEqual(Buffer.from(clip?.videoBytes ?? '', 'base64'), CLIP);
  await assert.rejects(
    client.models.generateVideos({ model: MODEL, source, config: { durationSeconds: 5 } }),
    (error: { status?: number }) => error.status === 400,
  );
  const drawn = await client.models.generateContent({
    model: 'gemini-3.1-flash-image',
    contents: 'a gate',
    config: { responseModalities: ['IMAGE'], imageConfig: { imageSize: '2K', outputMimeType: 'image/jpeg' } },
  });
  assert.deepEqual(Buffer.from(drawn.data ?? '', 'base64'), CLIP);
});
