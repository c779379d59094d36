import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { dataUrl, formOf, GIF, type Part, pngOf, valuesOf } from './support/asked-forms.ts';
import { type CallOptions, Gateway, type NewCaller } from './support/gateway.ts';
import { toneAs } from './support/media-samples.ts';

let gateway: Gateway;
let caller: NewCaller;
/** A link to a clip of the caller's own, which is no picture. */
let sound = '';
before(async () => {
  gateway = await Gateway.start();
  caller = await gateway.newCaller({ key: { rpm: 10_000 } });
  await gateway.admin('POST', `/accounts/${caller.accountId}/grants`, { credits: 100_000 });
  const file = formOf([{ name: 'file', bytes: await toneAs('wav', { seconds: 1 }) }]);
  sound = (await gateway.call('POST', '/v1/files', { key: caller.key, ...file })).json.url;
});
after(() => gateway.stop());
afterEach(() => gateway.assertBooksBalance());

const PNG = dataUrl(pngOf());
const LONG = 'word '.repeat(8_001);

type Asked = Readonly<Record<string, unknown>> | readonly Part[];
type Cases = readonly (readonly [code: string, param: string, asked: Asked])[];

const IMAGES: Cases = [
  ['missing_model', 'model', { model: undefined }],
  ['missing_prompt', 'prompt', { prompt: undefined }],
  ['invalid_n', 'n', { n: 0 }],
  ['invalid_response_format', 'response_format', { response_format: 'gif' }],
  ['invalid_output_format', 'output_format', { output_format: 'gif' }],
  ['invalid_parameter', 'size', { size: 'large' }],
  ['invalid_parameter', 'seed', { seed: 'x' }],
  ['conflicting_parameters', 'metadata.resolution', { resolution: '1k', metadata: { resolution: '2k' } }],
  ['conflicting_parameters', 'images', { reference_images: [PNG], images: [dataUrl(GIF)] }],
  ['conflicting_parameters', 'aspect_ratio', { size: '1024x1024', aspect_ratio: '16:9' }],
  ['invalid_input_reference', 'reference_images[1]', { reference_images: [PNG, 5] }],
  ['invalid_input_reference', 'reference_images[1]', { reference_images: [PNG, {}] }],
  ['invalid_mask', 'mask', { reference_images: [PNG], mask: 5 }],
  ['invalid_mask', 'mask', { reference_images: [PNG], mask: 'nonsense' }],
  ['empty_mask', 'mask', { reference_images: [PNG], mask: '' }],
  ['empty_image', 'reference_images[1]', { reference_images: [PNG, ''] }],
  ['unreadable_image', 'reference_images[1]', { reference_images: [PNG, { b64: '!' }] }],
  ['unsupported_image_format', 'reference_images[1]', { reference_images: [PNG, dataUrl(GIF)] }],
  ['invalid_input_url', 'reference_images[1]', { reference_images: [PNG, 'OWN'] }],
  ['invalid_media_url', 'reference_images[1]', { reference_images: [PNG, 'http://127.0.0.1/a.png'] }],
  ['unsupported_media_url_scheme', 'reference_images[1]', { reference_images: [PNG, 'ftp://example.com/a'] }],
];

const EDITS: Cases = [
  ...IMAGES.map(
    ([code, param, asked]) => [code, param, isForm(asked) ? asked : { reference_images: [PNG], ...asked }] as const,
  ),
  ['missing_image', 'image', {}],
  ['conflicting_parameters', 'image', { reference_images: [PNG], image: dataUrl(GIF) }],
  ['invalid_input_reference', 'image', { image: 5 }],
  ['unexpected_file', 'photo', [{ name: 'photo', bytes: pngOf() }]],
  ['unsupported_image_format', 'image', [{ name: 'image[]', bytes: GIF }]],
  [
    'empty_mask',
    'mask',
    [
      { name: 'image', bytes: pngOf() },
      { name: 'mask', bytes: Buffer.alloc(0) },
    ],
  ],
  [
    'conflicting_parameters',
    'n',
    [...valuesOf({ n: '1' }), ...valuesOf({ n: '2' }), { name: 'image', bytes: pngOf() }],
  ],
];

