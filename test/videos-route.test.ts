import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { dataUrl, formOf, GIF, type Part, pngOf, valuesOf } from './support/asked-forms.ts';
import type { NewCaller } from './support/gateway.ts';
import { clip, picture, toneAs } from './support/media-samples.ts';
import { type Asking, MediaStudio, type Told, VIDEOS, videoModel } from './support/media-studio.ts';
import { moneyOf, paidCaller } from './support/paid-calls.ts';
import { imageModel } from './support/studio.ts';

const MIB = 1024 * 1024;
const PNG = pngOf();
const CLIP = await clip({ seconds: 2.5 });
const SOUND = await toneAs('mp3', { seconds: 1 });
const SLOTS = [
  'input_reference',
  'reference_images',
  'first_frame',
  'last_frame',
  'reference_videos',
  'reference_audios',
  'ref_video',
  'generate_audio',
];
const accepts = {
  resolutions: ['480p', '720p', '1080p'],
  aspect_ratios: ['16:9', '9:16'],
  sizes: ['1280x720', '64x64'],
  seconds_max: 20,
  slots: SLOTS,
};
const pricing = {
  mode: 'per_second',
  credits: { per_second: 10 },
  resolution_ratio: { '1080p': 2 },
  flag_ratio: { generate_audio: 1.5 },
};
const open = [{ upstream: 'open-queue', model: 'any/filmer' }];
const frames = [{ upstream: 'queue', model: 'fal-ai/bytedance/seedance/v1.5/pro/image-to-video' }];
const references = [{ upstream: 'queue', model: 'bytedance/seedance-2.0/reference-to-video' }];
const studio = new MediaStudio({
  delivered: { video: CLIP },
  queue: { files: { video: CLIP } },
  models: [
    videoModel('film/any', open, accepts, { pricing }),
    videoModel('film/plain', open, {}),
    videoModel('film/frames', frames, { ...accepts, slots: ['first_frame', 'last_frame', 'generate_audio'] }),
    videoModel('film/references', references, {
      ...accepts,
      slots: ['input_reference', 'reference_images', 'reference_videos', 'reference_audios'],
    }),
    videoModel('film/sandbox', [{ upstream: 'sandbox', model: 'film' }], accepts),
    imageModel('studio/image', [{ upstream: 'open', model: 'painter' }]),
  ],
});
before(() => studio.start());
after(() => studio.stop());

let caller: NewCaller;
beforeEach(async () => {
  caller = await paidCaller(studio.gateway, 10_000);
});
afterEach(() => studio.gateway.assertBooksBalance());

const hosted = (name: string, bytes: Buffer) => studio.queue.files.add(name, bytes, 'application/octet-stream');
const asked = (more: object = {}, model = 'film/any') => ({ body: { model, prompt: 'a gate', ...more } });

async function refused(told: Told, ...fields: readonly object[]): Promise<void> {
  await studio.refuses(
    caller,
    VIDEOS,
    fields.map((more) => [asked(more), told]),
  );
}

/** What the upstream was sent for a video that it made. */
async function forwarded(more: object) {
  await studio.made(caller, VIDEOS, asked(more));
  return studio.openQueue.last.input;
}

