import assert from 'node:assert/strict';
import { test } from 'node:test';
import { imageOf, outcomeOf, refusalOf, videoOf } from '../../test/support/media-bodies.ts';
import { REFERENCES_MAX } from '../limits.ts';
import { type Form, fromForm } from './form.ts';
import type { MediaSource } from './media-requests.ts';

type Parts = Form['values'];

const upload = (key: string): MediaSource => ({ from: 'upload', key, mimeType: 'image/png', bytes: 10 });
const LEAST: Parts = [
  ['model', 'm'],
  ['prompt', 'p'],
];
const edit = (more: Parts, files: Form['files'] = [['image', upload('a')]]) =>
  fromForm('image_edits', { values: [...LEAST, ...more], files });
const video = (more: Parts, files: Form['files'] = []) => fromForm('videos', { values: [...LEAST, ...more], files });

test('R-331: the value parts of an edit mean what they mean in JSON', () => {
  const parts: Parts = [
    ['n', '3'],
    ['size', '1024x1024'],
    ['resolution', '2k'],
    ['quality', 'high'],
    ['style', '5'],
    ['response_format', 'url'],
    ['background', 'auto'],
    ['output_format', 'webp'],
    ['negative_prompt', 'true'],
    ['aspect_ratio', '1:1'],
    ['seed', '-7'],
    ['watermark', 'false'],
    ['mask', 'https://pictures.example/mask'],
    ['reference_images[]', 'https://pictures.example/a'],
    ['reference_images[]', 'https://pictures.example/b'],
  ];
  const body = {
    model: 'm',
    prompt: 'p',
    n: 3,
    size: '1024x1024',
    resolution: '2k',
    quality: 'high',
    style: '5',
    response_format: 'url',
    background: 'auto',
    output_format: 'webp',
    negative_prompt: 'true',
    aspect_ratio: '1:1',
    seed: -7,
    watermark: false,
    mask: 'https://pictures.example/mask',
    reference_images: ['https://pictures.example/a', 'https://pictures.example/b'],
  };
  assert.deepEqual(edit(parts, []), imageOf(body, 'image_edits'));
});

test('R-344: the value parts of a video mean what they mean in JSON', () => {
  const parts: Parts = [
    ['seconds', '8'],
    ['size', '1280x720'],
    ['fps', '24'],
    ['seed', '7'],
    ['camera_fixed', 'True'],
    ['watermark', 'false'],
    ['generate_audio', 'true'],
    ['image', 'https://pictures.example/first'],
    ['reference_image_urls', 'https://pictures.example/a'],
    ['reference_image_urls', 'https://pictures.example/b'],
    ['reference_videos[]', 'https://pictures.example/v'],
    ['extra', '{"camera":{"zoom":1.0}}'],
    ['guidance', '7'],
  ];
  const body = `{"model":"m","prompt":"p","seconds":8,"size":"1280x720","fps":24,"seed":7,"camera_fixed":true,
    "watermark":false,"generate_audio":true,"image":"https://pictures.example/first",
    "reference_image_urls":["https://pictures.example/a","https://pictures.example/b"],
    "reference_videos":["https://pictures.example/v"],"extra":{"camera":{"zoom":1.0}},"guidance":"7"}`;
  assert.deepEqual(video(parts), videoOf(body));
  assert.equal(JSON.stringify(video(parts).extra), '{"camera":{"zoom":1.0},"guidance":"7"}');
});

for (const [name, value, code] of [
  ['n', '10', 'taken'],
  ['n', '11', 'invalid_n'],
  ['n', '0', 'invalid_n'],
  ['n', '1.5', 'invalid_n'],
  ['n', 'three', 'invalid_n'],
  ['n', '', 'invalid_n'],
  ['seed', 'x', 'invalid_parameter'],
  ['seed', '9007199254740993', 'invalid_parameter'],
  ['watermark', 'yes', 'invalid_parameter'],
  ['output_format', 'gif', 'invalid_output_format'],
  ['response_format', 'json', 'invalid_response_format'],
  ['mask', '', 'empty_mask'],
  ['mask', 'hello', 'invalid_mask'],
  ['metadata', 'x', 'invalid_parameter'],
] as const) {
  test(`R-331: ${name}=${value} in an edit is ${code}`, () => {
    assert.equal(
      outcomeOf(() => edit([[name, value]])),
      code,
    );
  });
}

