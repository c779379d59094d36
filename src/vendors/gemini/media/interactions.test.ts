import assert from 'node:assert/strict';
import { after, afterEach, beforeEach, describe, test } from 'node:test';
import { toneAs } from '../../../../test/support/media-samples.ts';
import { plainSound, plainTranscription, plainVideo } from '../../../../test/support/plain-requests.ts';
import { ApiError } from '../../../errors.ts';
import type { JsonObject } from '../../../json.ts';
import type { SoundRequest, TranscriptionRequest, VideoRequest } from '../../../schemas/index.ts';
import { type AudioFile, inMemoryMedia, type Media, type Upstream, UpstreamPools } from '../../index.ts';
import { isFault, KEY, MARKER, upstreamAt } from '../emulator/calls.ts';
import { GeminiEmulator } from '../emulator.ts';
import { music } from './music.ts';
import { transcription } from './transcription.ts';
import { video } from './video.ts';

const OMNI = 'gemini-omni-1.1-flash';
const SONG = 'lyria-3.5';
const CLIP_SONG = 'lyria-3-clip-preview';
const EAR = 'gemini-3.5-transcribe';
const ORDER = { id: 'order', count: 1, startWithinMs: 60_000 };
const [clip, song] = [Buffer.from('a clip'), Buffer.from('a song')];
const wave = await toneAs('wav', { seconds: 0.5 });
const AUDIO: AudioFile = { ...inMemoryMedia(wave, 'audio/wav'), extension: 'wav', seconds: 0.5 };
const picture = inMemoryMedia(Buffer.from('picture'), 'image/png', 'https://example.com/a.png');
const PICTURE = { type: 'image', data: Buffer.from('picture').toString('base64'), mime_type: 'image/png' };
const pools = new UpstreamPools();
let emulator: GeminiEmulator;

beforeEach(async () => {
  emulator = new GeminiEmulator({ apiKey: KEY, marker: MARKER, samples: { clip, song } });
  await emulator.start();
});
afterEach(() => emulator.stop());
after(() => pools.close());

const upstreamOf = (model: string, changes: Partial<Upstream> = {}) =>
  upstreamAt(emulator, pools, { model, ...changes });
const body = (at: number) => JSON.parse(emulator.requests.at(at)?.bytes.toString() ?? '');

function film(fields: Partial<VideoRequest<Media>> = {}) {
  const request = plainVideo({ prompt: 'Waves', ...fields });
  video.check(request, OMNI);
  return video.submit(request, ORDER, upstreamOf(OMNI));
}

function compose(fields: Partial<SoundRequest<Media>> = {}, model = SONG) {
  const request = plainSound({ prompt: 'A march', ...fields });
  music.check(request, model);
  return music.submit(request, ORDER, upstreamOf(model));
}

function listen(fields: Partial<TranscriptionRequest> = {}, audio = AUDIO) {
  const request = plainTranscription(fields);
  transcription.check(request, EAR);
  return transcription.submit(request, audio, upstreamOf(EAR));
}

const poll = async (work: typeof video, task: JsonObject) => work.poll?.(task, upstreamOf('another'));
const TASK = { id: 'v1_1' };