describe('what a video request asks for', () => {
  test('R-342: a valid request answers 202 with a job of kind video, whose clip is delivered', async () => {
    const answer = await studio.sent(caller, VIDEOS, asked());
    assert.deepEqual([answer.status, answer.json.object, answer.json.kind], [202, 'job', 'video'], answer.text);
    await studio.ended(caller, answer.json.id);
    const [asset] = await studio.assets(caller, answer.json.id);
    assert.equal(asset.mime_type, 'video/mp4');
    assert.deepEqual((await studio.fetched(asset.url)).bytes, CLIP);
    assert.deepEqual(studio.openQueue.last.input, { prompt: 'a gate' });
  });

  test('R-342: a body of 24 MiB is taken, one byte more is too large', async () => {
    const json = JSON.stringify(asked().body);
    const padded = (bytes: number) => ({ raw: json.padEnd(bytes), headers: { 'content-type': 'application/json' } });
    await studio.made(caller, VIDEOS, padded(24 * MIB));
    await studio.refuses(caller, VIDEOS, [[padded(24 * MIB + 1), '413 body_too_large']]);
  });

  test('R-343, R-344: what is neither JSON nor a form is refused', async () => {
    const typed = (raw: string, type: string): Asking => ({ raw, headers: { 'content-type': type } });
    const broken = ['', '{', '[]', 'null', '"text"', `${JSON.stringify(asked().body)}x`];
    const rows = broken.map((raw) => [typed(raw, 'application/json'), '400 invalid_json'] as const);
    await studio.refuses(caller, VIDEOS, rows);
    const types = ['text/plain', 'application/x-www-form-urlencoded', 'video/mp4'];
    const others = types.map((type) => [typed('{}', type), '400 unsupported_content_type'] as const);
    await studio.refuses(caller, VIDEOS, others);
  });

  test('R-345: a model is needed, and one that makes videos', async () => {
    for (const model of [undefined, null, '', 7]) await refused('400 missing_model', { model });
    for (const model of ['none', 'studio/image']) await refused('404 model_not_found', { model });
    await studio.gateway.putConfig(studio.document({ 'open-queue': { enabled: false } }));
    await refused('404 model_not_found', {});
    await studio.gateway.putConfig(studio.document());
  });

  test('R-346, R-347: a prompt is needed unless there is something else to go by', async () => {
    const [video, sound] = [hosted('a.mp4', CLIP), hosted('a.mp3', SOUND)];
    const picture = dataUrl(PNG);
    const instead = [
      { input_reference: picture },
      { reference_image_urls: [picture] },
      { first_frame: picture },
      { image: picture },
      { image_url: picture },
      { reference_videos: [video] },
      { reference_audios: [sound] },
      { ref_video_url: video },
      { video_url: video },
    ];
    for (const more of instead) assert.equal('prompt' in (await forwarded({ prompt: undefined, ...more })), false);
    for (const prompt of [undefined, null, '']) await refused('400 missing_prompt', { prompt });
    await refused('400 missing_prompt', { prompt: '', last_frame: picture }, { prompt: '', reference_videos: [] });
  });

  test('R-348, R-349: the length is a number or its text, under either name; 0 leaves it to the model', async () => {
    for (const more of [{ seconds: 5 }, { seconds: '5' }, { duration: 5 }, { duration: '5', seconds: 5 }]) {
      assert.equal((await forwarded(more)).duration, '5');
    }
    for (const seconds of [0, '0']) assert.equal('duration' in (await forwarded({ seconds })), false);
    assert.equal((await forwarded({ seconds: 20 })).duration, '20');
    const wrong = [-1, -0.1, '-1', 'five', '', true, [5], '1e1', ' 5'];
    await refused('400 invalid_seconds', ...wrong.flatMap((seconds) => [{ seconds }, { duration: seconds }]));
    await refused('400 conflicting_parameters', { seconds: 5, duration: 6 });
    await refused('400 unsupported_parameter', { seconds: 20.001 }, { seconds: 21 });
  });

  test('R-350, R-351, R-352: tier, size and shape are what the model publishes and do not contradict each other', async () => {
    assert.equal((await forwarded({ resolution: '1080p' })).resolution, '1080p');
    for (const name of ['aspect_ratio', 'ratio']) {
      assert.equal((await forwarded({ [name]: '9:16' })).aspect_ratio, '9:16');
    }
    await refused('400 unsupported_parameter', { resolution: '4k' }, { resolution: '720' }, { size: '1920x1080' });
    await refused('400 unsupported_parameter', { aspect_ratio: '4:3' }, { ratio: '4:3' });
    await refused('400 conflicting_parameters', { size: '1280x720', resolution: '1080p' });
    await refused('400 conflicting_parameters', { aspect_ratio: '16:9', ratio: '9:16' });
    await refused('400 conflicting_parameters', { size: '1280x720', aspect_ratio: '9:16' });
    await refused('400 invalid_parameter', { aspect_ratio: 'wide' }, { size: 'large' }, { resolution: 720 });
  });

  test('R-353, R-354, R-355: frame rate, seed, words and switches go on with their types', async () => {
    const more = { fps: 24, seed: 7, negative_prompt: 'fog', camera_fixed: true, generate_audio: false };
    assert.deepEqual(await forwarded(more), { prompt: 'a gate', ...more });
    await refused('400 invalid_fps', { fps: -1 }, { fps: 1.5 }, { fps: '24' });
    const wrong = [
      { seed: 1.5 },
      { negative_prompt: 1 },
      { camera_fixed: 'true' },
      { watermark: 1 },
      { generate_audio: 'no' },
    ];
    await refused('400 invalid_parameter', ...wrong);
    const silent = [true, false].map(
      (flag) => [asked({ generate_audio: flag }, 'film/plain'), '400 unsupported_parameter'] as const,
    );
    await studio.refuses(caller, VIDEOS, silent);
  });

  test('R-351, R-353, R-354: a size, a frame rate and a watermark reach a model that has them', async () => {
    const small = { size: '64x64', fps: 8, seconds: 0.5, watermark: true };
    const { id } = await studio.made(caller, VIDEOS, asked(small, 'film/sandbox'));
    const [asset] = await studio.assets(caller, id);
    assert.deepEqual([asset.width, asset.height], [64, 64]);
  });

  test('R-372, R-355: the price is that of the seconds delivered, at the tier and with the sound asked for', async () => {
    const rows = [
      [{ seconds: 5 }, 50, 25],
      [{ seconds: 5, resolution: '1080p' }, 100, 50],
      [{ seconds: 5, resolution: '1080p', generate_audio: true }, 150, 75],
      [{}, 200, 25],
    ] as const;
    for (const [more, held, charged] of rows) {
      const payer = await paidCaller(studio.gateway);
      const { id } = await studio.create(payer, VIDEOS, asked(more).body);
      assert.deepEqual(await moneyOf(studio.gateway, payer), { available: 1000 - held, reserved: held, spent: 0 });
      assert.deepEqual((await studio.ended(payer, id)).usage, { credits: charged });
      assert.deepEqual(await moneyOf(studio.gateway, payer), {
        available: 1000 - charged,
        reserved: 0,
        spent: charged,
      });
    }
  });
});