const VIDEOS: Cases = [
  ['missing_model', 'model', { model: undefined }],
  ['missing_prompt', 'prompt', { prompt: undefined }],
  ['invalid_seconds', 'seconds', { seconds: 'long' }],
  ['invalid_fps', 'fps', { fps: 1.5 }],
  ['invalid_parameter', 'aspect_ratio', { aspect_ratio: 'wide' }],
  ['conflicting_parameters', 'duration', { seconds: 5, duration: 6 }],
  ['invalid_input_reference', 'first_frame', { first_frame: 'nonsense' }],
  ['invalid_input_reference', 'reference_image_urls[1]', { reference_image_urls: [PNG, ''] }],
  ['invalid_input_reference', 'last_frame', { last_frame: { url: PNG, b64: 'x' } }],
  ['unsupported_image_format', 'last_frame', { last_frame: dataUrl(GIF) }],
  ['unreadable_image', 'first_frame', { first_frame: dataUrl(pngOf().subarray(0, 20)) }],
  ['invalid_input_url', 'first_frame', { first_frame: 'OWN' }],
  ['unsupported_media_url_scheme', 'reference_videos[0]', { reference_videos: [PNG] }],
  ['invalid_media_url', 'ref_video_url', { ref_video_url: 'http://127.0.0.1/a.mp4' }],
  ['unexpected_file', 'photo', [{ name: 'photo', bytes: pngOf() }]],
  ['empty_image', 'input_reference', [{ name: 'input_reference', bytes: Buffer.alloc(0) }]],
];

const SOUND: Cases = [
  ['missing_model', 'model', { model: undefined }],
  ['missing_input', 'input', { input: undefined, prompt: undefined }],
  ['invalid_n', 'n', { n: 0 }],
  ['invalid_duration', 'duration_seconds', { duration_seconds: -1 }],
  ['invalid_response_format', 'response_format', { response_format: 'midi' }],
  ['invalid_output', 'output', { output: 'fax' }],
  ['invalid_parameter', 'speed', { speed: 'fast' }],
  ['conflicting_parameters', 'text', { input: 'a', text: 'b' }],
  ['invalid_reference_audio', 'reference_audio', { reference_audio: 5 }],
  ['invalid_reference_audio', 'reference_audio[0]', { reference_audio: ['nonsense'] }],
  ['unsupported_audio_format', 'reference_audio[0]', { reference_audio: [dataUrl(pngOf(), 'image/png')] }],
  ['unsupported_audio_format', 'voice', { voice: dataUrl(pngOf(), 'image/png') }],
  ['invalid_media_url', 'reference_audio[0]', { reference_audio: ['http://'] }],
  ['unsupported_media_url_scheme', 'reference_audio[0]', { reference_audio: ['ftp://example.com/a'] }],
];

const TRANSCRIPTIONS: Cases = [
  ['missing_model', 'model', { model: undefined }],
  ['missing_file', 'file', {}],
  ['ambiguous_input', 'file', { file: 'x', url: 'https://example.com/a.wav' }],
  ['invalid_response_format', 'response_format', { response_format: 'srt', url: 'x' }],
  ['invalid_temperature', 'temperature', { temperature: 'warm', url: 'x' }],
  ['invalid_timestamp_granularity', 'timestamp_granularities', { timestamp_granularities: 'letter', url: 'x' }],
  ['invalid_parameter', 'language', { language: 5, url: 'x' }],
  ['conflicting_parameters', 'language', [...valuesOf({ language: 'en' }), ...valuesOf({ language: 'de' })]],
  ['unsupported_parameter', 'stream', { stream: true, url: 'https://example.com/a.wav' }],
  ['unexpected_file', 'clip', [{ name: 'clip', bytes: GIF }]],
  ['unreadable_file', 'file', [{ name: 'file', value: 'x' }]],
  ['empty_file', 'file', [{ name: 'file', bytes: Buffer.alloc(0) }]],
  ['unsupported_audio_format', 'file', [{ name: 'file', bytes: GIF }]],
  ['invalid_media_url', 'url', { url: 'http://127.0.0.1/a.wav' }],
  ['unsupported_media_url_scheme', 'url', { url: 'ftp://example.com/a.wav' }],
];