describe('a clip', () => {
  test('is a task of which the id is enough, and lies behind the key, which goes to no other address', async () => {
    assert.deepEqual(await film({ seconds: 5, aspectRatio: '9:16' }), { state: 'accepted', task: TASK });
    assert.equal(emulator.requests[0]?.path, '/v1beta/interactions');
    assert.deepEqual(body(0), {
      model: OMNI,
      input: [{ type: 'text', text: 'Waves' }],
      generation_config: { video_config: { task: 'text_to_video' } },
      response_format: { type: 'video', resolution: '720p', delivery: 'uri', duration: '5s', aspect_ratio: '9:16' },
      background: true,
      store: true,
    });
    assert.deepEqual(await poll(video, TASK), { state: 'running' });
    const path = '/v1beta/files/v1_1:download?alt=media';
    const over = { state: 'succeeded', outputs: [{ path }], usage: { inputTokens: 7, outputTokens: 3 } };
    assert.deepEqual(await poll(video, TASK), over);
    const pieces = await video.open?.(path, upstreamOf(OMNI));
    assert.deepEqual(Buffer.concat(await Array.fromAsync(pieces ?? [])), clip);
    for (const { headers } of emulator.requests) assert.equal(headers['x-goog-api-key'], KEY);
  });

  const SENT: readonly (readonly [
    name: string,
    fields: Partial<VideoRequest<Media>>,
    task: string,
    pictures: number,
  ])[] = [
    ['a first frame', { firstFrame: picture }, 'image_to_video', 1],
    ['two frames', { firstFrame: picture, lastFrame: picture }, 'image_to_video', 2],
    ['pictures to go by', { inputReference: picture, referenceImages: [picture, picture] }, 'reference_to_video', 3],
  ];
  for (const [name, fields, task, pictures] of SENT) {
    test(`with ${name} is ${task}, the pictures as bytes before the words`, async () => {
      await film(fields);
      assert.deepEqual(body(0).generation_config, { video_config: { task } });
      assert.deepEqual(body(0).input, [
        ...Array.from({ length: pictures }, () => PICTURE),
        { type: 'text', text: 'Waves' },
      ]);
    });
  }

  test('that is to be changed is sent as it is', async () => {
    await film({ sourceVideo: inMemoryMedia(Buffer.from('old'), 'video/mp4'), resolution: '4K', generateAudio: true });
    const source = { type: 'video', data: Buffer.from('old').toString('base64'), mime_type: 'video/mp4' };
    assert.deepEqual(body(0).input[0], source);
    assert.deepEqual(body(0).generation_config, { video_config: { task: 'edit' } });
    assert.equal(body(0).response_format.resolution, '4k');
  });

  for (const [ending, code] of [
    ['policy', 'content_rejected'],
    ['failed', 'upstream_failed'],
    ['incomplete', 'upstream_failed'],
    ['budget_exceeded', 'upstream_failed'],
    ['lost', 'upstream_failed'],
  ] as const) {
    test(`that ends as ${ending} has failed: ${code}`, async () => {
      emulator.interactions.readsUntilDone = 0;
      emulator.interactions.endings.push(ending);
      await film();
      const over = await poll(video, TASK);
      assert.deepEqual([over?.state, over?.state === 'failed' && over.code], ['failed', code]);
    });
  }

  const ENDS: readonly (readonly [content: JsonObject, output: object | undefined])[] = [
    [
      { uri: 'https://generativelanguage.googleapis.com/v1beta/files/x' },
      { path: '/v1beta/files/x:download?alt=media' },
    ],
    [{ uri: 'https://elsewhere.example/x.mp4?s=1' }, { url: 'https://elsewhere.example/x.mp4?s=1' }],
    [{ data: clip.toString('base64') }, { data: clip }],
    [{ uri: 'no address' }, undefined],
    [{}, undefined],
  ];
  for (const [content, output] of ENDS) {
    test(`told as ${JSON.stringify(content)} is ${JSON.stringify(output)}`, async () => {
      const steps = [{ type: 'model_output', content: [{ type: 'video', ...content }] }];
      emulator.script(
        { kind: 'answer' },
        { kind: 'raw', body: JSON.stringify({ id: 'v1_1', status: 'completed', steps }) },
      );
      await film();
      if (output === undefined) await assert.rejects(poll(video, TASK), isFault('garbled'));
      else assert.deepEqual(await poll(video, TASK), { state: 'succeeded', outputs: [output], usage: NO_USAGE });
    });
  }
});

const NO_USAGE = { inputTokens: undefined, outputTokens: undefined };