describe('the pictures and clips of a video request', () => {
  test('R-365, R-367: each form of a picture arrives in the slot that it was given in, and in no other', async () => {
    const jpeg = await picture('jpeg', { width: 8, height: 8 });
    const url = hosted('a.jpg', jpeg);
    const forms = [url, dataUrl(jpeg, 'image/png'), { url }, { b64: jpeg.toString('base64'), mime_type: 'image/png' }];
    const slots = [
      ['input_reference', 'image_urls'],
      ['first_frame', 'image_url'],
      ['image', 'image_url'],
      ['image_url', 'image_url'],
      ['last_frame', 'end_image_url'],
    ] as const;
    for (const [field, wire] of slots) {
      for (const form of [...forms, jpeg.toString('base64')]) {
        const arrived = dataUrl(jpeg, 'image/jpeg');
        const expected = { prompt: 'a gate', [wire]: wire === 'image_urls' ? [arrived] : arrived };
        assert.deepEqual(await forwarded({ [field]: form }), expected);
      }
    }
  });

  test('R-356, R-357, R-358, R-359, R-360, R-361, R-363, R-367: everything at once keeps its place', async () => {
    const [a, b, c, d] = [3, 4, 5, 6].map((width) => dataUrl(pngOf({ width })));
    const [video, source, sound] = [hosted('b.mp4', CLIP), hosted('c.mp4', CLIP), hosted('b.mp3', SOUND)];
    const pictures = { input_reference: a, reference_image_urls: [b], first_frame: c, last_frame: d };
    const clips = { reference_videos: [video], reference_audios: [sound], ref_video_url: source };
    const input = await forwarded({ ...pictures, ...clips });
    assert.deepEqual([input.image_urls, input.image_url, input.end_image_url], [[a, b], c, d]);
    const arrived = dataUrl(CLIP, 'video/mp4');
    assert.deepEqual([input.video_urls, input.video_url], [[arrived], arrived]);
    assert.deepEqual(input.audio_urls, [dataUrl(SOUND, 'audio/mpeg')]);
  });

  test('R-358, R-359, R-363: the names of one field must agree', async () => {
    const [a, b] = [dataUrl(PNG), dataUrl(pngOf({ width: 3 }))];
    assert.equal((await forwarded({ first_frame: a, image: a, image_url: a })).image_url, a);
    await refused('400 conflicting_parameters', { first_frame: a, image: b }, { image: a, image_url: b });
    await refused('400 conflicting_parameters', { ref_video_url: 'https://a.test/a', video_url: 'https://a.test/b' });
  });

  test('R-366: anything else is no reference', async () => {
    const none = [
      7,
      true,
      [],
      [dataUrl(PNG)],
      {},
      { b64: '' },
      '',
      'text',
      Buffer.from('plain text').toString('base64'),
    ];
    const fields = ['input_reference', 'first_frame', 'image', 'image_url', 'last_frame'];
    await refused(
      '400 invalid_input_reference',
      ...fields.flatMap((field) => none.map((given) => ({ [field]: given }))),
    );
    await refused('400 invalid_input_reference', ...none.map((given) => ({ reference_image_urls: [given] })));
    await refused('400 unsupported_image_format', ...fields.map((field) => ({ [field]: dataUrl(GIF) })));
    await refused('400 unreadable_image', ...fields.map((field) => ({ [field]: dataUrl(PNG.subarray(0, 40)) })));
  });

  test('R-361, R-362: clips to go by are named by http URLs only', async () => {
    for (const field of ['reference_videos', 'reference_audios']) {
      const url = 'https://example.com/a';
      const none = [url, [{ url }], [{ b64: 'AAAA' }], [7], ['']];
      await refused('400 invalid_input_reference', ...none.map((given) => ({ [field]: given })));
      await refused(
        '400 unsupported_media_url_scheme',
        { [field]: [dataUrl(CLIP, 'video/mp4')] },
        { [field]: ['ftp://a.test/'] },
      );
      await refused('400 invalid_media_url', { [field]: [CLIP.toString('base64').slice(0, 400)] });
    }
  });

  test('R-357, R-360, R-368: a model without the slot refuses it, and nothing takes its place', async () => {
    const [picture, url] = [dataUrl(PNG), 'https://example.com/a'];
    const told: Told = '400 unsupported_parameter';
    const pictures = {
      input_reference: picture,
      reference_image_urls: [picture],
      first_frame: picture,
      last_frame: picture,
    };
    const clips = { reference_videos: [url], reference_audios: [url], ref_video_url: url };
    const ofFrames = ['first_frame', 'last_frame'];
    const ofReferences = ['input_reference', 'reference_image_urls', 'reference_videos', 'reference_audios'];
    for (const [field, given] of Object.entries({ ...pictures, ...clips })) {
      const models = ['film/plain', ...(ofFrames.includes(field) ? [] : ['film/frames'])];
      if (!ofReferences.includes(field)) models.push('film/references');
      await studio.refuses(
        caller,
        VIDEOS,
        models.map((model) => [asked({ [field]: given }, model), told] as const),
      );
    }
  });

  test('R-367: models that are strict about their slots are given each picture in its own', async () => {
    const [first, last] = [dataUrl(PNG), dataUrl(pngOf({ width: 3 }))];
    await studio.made(caller, VIDEOS, asked({ first_frame: first, last_frame: last }, 'film/frames'));
    const { image_url, end_image_url } = studio.queue.tasks.at(-1)?.input ?? {};
    assert.deepEqual([image_url, end_image_url], [first, last]);
    await studio.made(
      caller,
      VIDEOS,
      asked({ input_reference: first, reference_image_urls: [last] }, 'film/references'),
    );
    assert.deepEqual(studio.queue.tasks.at(-1)?.input.image_urls, [first, last]);
  });
});