for (const [name, value, code] of [
  ['seconds', '4.5', 'taken'],
  ['seconds', '-1', 'invalid_seconds'],
  ['seconds', 'long', 'invalid_seconds'],
  ['fps', '-1', 'invalid_fps'],
  ['fps', '23.9', 'invalid_fps'],
  ['generate_audio', '1', 'invalid_parameter'],
  ['extra', 'x', 'invalid_parameter'],
  ['extra', '[]', 'invalid_parameter'],
  ['input_reference', 'hello', 'invalid_input_reference'],
] as const) {
  test(`R-344: ${name}=${value} in a video is ${code}`, () => {
    assert.equal(
      outcomeOf(() => video([[name, value]])),
      code,
    );
  });
}

test('R-327 R-328: an edit without a model, a prompt or an image says so in this order', () => {
  const outcome = (values: Parts, files: Form['files'] = []) =>
    outcomeOf(() => fromForm('image_edits', { values, files }));
  assert.equal(outcome([]), 'missing_model');
  assert.equal(outcome([['model', 'm']]), 'missing_prompt');
  assert.equal(outcome(LEAST), 'missing_image');
  assert.equal(outcome(LEAST, [['mask', upload('a')]]), 'missing_image');
  assert.equal(outcome(LEAST, [['image', upload('a')]]), 'taken');
});

test('R-329: files called image and image[] keep the order in which they were sent, before named ones', () => {
  const files: Form['files'] = [
    ['image[]', upload('a')],
    ['image', upload('b')],
    ['mask', upload('m')],
    ['image[]', upload('c')],
  ];
  const { referenceImages, mask } = edit([['images', 'https://pictures.example/d']], files);
  const last = { from: 'url', url: 'https://pictures.example/d' };
  assert.deepEqual(referenceImages, [upload('a'), upload('b'), upload('c'), last]);
  assert.deepEqual(mask, upload('m'));
});

test('R-329: a text where an image file could stand names the picture', () => {
  const parts: Parts = [
    ['image', 'https://pictures.example/a'],
    ['image[]', 'https://pictures.example/b'],
  ];
  const { referenceImages, extra } = edit(parts, []);
  const urls = ['https://pictures.example/a', 'https://pictures.example/b'];
  assert.deepEqual(
    referenceImages,
    urls.map((url) => ({ from: 'url', url })),
  );
  assert.deepEqual(extra, {});
});

test('R-314: files and named pictures together are at most 16', () => {
  const files = Array.from({ length: REFERENCES_MAX - 1 }, (_, index) => ['image[]', upload(String(index))] as const);
  const named: Parts = [['reference_images[]', 'https://pictures.example/a']];
  assert.equal(edit(named, files).referenceImages.length, REFERENCES_MAX);
  assert.equal(
    outcomeOf(() => edit(named, [...files, ['image', upload('x')]])),
    'invalid_parameter',
  );
});

test('R-330 R-338: one mask is taken, a second is refused, as a file or by name', () => {
  const image = ['image', upload('a')] as const;
  const mask = ['mask', upload('m')] as const;
  const named: Parts = [['mask', 'https://pictures.example/mask']];
  assert.equal(
    outcomeOf(() => edit([], [image, mask])),
    'taken',
  );
  assert.equal(
    outcomeOf(() => edit([], [image, mask, mask])),
    'invalid_mask',
  );
  assert.equal(
    outcomeOf(() => edit(named, [image, mask])),
    'invalid_mask',
  );
});

for (const name of ['file', 'images', 'image[0]', 'Mask', 'input_reference', '__proto__', '']) {
  test(`R-333: a file called "${name}" is not expected in an edit`, () => {
    const files = [
      ['image', upload('a')],
      [name, upload('b')],
    ] as const;
    assert.equal(
      outcomeOf(() => edit([], files)),
      'unexpected_file',
    );
  });
}

