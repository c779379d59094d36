import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { plainImage } from '../../../test/support/plain-requests.ts';
import { ApiError } from '../../errors.ts';
import type { ImageRequest } from '../../schemas/index.ts';
import { json } from '../emulator/json.ts';
import { inMemoryMedia, type Media } from '../index.ts';
import { draw, image, isFault, KEY, poll, withEmulator } from './emulator/calls.ts';

type Fields = Partial<ImageRequest<Media>>;

const FIELDS = 'wan2.5-t2i-preview';
const EDIT = 'wan2.5-i2i-preview';
const MIXED = 'wan2.6-image';
const PRO = 'wan2.7-image-pro';
const PLUS = 'qwen-image-plus';
const TWO = 'qwen-image-2.0';
const picture = inMemoryMedia(Buffer.from('abc'), 'image/png');
const large = { ...picture, bytes: 6 * 1024 * 1024, url: 'https://files.example/a.png' };
const PICTURE = 'data:image/png;base64,YWJj';

const SERVICES = '/api/v1/services/aigc';
const words = (text: string, ...pictures: readonly string[]) => ({
  messages: [{ role: 'user', content: [{ text }, ...pictures.map((each) => ({ image: each }))] }],
});

test('a task is submitted with its header, for as many pictures as are wanted and no rewritten prompt', () =>
  withEmulator(FIELDS, async (emulator, upstream) => {
    const submitted = await draw(upstream, { n: 3, negativePrompt: 'fog', seed: 7 });
    assert.deepEqual(submitted, { state: 'accepted', task: { id: 'task-1' } });
    const [sent] = emulator.requests;
    assert.equal(`${sent?.method} ${sent?.path}`, `POST ${SERVICES}/text2image/image-synthesis`);
    assert.deepEqual(
      [sent?.headers.authorization, sent?.headers['x-dashscope-async'], sent?.headers['content-type']],
      [`Bearer ${KEY}`, 'enable', 'application/json'],
    );
    assert.deepEqual(emulator.submissions, [
      {
        model: FIELDS,
        input: { prompt: 'A toll gate', negative_prompt: 'fog' },
        parameters: { prompt_extend: false, watermark: false, seed: 7, n: 3 },
      },
    ]);
  }));

test('pictures that come with the answer are asked for without the header of tasks', () =>
  withEmulator(PLUS, async (emulator, upstream) => {
    const url = `${emulator.origin}/files/picture?Signature=s`;
    assert.deepEqual(await draw(upstream, { negativePrompt: 'fog' }), { state: 'succeeded', outputs: [{ url }] });
    const [sent] = emulator.requests;
    assert.equal(sent?.path, `${SERVICES}/multimodal-generation/generation`);
    assert.equal(sent?.headers['x-dashscope-async'], undefined);
    assert.deepEqual(emulator.submissions, [
      {
        model: PLUS,
        input: words('A toll gate'),
        parameters: { prompt_extend: false, watermark: false, negative_prompt: 'fog', n: 1 },
      },
    ]);
  }));

describe('what is sent', () => {
  const USUAL = { prompt_extend: false, watermark: false, n: 1 };
  const LATEST = { watermark: false, enable_sequential: false, n: 1 };
  const SENT: readonly (readonly [model: string, fields: Fields, parameters: object, input?: object])[] = [
    [FIELDS, { size: '1280x1280' }, { ...USUAL, size: '1280*1280' }],
    [FIELDS, { aspectRatio: '3:4' }, { ...USUAL, size: '1104*1472' }],
    [FIELDS, { aspectRatio: '16:9' }, { ...USUAL, size: '1696*960' }],
    [FIELDS, { aspectRatio: 'auto', size: 'auto' }, USUAL],
    [FIELDS, { watermark: true, outputFormat: 'png' }, { ...USUAL, watermark: true }],
    [FIELDS, { extra: { prompt_extend: true } }, { ...USUAL, prompt_extend: true }],
    ['wan2.2-t2i-flash', { resolution: '1K', aspectRatio: '1:1' }, { ...USUAL, size: '1024*1024' }],
    ['wan2.2-t2i-flash', { resolution: '1k', aspectRatio: '16:9' }, { ...USUAL, size: '1360*768' }],
    [EDIT, { referenceImages: [picture] }, USUAL, { prompt: 'A toll gate', images: [PICTURE] }],
    [
      MIXED,
      { referenceImages: [picture, large], resolution: '2k' },
      { ...USUAL, enable_interleave: false, size: '2K' },
      words('A toll gate', PICTURE, 'https://files.example/a.png'),
    ],
    [PRO, {}, LATEST, words('A toll gate')],
    [PRO, { resolution: '4k' }, { ...LATEST, size: '4K' }],
    [PRO, { resolution: '4k', aspectRatio: '16:9' }, { ...LATEST, size: '5456*3072' }],
    [PRO, { aspectRatio: '1:1', referenceImages: [picture] }, { ...LATEST, size: '2048*2048' }],
    [PLUS, { aspectRatio: '9:16' }, { ...USUAL, size: '928*1664' }],
    [PLUS, { size: '1328x1328', aspectRatio: '9:16' }, { ...USUAL, size: '1328*1328' }],
    [TWO, { resolution: '2k' }, { ...USUAL, size: '2048*2048' }],
    [TWO, { n: 4, referenceImages: [picture] }, { ...USUAL, n: 4 }, words('A toll gate', PICTURE)],
  ];
  for (const [model, fields, parameters, input] of SENT) {
    const { referenceImages = [], ...plain } = fields;
    test(`${model}: ${JSON.stringify(plain)} with ${referenceImages.length} pictures`, () =>
      withEmulator(model, async (emulator, upstream) => {
        await draw(upstream, fields);
        const [sent] = emulator.submissions;
        assert.deepEqual(sent?.parameters, parameters);
        if (input !== undefined) assert.deepEqual(sent?.input, input);
      }));
  }

  test('as many calls as the pictures of a model need', () => {
    for (const [model, n, each] of [
      [PLUS, 3, 1],
      [TWO, 9, 6],
      [FIELDS, 9, 4],
      [FIELDS, 2, 2],
    ] as const) {
      assert.equal(image.perCall(plainImage({ n }), model), each, model);
    }
  });
});