describe('what is passed on, and how a form says it', () => {
  test('R-364, R-369: unlisted fields go on to the letter, from the top level and from extra', async () => {
    const fields = '"big":12345678901234567891234,"one":1.0,"nested":{"a":[1E5,{"b":null}]},"text":"\\u00e9"';
    const headers = { 'content-type': 'application/json' };
    for (const written of [fields, `"extra":{${fields}}`]) {
      await studio.made(caller, VIDEOS, { raw: `{"model":"film/any","prompt":"p",${written}}`, headers });
      const { text } = studio.openQueue.last;
      assert.ok(text.startsWith(`{${fields.replace('\\u00e9', 'é')},`), text);
    }
    await refused('400 invalid_parameter', { extra: 'text' }, { extra: [] }, { extra: 7 });
  });

  test('R-370: the top level wins over extra, and what a model cannot take is told', async () => {
    assert.equal((await forwarded({ shutter: 1, extra: { shutter: 2 } })).shutter, 1);
    assert.equal((await forwarded({ seed: 1, extra: { seed: 2 } })).seed, 1);
    await refused('400 unsupported_parameter', { watermark: true }, { size: '1280x720' }, { extra: { seconds: 60 } });
  });

  const part = (name: string, bytes: Buffer, type?: string): Part => ({ name, bytes, ...(type && { type }) });
  const form = (...parts: readonly Part[]) => formOf([...valuesOf({ model: 'film/any', prompt: 'a gate' }), ...parts]);

  test('R-344: a form says the same as JSON, with the reference as a file', async () => {
    const words = valuesOf({ seconds: '5', fps: '24', seed: '7', camera_fixed: 'true', shutter: '0.50' });
    await studio.made(caller, VIDEOS, form(...words, part('input_reference', PNG, 'text/plain')));
    const expected = { prompt: 'a gate', duration: '5', fps: 24, seed: 7, camera_fixed: true, shutter: '0.50' };
    assert.deepEqual(studio.openQueue.last.input, { ...expected, image_urls: [dataUrl(PNG)] });
    const wordless = formOf([...valuesOf({ model: 'film/any' }), part('input_reference', PNG)]);
    await studio.made(caller, VIDEOS, wordless);
    await studio.refuses(caller, VIDEOS, [
      [formOf(valuesOf({ model: 'film/any' })), '400 missing_prompt'],
      [form(part('first_frame', PNG)), '400 unexpected_file'],
      [form(part('input_reference', PNG), part('input_reference', PNG)), '400 invalid_input_reference'],
      [form(part('input_reference', GIF)), '400 unsupported_image_format'],
      [form(part('input_reference', Buffer.alloc(0))), '400 empty_image'],
      [form(...valuesOf({ seconds: '-1' })), '400 invalid_seconds'],
      [form(...valuesOf({ fps: '1.5' })), '400 invalid_fps'],
    ]);
  });

  test('R-344: a form of 24 MiB is taken, one byte more is too large', async () => {
    const used = Buffer.from(form().raw ?? '').length;
    const of = (bytes: number) =>
      formOf(valuesOf({ model: 'film/any', prompt: 'a gate' }), { after: Buffer.alloc(bytes - used) });
    await studio.made(caller, VIDEOS, of(24 * MIB));
    await studio.refuses(caller, VIDEOS, [[of(24 * MIB + 1), '413 body_too_large']]);
  });
});