describe('a song', () => {
  test('comes with the answer to its submission', async () => {
    const made = { state: 'succeeded', outputs: [{ data: song }], usage: { inputTokens: 7, outputTokens: 3 } };
    assert.deepEqual(await compose(), made);
    assert.deepEqual(body(0), { model: SONG, input: 'A march', response_format: { type: 'audio' } });
  });

  test('is told all wishes in its prompt', async () => {
    await compose({ lyrics: 'La la', durationSeconds: 90, format: 'mp3', sampleRate: 44_100 });
    assert.equal(body(0).input, 'A march\n\nThe length is 90 seconds.\n\nLyrics:\nLa la');
    await compose({ prompt: undefined, input: 'A waltz', instrumental: true, durationSeconds: 30 }, CLIP_SONG);
    assert.equal(body(1).input, 'A waltz\n\nInstrumental only, no vocals.');
  });

  test('that the vendor takes longer for is asked after by its id', async () => {
    emulator.interactions.isSlow = true;
    assert.deepEqual(await compose(), { state: 'accepted', task: TASK });
    assert.deepEqual(await poll(music as never, TASK), { state: 'running' });
    const over = await poll(music as never, TASK);
    assert.deepEqual(over?.state === 'succeeded' && over.outputs, [{ data: song }]);
  });

  for (const [ending, fault] of [
    ['policy', 'policy'],
    ['failed', 'server'],
    ['budget_exceeded', 'account'],
  ] as const) {
    test(`that ends as ${ending} is a fault of class ${fault}`, async () => {
      emulator.interactions.endings.push(ending);
      await assert.rejects(compose(), isFault(fault));
    });
  }

  test('of the old form is found too', async () => {
    const outputs = [
      { type: 'text', text: 'x' },
      { type: 'audio', mime_type: 'audio/mp3', data: song.toString('base64') },
    ];
    emulator.script({ kind: 'raw', body: JSON.stringify({ id: 'v1_1', status: 'completed', outputs }) });
    assert.deepEqual(await compose({}, CLIP_SONG), { state: 'succeeded', outputs: [{ data: song }], usage: NO_USAGE });
  });
});

describe('a transcript', () => {
  test('is its text; times are asked for only where they are wanted', async () => {
    assert.deepEqual(await listen({ language: 'en' }), { state: 'transcribed', transcript: { text: 'Hello there.' } });
    assert.deepEqual(body(0), {
      model: EAR,
      input: [{ type: 'audio', data: wave.toString('base64'), mime_type: 'audio/wav' }],
      generation_config: { transcription_config: { language_codes: ['en'] } },
    });
    const words = [
      { word: 'Hello', start: 0, end: 0.4 },
      { word: 'there.', start: 0.5, end: 0.9 },
    ];
    for (const fields of [{ granularities: ['word'] }, { responseFormat: 'verbose_json' }] as const) {
      assert.deepEqual(await listen(fields), { state: 'transcribed', transcript: { text: 'Hello there.', words } });
    }
    const mode = { type: 'verbatim', timestamp_granularities: ['word'] };
    assert.deepEqual(body(1).generation_config, { transcription_config: { mode } });
  });

  test('that the vendor takes longer for is asked after by its id; one that it lost is lost', async () => {
    emulator.interactions.isSlow = true;
    assert.deepEqual(await listen(), { state: 'accepted', task: TASK });
    const ask = (id: string) => transcription.poll?.({ id }, upstreamOf('another'));
    assert.deepEqual(await ask('v1_1'), { state: 'running' });
    assert.deepEqual(await ask('v1_1'), { state: 'transcribed', transcript: { text: 'Hello there.' } });
    assert.deepEqual(await ask('../files'), { state: 'lost' });
  });

  test('that fails is a fault, and so is a task of it', async () => {
    emulator.interactions.endings.push('policy', 'failed');
    await assert.rejects(listen(), isFault('policy'));
    emulator.interactions.isSlow = true;
    emulator.interactions.readsUntilDone = 0;
    await listen();
    const over = await transcription.poll?.({ id: 'v1_2' }, upstreamOf(EAR));
    assert.deepEqual(over?.state === 'failed' && over.code, 'upstream_failed');
  });

  for (const [name, audio] of [
    ['of another format', { ...AUDIO, mimeType: 'video/quicktime' }],
    ['that is too large', { ...AUDIO, bytes: 75_000_001 }],
  ] as const) {
    test(`of a file ${name} is left to another upstream`, async () => {
      await assert.rejects(listen({}, audio), isFault('unfit'));
      assert.equal(emulator.requests.length, 0);
    });
  }
});