describe('what is refused before anything is sent', () => {
  const REFUSED: readonly (readonly [model: string, fields: Fields, message: string])[] = [
    [FIELDS, { quality: 'high' }, '"quality": this model takes none.'],
    [FIELDS, { style: 'x' }, '"style": this model takes none.'],
    [FIELDS, { background: 'opaque' }, '"background": this model takes none.'],
    [FIELDS, { mask: picture }, '"mask": this model takes none.'],
    [FIELDS, { resolution: '2k' }, '"resolution": this model takes none.'],
    [FIELDS, { referenceImages: [picture] }, '"reference_images": this model takes none.'],
    [FIELDS, { outputFormat: 'jpeg' }, '"output_format": this model takes png.'],
    [FIELDS, { seed: -1 }, '"seed": this model takes 0 to 2147483647.'],
    [FIELDS, { negativePrompt: 'x'.repeat(501) }, '"negative_prompt": this model takes at most 500 characters.'],
    [FIELDS, { size: '512x512' }, '"size": this model takes at least 589824 pixels.'],
    [FIELDS, { size: '2048x2048' }, '"size": this model takes at most 2073600 pixels.'],
    [FIELDS, { aspectRatio: '5:1' }, '"aspect_ratio": this model does not take this value.'],
    [EDIT, {}, '"reference_images": this model takes at least 1.'],
    [EDIT, { referenceImages: Array(4).fill(picture) }, '"reference_images": this model takes at most 3.'],
    [PRO, { negativePrompt: 'fog' }, '"negative_prompt": this model takes none.'],
    [PRO, { resolution: '3k' }, '"resolution": this model takes 1k, 2k, 4k.'],
    [PRO, { resolution: '2k', size: '1024x1024' }, '"resolution": this model does not take it together with "size".'],
    [
      PRO,
      { resolution: '4k', referenceImages: [picture] },
      '"reference_images": this model does not take it together with "resolution".',
    ],
    [
      PRO,
      { size: '4096x4096', referenceImages: [picture] },
      '"reference_images": this model does not take it together with "size".',
    ],
    ['wan2.7-image', { resolution: '4k' }, '"resolution": this model takes 1k, 2k.'],
    [PLUS, { aspectRatio: '2:1' }, '"aspect_ratio": this model takes 16:9, 4:3, 1:1, 3:4, 9:16.'],
    [PLUS, { size: '7x7' }, '"size": this model takes 1664x928, 1472x1104, 1328x1328, 1104x1472, 928x1664.'],
    ['qwen-image-edit', { referenceImages: [picture], size: '1024x1024' }, '"size": this model takes none.'],
    ...['input', 'parameters', 'messages', 'n', 'images', 'enable_sequential', 'enable_interleave', 'max_images'].map(
      (name) => [PRO, { extra: { [name]: 4 } }, `"${name}": this model takes none.`] as const,
    ),
  ];
  for (const [model, fields, message] of REFUSED) {
    test(`${model}: ${message}`, () => {
      assert.throws(
        () => image.check(plainImage(fields), model),
        (error) => error instanceof ApiError && error.code === 'unsupported_parameter' && error.message === message,
      );
    });
  }
});

describe('the pictures of a task', () => {
  const done = async (model: string, refused: number, fields: Fields) => {
    let progress: unknown;
    await withEmulator(model, async (emulator, upstream) => {
      emulator.readsUntilDone = 0;
      emulator.refusedPictures = refused;
      const submitted = await draw(upstream, fields);
      assert.ok(submitted.state === 'accepted');
      progress = JSON.parse(JSON.stringify(await poll(submitted.task, upstream)).replaceAll(emulator.origin, ''));
    });
    return progress;
  };
  const one = { url: '/files/picture?Signature=s' };

  test('are all of its results, in either of their places', async () => {
    assert.deepEqual(await done(FIELDS, 0, { n: 2 }), { state: 'succeeded', outputs: [one, one] });
    assert.deepEqual(await done(PRO, 0, { n: 2 }), { state: 'succeeded', outputs: [one, one] });
  });

  test('are those that moderation has left over', async () => {
    assert.deepEqual(await done(FIELDS, 1, { n: 3 }), { state: 'succeeded', outputs: [one, one] });
  });

  test('that moderation has refused one and all are none', async () => {
    assert.deepEqual(await done(FIELDS, 2, { n: 2 }), {
      state: 'failed',
      code: 'content_rejected',
      detail: '{"code":"DataInspectionFailed","message":"marker"}',
    });
  });
});

test('an answer without pictures is garbled, and may have been paid for', () =>
  withEmulator(PLUS, async (emulator, upstream) => {
    for (const body of [{}, { output: {} }, { output: { choices: [{ message: { content: [{ text: 'x' }] } }] } }]) {
      emulator.script({ kind: 'instead', ...json(200, body) });
      await assert.rejects(draw(upstream), isFault('garbled', { isUncertain: true }));
    }
  }));