const CHAT: Cases = [
  ['missing_model', 'model', { model: undefined }],
  ['missing_messages', 'messages', { messages: [] }],
  ['invalid_n', 'n', { n: 0 }],
  ['invalid_parameter', 'messages[0].role', { messages: [{ role: 5 }] }],
];

const ROUTES: readonly (readonly [path: string, least: Record<string, unknown>, cases: Cases])[] = [
  ['/v1/images/generations', { model: 'sandbox/image', prompt: 'a gate' }, IMAGES],
  ['/v1/images/edits', { model: 'sandbox/image', prompt: 'a gate' }, EDITS],
  ['/v1/videos', { model: 'sandbox/video', prompt: 'a gate' }, VIDEOS],
  ['/v1/audio/music', { model: 'sandbox/music', prompt: 'a gate' }, SOUND],
  ['/v1/audio/speech', { model: 'sandbox/speech', input: 'a gate' }, SOUND],
  ['/v1/audio/transcriptions', { model: 'sandbox/transcribe' }, TRANSCRIPTIONS],
  ['/v1/chat/completions', { model: 'sandbox/chat', messages: [{ role: 'user', content: 'Hello' }] }, CHAT],
];

function optionsOf(least: Record<string, unknown>, asked: Asked): CallOptions {
  if (isForm(asked)) {
    const texts = Object.entries(least).map(([name, value]) => [name, String(value)]);
    return formOf([...valuesOf(Object.fromEntries(texts)), ...asked]);
  }
  const text = JSON.stringify({ ...least, ...asked }).replaceAll('"OWN"', JSON.stringify(sound));
  return { raw: text, headers: { 'content-type': 'application/json' } };
}

function isForm(asked: Asked): asked is readonly Part[] {
  return Array.isArray(asked);
}

for (const [path, least, cases] of ROUTES) {
  for (const [code, param, asked] of cases) {
    test(`${path}: ${code} names ${param}${isForm(asked) ? ', in a form' : ''}`, async () => {
      const { status, json, text } = await gateway.call('POST', path, { key: caller.key, ...optionsOf(least, asked) });
      assert.deepEqual([status, json?.error.code, json?.error.param], [400, code, param], text);
    });
  }
}

test('a text that is too long and a field of a form that is too large are named', async () => {
  const speech = { raw: JSON.stringify({ model: 'sandbox/speech', input: LONG }) };
  const large = formOf([...valuesOf({ model: 'sandbox/image', prompt: 'x'.repeat(64 * 1024 + 1) })]);
  for (const [path, options, code, param] of [
    ['/v1/audio/speech', speech, 'text_too_long', 'input'],
    ['/v1/images/edits', large, 'form_field_too_large', 'prompt'],
  ] as const) {
    const { status, json } = await gateway.call('POST', path, { key: caller.key, ...options });
    assert.deepEqual([status, json.error.code, json.error.param], [413, code, param]);
  }
});

/** What is wrong with a body as a whole, with a header or with what an upstream made of it. */
const OF_NO_FIELD = [
  'malformed_request',
  'unsupported_content_encoding',
  'unsupported_content_type',
  'invalid_json',
  'invalid_multipart',
  'invalid_idempotency_key',
  'url_in_extra',
  'upstream_rejected',
  'content_rejected',
  // Told by vendors, each in the tests of its own.
  'unsupported_parameter',
];

test('every 400 of every route that makes something is among these', async () => {
  const { json } = await gateway.call('GET', '/openapi.json');
  for (const [path, , cases] of ROUTES) {
    const codes: string[] = json.paths[path].post.responses[400]['x-codes'];
    // Samples of a voice are fetched for models that take one; speech-voices.test.ts has those.
    const fetched = cases === SOUND || cases === TRANSCRIPTIONS ? ['invalid_input_url'] : [];
    const known = [...OF_NO_FIELD, ...fetched, ...cases.map(([code]) => code)];
    assert.deepEqual(
      codes.filter((code) => !known.includes(code)),
      [],
      path,
    );
  }
});

test('a part that no field could be called names none', async () => {
  const form = formOf([...valuesOf({ model: 'sandbox/image', prompt: 'x' }), { name: 'a b<c>', bytes: pngOf() }]);
  const { json } = await gateway.call('POST', '/v1/images/edits', { key: caller.key, ...form });
  assert.deepEqual([json.error.code, json.error.param], ['unexpected_file', null]);
});