test('R-338: a repeated scalar is refused unless it is the same', () => {
  assert.equal(
    edit([
      ['n', '2'],
      ['n', '2'],
    ]).n,
    2,
  );
  const refusal = refusalOf(() =>
    edit([
      ['n', '2'],
      ['n', '3'],
    ]),
  );
  assert.equal(refusal?.code, 'conflicting_parameters');
  assert.equal(refusal.message, '"n" is given twice and differs.');
  for (const [first, second] of [
    ['seed', 'seed[]'],
    ['seed[]', 'seed'],
    ['seed[a]', 'seed[]'],
    ['seed', 'seed[a]'],
    ['seed[a]', 'seed'],
  ] as const) {
    const mixed: Parts = [
      [first, '1'],
      [second, '2'],
    ];
    assert.equal(
      outcomeOf(() => edit(mixed)),
      'conflicting_parameters',
      `${first} with ${second}`,
    );
  }
});

test('R-338: unknown parts are passed on as texts, lists and objects of texts', () => {
  const { extra } = edit([
    ['user', '5'],
    ['stream', 'true'],
    ['include[]', 'a'],
    ['include[]', 'a'],
    ['camera[lens][mm]', '35'],
    ['camera[lens][f]', '2'],
    ['odd[', '1'],
    ['[odd]', '2'],
    ['odd[][a]', '3'],
    [`${'d'}${'[d]'.repeat(9)}`, '4'],
  ]);
  assert.deepEqual(extra, {
    user: '5',
    stream: 'true',
    include: ['a', 'a'],
    camera: { lens: { mm: '35', f: '2' } },
    'odd[': '1',
    '[odd]': '2',
    'odd[][a]': '3',
    [`d${'[d]'.repeat(9)}`]: '4',
  });
});

test('R-338: what is passed on is held to the same rules as in JSON', () => {
  assert.equal(
    outcomeOf(() => edit([['hook', 'ftp://pictures.example']])),
    'url_in_extra',
  );
});

test('R-316: metadata.resolution can be given in a form too', () => {
  assert.equal(edit([['metadata[resolution]', '2k']]).resolution, '2k');
  assert.equal(edit([['metadata', '{"resolution":"2k"}']]).resolution, '2k');
});

test('R-341: part names that mean something to a program are plain data', () => {
  const { extra, n } = edit([
    ['__proto__', 'a'],
    ['constructor[prototype][polluted]', 'b'],
    ['prototype[__proto__][n]', '9'],
  ]);
  const expected = '{"__proto__":"a","constructor":{"prototype":{"polluted":"b"}},"prototype":{"__proto__":{"n":"9"}}}';
  assert.equal(JSON.stringify(extra), expected);
  assert.equal(n, 1);
  assert.ok(!('polluted' in {}));
});

test('R-344: an input reference comes as a file, as a text, or as client libraries nest it', () => {
  const url = { from: 'url', url: 'https://pictures.example/a' };
  assert.deepEqual(video([], [['input_reference', upload('a')]]).inputReference, upload('a'));
  assert.deepEqual(video([['input_reference', 'https://pictures.example/a']]).inputReference, url);
  assert.deepEqual(video([['input_reference[image_url]', 'https://pictures.example/a']]).inputReference, url);
  assert.deepEqual(video([['input_reference[url]', 'https://pictures.example/a']]).inputReference, url);
  assert.equal(
    outcomeOf(() => video([['input_reference[file_id]', 'file-1']])),
    'invalid_input_reference',
  );
});

test('R-344 R-346: an input reference as a file needs no prompt', () => {
  const values: Parts = [['model', 'm']];
  const files = [['input_reference', upload('a')]] as const;
  assert.equal(fromForm('videos', { values, files }).prompt, undefined);
  assert.equal(
    outcomeOf(() => fromForm('videos', { values, files: [] })),
    'missing_prompt',
  );
  assert.equal(
    outcomeOf(() => fromForm('videos', { values: [], files })),
    'missing_model',
  );
});

test('R-344: there is one input reference, and no other file', () => {
  const reference = ['input_reference', upload('a')] as const;
  assert.equal(
    outcomeOf(() => video([], [reference, reference])),
    'invalid_input_reference',
  );
  assert.equal(
    outcomeOf(() => video([['input_reference', 'https://pictures.example/a']], [reference])),
    'conflicting_parameters',
  );
  assert.equal(
    outcomeOf(() => video([], [['image', upload('a')]])),
    'unexpected_file',
  );
});