describe('what no model takes is refused before anything is sent', () => {
  const ofVideo = (fields: Partial<VideoRequest<Media>>) => () =>
    video.check(plainVideo({ prompt: 'Waves', ...fields }), OMNI);
  const ofMusic =
    (fields: Partial<SoundRequest<Media>>, model = SONG) =>
    () =>
      music.check(plainSound({ prompt: 'A march', ...fields }), model);
  const ofEar = (fields: Partial<TranscriptionRequest>) => () => transcription.check(plainTranscription(fields), EAR);
  const REFUSED: readonly (readonly [check: () => void, field: string, why: string])[] = [
    [ofVideo({ seconds: 2 }), 'seconds', 'takes 3 to 10'],
    [ofVideo({ seconds: 4.5 }), 'seconds', 'takes whole seconds'],
    [ofVideo({ resolution: '480p' }), 'resolution', 'takes 360p, 720p, 1080p, 4k'],
    [ofVideo({ aspectRatio: '1:1' }), 'aspect_ratio', 'takes 16:9, 9:16'],
    [ofVideo({ size: '1280x720' }), 'size', 'takes none'],
    [ofVideo({ fps: 24 }), 'fps', 'takes none'],
    [ofVideo({ seed: 1 }), 'seed', 'takes none'],
    [ofVideo({ negativePrompt: 'fog' }), 'negative_prompt', 'takes none'],
    [ofVideo({ cameraFixed: true }), 'camera_fixed', 'takes none'],
    [ofVideo({ watermark: true }), 'watermark', 'takes none'],
    [ofVideo({ generateAudio: false }), 'generate_audio', 'takes true'],
    [ofVideo({ lastFrame: picture }), 'first_frame', 'takes at least 1'],
    [ofVideo({ referenceImages: [picture, picture, picture, picture] }), 'reference_image_urls', 'takes at most 3'],
    [ofVideo({ firstFrame: picture, referenceImages: [picture] }), 'first_frame', 'does not take it together'],
    [ofVideo({ firstFrame: picture, sourceVideo: picture }), 'first_frame', 'does not take it together'],
    [ofVideo({ inputReference: picture, sourceVideo: picture }), 'reference_image_urls', 'does not take it together'],
    [ofVideo({ referenceVideos: [picture] }), 'reference_videos', 'takes none'],
    [ofVideo({ referenceAudios: [picture] }), 'reference_audios', 'takes none'],
    [ofVideo({ extra: { webhook_config: {} } }), 'webhook_config', 'takes none'],
    [ofMusic({ input: 'x' }), 'input', 'does not take it together'],
    [ofMusic({ prompt: undefined }), 'prompt', 'takes at least 1 character'],
    [ofMusic({ instrumental: true, lyrics: 'la' }), 'instrumental', 'does not take it together'],
    [ofMusic({ format: 'wav' }), 'response_format', 'takes mp3'],
    [ofMusic({ sampleRate: 24_000 }), 'sample_rate', 'takes 44100'],
    [ofMusic({ bitrate: 128 }), 'bitrate', 'takes none'],
    [ofMusic({ durationSeconds: 200 }), 'duration_seconds', 'takes 1 to 180'],
    [ofMusic({ durationSeconds: 20 }, CLIP_SONG), 'duration_seconds', 'takes 30'],
    [ofMusic({ voice: 'v' }), 'voice', 'takes none'],
    [ofMusic({ language: 'en' }), 'language', 'takes none'],
    [ofMusic({ seed: 1 }), 'seed', 'takes none'],
    [ofMusic({ loop: true }), 'loop', 'takes none'],
    [ofMusic({ referenceAudio: [picture] }), 'reference_audio', 'takes none'],
    [ofMusic({ extra: { service_tier: 'priority' } }), 'service_tier', 'takes none'],
    [ofEar({ prompt: 'Names' }), 'prompt', 'takes none'],
    [ofEar({ temperature: 0.5 }), 'temperature', 'takes none'],
    [ofEar({ extra: { generation_config: {} } }), 'generation_config', 'takes none'],
  ];
  for (const [check, field, why] of REFUSED) {
    test(`${field}: ${why}`, () => {
      assert.throws(
        check,
        (error) =>
          error instanceof ApiError &&
          error.code === 'unsupported_parameter' &&
          error.param === field &&
          error.message.startsWith(`"${field}": this model ${why}`),
      );
    });
  }
});

test('an error of interactions is told by its name', async () => {
  const error = (status: number, code: string, message = 'x') =>
    emulator.script({ kind: 'raw', status, body: JSON.stringify({ error: { code, message } }) });
  for (const [status, code, fault, message] of [
    [400, 'invalid_request', 'client', undefined],
    [400, 'content_policy_violation', 'policy', undefined],
    [400, 'invalid_request', 'policy', 'The prompt violates our use policy.'],
    [429, 'rate_limit_exceeded', 'rate', undefined],
    [429, 'resource_exhausted', 'account', 'Your prepayment credits are depleted.'],
    [503, 'unavailable', 'server', 'Blocked by a safety policy check that is down.'],
  ] as const) {
    error(status, code, message);
    await assert.rejects(film(), isFault(fault));
  }
});
