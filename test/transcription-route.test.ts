import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { formOf, pngOf, valuesOf } from './support/asked-forms.ts';
import { Booth, clipForm, earModel, MODELS, SECOND_PRICE } from './support/booth.ts';
import type { NewCaller } from './support/gateway.ts';
import { clip, type ToneFormat, toneAs } from './support/media-samples.ts';
import { type Asking, type Told, toldBy } from './support/media-studio.ts';
import { moneyOf, paidCaller, tokenModel } from './support/paid-calls.ts';

const MIB = 1024 * 1024;
const WAV = await toneAs('wav', { seconds: 1 });
const booth = new Booth();
before(async () => {
  await booth.start();
  const models = [
    ...MODELS,
    earModel('booth/short', ['open'], { accepts: { seconds_max: 1 } }),
    { ...tokenModel('booth/chat', ['open']) },
  ];
  await booth.gateway.putConfig(booth.document(models));
});
after(() => booth.stop());

let caller: NewCaller;
beforeEach(async () => {
  caller = await paidCaller(booth.gateway, 10_000);
});
afterEach(() => booth.gateway.assertBooksBalance());

const refused = (told: Told, ...askings: readonly Asking[]) =>
  booth.refuses(
    caller,
    askings.map((asking) => [asking, told] as const),
  );
const named = (path: string, bytes: Buffer) => {
  booth.clips.set(path, bytes);
  return booth.target.at('127.0.0.1', path);
};
const asked = (more: object = {}): Asking => ({ body: { model: 'booth/strict', url: named('/a.wav', WAV), ...more } });
/** What the strict upstream was sent for a request that succeeded. */
async function forwarded(asking: Asking) {
  await booth.heard(caller, asking);
  return booth.ear.recordings.at(-1) ?? assert.fail('nothing was sent on');
}

test('R-407: a form and JSON are taken, and nothing else', async () => {
  assert.deepEqual((await forwarded(clipForm(WAV))).file.bytes, WAV);
  assert.deepEqual((await forwarded(asked())).file.bytes, WAV);
  const types = ['text/plain', 'application/x-www-form-urlencoded', 'audio/wav', 'multipart/mixed; boundary=b'];
  await refused(
    '400 unsupported_content_type',
    ...types.map((type) => ({ raw: WAV, headers: { 'content-type': type } })),
  );
  await refused('400 invalid_json', { raw: '[', headers: { 'content-type': 'application/json' } });
  await refused('400 invalid_multipart', { raw: WAV, headers: { 'content-type': 'multipart/form-data; boundary=b' } });
});

test('R-152, R-408: a model that transcribes is needed', async () => {
  await refused('400 missing_model', clipForm(WAV, { model: undefined }), clipForm(WAV, { model: '' }));
  await refused('400 missing_model', asked({ model: undefined }), asked({ model: null }), asked({ model: 7 }));
  await refused('404 model_not_found', clipForm(WAV, { model: 'none' }), asked({ model: 'booth/chat' }));
});

test('R-409: exactly one of a file and a URL is needed', async () => {
  const url = named('/a.wav', WAV);
  const model = { name: 'model', value: 'booth/strict' };
  await refused('400 missing_file', formOf([model]), formOf([model, { name: 'url', value: '' }]));
  await refused('400 missing_file', asked({ url: undefined }), asked({ url: null }), asked({ url: '' }));
  await refused('400 missing_file', asked({ url: undefined, file: 'UklGRg==' }));
  await refused('400 ambiguous_input', clipForm(WAV, { url }), asked({ file: 'UklGRg==' }));
  const second = { name: 'file', bytes: WAV };
  await refused('400 ambiguous_input', clipForm(WAV, {}, [second]));
  await refused('400 unexpected_file', clipForm(WAV, {}, [{ name: 'other', bytes: WAV }]));
  assert.deepEqual((await forwarded(formOf([model, { name: 'url', value: url }]))).file.bytes, WAV);
});

test('R-410: a URL is fetched under the guard, and one that cannot be is refused', async () => {
  await refused('400 unsupported_media_url_scheme', asked({ url: 'ftp://127.0.0.1/a.wav' }));
  await refused('400 unsupported_media_url_scheme', asked({ url: `data:audio/wav;base64,${WAV.toString('base64')}` }));
  const guarded = [
    'http://127.0.0.1:1/a.wav',
    'http://[::1]/a.wav',
    'http://169.254.169.254/a.wav',
    'http://u:p@a.test/',
  ];
  await refused('400 invalid_media_url', ...guarded.map((url) => asked({ url })));
  await refused('400 invalid_input_url', asked({ url: booth.target.at('127.0.0.1', '/none.wav') }));
  await refused('400 unsupported_audio_format', asked({ url: named('/a.png', pngOf()) }));
  await refused('400 empty_file', asked({ url: named('/empty', Buffer.alloc(0)) }));
  await refused('400 invalid_parameter', asked({ url: 7 }), asked({ url: { url: 'http://a.test' } }));
});

test('R-410, R-489: a link of our own is read for whom it belongs to, and for nobody else', async () => {
  const file = formOf([{ name: 'file', bytes: WAV }]);
  const kept = await booth.gateway.call('POST', '/v1/files', { ...file, key: caller.key });
  assert.equal(kept.status, 200, kept.text);
  assert.deepEqual((await forwarded(asked({ url: kept.json.url }))).file.bytes, WAV);
  const stranger = await paidCaller(booth.gateway);
  const answer = await booth.sent(stranger, asked({ url: kept.json.url }));
  assert.equal(toldBy(answer), '400 invalid_input_url');
});

test('R-411: the answer is asked for as json, text or verbose_json', async () => {
  for (const response_format of ['json', 'text', 'verbose_json']) {
    await booth.heard(caller, clipForm(WAV, { response_format }));
    await booth.heard(caller, asked({ response_format }));
  }
  const wrong = ['srt', 'vtt', 'JSON', '', 'b64_json'];
  await refused('400 invalid_response_format', ...wrong.map((response_format) => clipForm(WAV, { response_format })));
  await refused('400 invalid_response_format', ...[...wrong, 1].map((response_format) => asked({ response_format })));
});

test('R-412: language and prompt reach the upstream, and so do keys that are not modelled', async () => {
  const hints = { language: 'de', prompt: 'Tollgate, Schranke', model: 'booth/open', chunking_strategy: 'auto' };
  const lists = valuesOf({ 'include[]': 'logprobs', 'languages[]': 'de' });
  for (const asking of [clipForm(WAV, hints, lists), asked({ ...hints, include: ['logprobs'], languages: ['de'] })]) {
    await booth.heard(caller, asking);
    const { fields } = booth.open.recordings.at(-1) ?? assert.fail();
    assert.deepEqual([fields.language, fields.prompt, fields.chunking_strategy], ['de', hints.prompt, 'auto']);
    assert.deepEqual([fields['include[]'], fields['languages[]']], [['logprobs'], ['de']]);
  }
});

test('R-412: what is passed on is bounded, and a URL in it must be one that may be visited', async () => {
  await refused('400 url_in_extra', asked({ extra: { a: 'gopher://a.test' } }));
  await refused('400 invalid_media_url', asked({ extra: { a: 'http://127.0.0.1:1/' } }));
  await refused('400 invalid_parameter', asked({ extra: 'x'.repeat(64 * 1024) }));
  await refused('400 unsupported_parameter', asked({ stream: true }), clipForm(WAV, { stream: 'true' }));
  await booth.heard(caller, clipForm(WAV, { stream: 'false' }));
});

test('R-413: the temperature is a number', async () => {
  for (const [text, number] of [
    ['0', 0],
    ['0.25', 0.25],
    ['1', 1],
    ['2.5e-1', 0.25],
  ] as const) {
    assert.equal(Number((await forwarded(clipForm(WAV, { temperature: text }))).fields.temperature), number);
    assert.equal(Number((await forwarded(asked({ temperature: number }))).fields.temperature), number);
  }
  const texts = ['warm', '', '1,5', '0x1', 'NaN', 'Infinity', '1e999'];
  await refused('400 invalid_temperature', ...texts.map((temperature) => clipForm(WAV, { temperature })));
  await refused('400 invalid_temperature', ...['0.5', true, [], {}].map((temperature) => asked({ temperature })));
});

test('R-414: times are asked for with brackets or without, once or several times', async () => {
  const part = (name: string, value: string) => ({ name, value });
  const verbose = { response_format: 'verbose_json' };
  const [bare, bracketed] = ['timestamp_granularities', 'timestamp_granularities[]'];
  for (const [asking, times] of [
    [clipForm(WAV, verbose, [part(bracketed, 'word')]), ['word']],
    [clipForm(WAV, verbose, [part(bracketed, 'segment'), part(bracketed, 'word')]), ['segment', 'word']],
    [clipForm(WAV, verbose, [part(bare, 'word'), part(bare, 'segment')]), ['word', 'segment']],
    [clipForm(WAV, verbose, [part(bare, 'word'), part(bracketed, 'word')]), ['word']],
    [asked({ ...verbose, [bare]: ['segment', 'word'] }), ['segment', 'word']],
    [asked({ ...verbose, [bracketed]: ['word', 'word'] }), ['word']],
    [asked({ ...verbose, [bare]: 'word' }), ['word']],
  ] as const) {
    assert.deepEqual((await forwarded(asking)).fields['timestamp_granularities[]'], times);
  }
  for (const wrong of ['character', 'Word', '']) {
    await refused(
      '400 invalid_timestamp_granularity',
      clipForm(WAV, verbose, [part(bare, wrong)]),
      clipForm(WAV, verbose, [part(bracketed, 'word'), part(bracketed, wrong)]),
      asked({ ...verbose, [bare]: [wrong] }),
    );
  }
  await refused('400 invalid_timestamp_granularity', asked({ [bare]: 7 }), asked({ [bare]: [['word']] }));
});

const TONES: readonly ToneFormat[] = [
  'wav',
  'flac',
  'ogg-vorbis',
  'ogg-opus',
  'mp3',
  'aac',
  'm4a',
  'm4a-fragmented',
  'webm',
  'webm-live',
];
for (const format of TONES) {
  test(`R-415: ${format} is taken for what it is, whatever it is called`, async () => {
    const bytes = await toneAs(format, { seconds: 1 });
    const answer = await booth.heard(caller, clipForm(bytes, { model: 'booth/open' }));
    const { file } = booth.open.recordings.at(-1) ?? assert.fail();
    assert.deepEqual(file.bytes, bytes);
    assert.equal(file.name, `audio.${format.replace(/^ogg-.*/, 'ogg').replace(/-.*/, '')}`);
    const { seconds, credits } = answer.json.usage;
    assert.ok(Math.abs(seconds - 1) < 0.1, String(seconds));
    assert.equal(credits, (Math.ceil(seconds * 1000) * SECOND_PRICE) / 1000);
    assert.deepEqual(await moneyOf(booth.gateway, caller), {
      available: 10_000 - credits,
      reserved: 0,
      spent: credits,
    });
  });
}

for (const container of ['mp4', 'webm'] as const) {
  test(`R-415: ${container} with pictures is taken for its sound`, async () => {
    const bytes = await clip({ seconds: 1, sound: true, container });
    await booth.heard(caller, clipForm(bytes, { model: 'booth/open' }));
    assert.equal(booth.open.recordings.at(-1)?.file.name, `audio.${container}`);
  });
}

test('R-416: samples without a header and containers that are not listed are refused', async () => {
  const raw = WAV.subarray(44);
  const others = [
    raw,
    pngOf(),
    Buffer.from('hello there, this is no sound at all'),
    await toneAs('mka-aac', { seconds: 1 }),
  ];
  const films = [
    await clip({ seconds: 1, sound: true, container: 'mov' }),
    await clip({ seconds: 1, container: 'mkv' }),
  ];
  await refused('400 unsupported_audio_format', ...[...others, ...films].map((bytes) => clipForm(bytes)));
});

test('R-417: a file that is empty, broken off or no file at all is refused', async () => {
  await refused('400 empty_file', clipForm(Buffer.alloc(0)));
  const m4a = await toneAs('m4a', { seconds: 1 });
  await refused('400 unreadable_file', clipForm(m4a.subarray(0, m4a.length >> 1)), clipForm(WAV.subarray(0, 40)));
  await refused('400 unreadable_file', formOf(valuesOf({ model: 'booth/strict', file: 'not a file' })));
});

test('R-418: a file of 100 MiB is taken, one byte more is too large', async () => {
  const bytes = wavOf(100 * MIB);
  const { json } = await booth.heard(caller, clipForm(bytes, { model: 'booth/open' }));
  assert.equal(booth.open.recordings.at(-1)?.file.bytes.equals(bytes), true);
  assert.ok(json.usage.seconds > 1000);
  booth.open.recordings.length = 0;
  booth.open.requests.length = 0;
  await refused('413 file_too_large', clipForm(wavOf(100 * MIB + 1), { model: 'booth/open' }));
});

test('R-292, R-418: a URL that gives 100 MiB is taken, one byte more is too large', async () => {
  const url = named('/large.wav', wavOf(100 * MIB));
  await booth.heard(caller, asked({ model: 'booth/open', url }));
  booth.open.recordings.length = 0;
  booth.open.requests.length = 0;
  await refused('400 invalid_input_url', asked({ url: named('/large.wav', wavOf(100 * MIB + 1)) }));
  booth.clips.clear();
});

test('R-418: a form of 120 MiB is taken, one byte more is too large; of JSON it is 4 MiB', async () => {
  const bare = clipForm(WAV);
  const formBytes = (bytes: number): Asking => ({
    raw: Buffer.concat([Buffer.from(bare.raw ?? ''), Buffer.alloc(bytes - (bare.raw?.length ?? 0))]),
    headers: bare.headers ?? {},
  });
  await booth.heard(caller, formBytes(120 * MIB));
  await refused('413 body_too_large', formBytes(120 * MIB + 1));
  const json = JSON.stringify(asked().body);
  const padded = (bytes: number) => ({ raw: json.padEnd(bytes), headers: { 'content-type': 'application/json' } });
  await booth.heard(caller, padded(4 * MIB));
  await refused('413 body_too_large', padded(4 * MIB + 1));
});

test('what a model publishes bounds the length of a clip, and the vendor what else it takes', async () => {
  await booth.heard(caller, clipForm(WAV, { model: 'booth/short' }));
  const long = await toneAs('wav', { seconds: 1.1 });
  await refused('400 unsupported_parameter', clipForm(long, { model: 'booth/short' }));
  await refused('400 unsupported_parameter', clipForm(WAV, { temperature: '1.5' }));
});

test('a balance that does not cover the clip is refused before anything is asked', async () => {
  const poor = await paidCaller(booth.gateway, SECOND_PRICE);
  const answer = await booth.sent(poor, clipForm(await toneAs('wav', { seconds: 1.001 })));
  assert.equal(toldBy(answer), '402 insufficient_credits');
  assert.match(answer.json.error.message, new RegExp(`credits are needed and ${SECOND_PRICE} are available\\.$`));
  assert.equal(answer.headers.location, undefined);
  await booth.heard(poor, clipForm(WAV));
  assert.deepEqual(await moneyOf(booth.gateway, poor), { available: 0, reserved: 0, spent: SECOND_PRICE });
});

/** Silence of 16 bits. */
function wavOf(bytes: number): Buffer {
  const wav = Buffer.alloc(bytes);
  WAV.copy(wav, 0, 0, 44);
  wav.writeUInt32LE(bytes - 8, 4);
  wav.writeUInt32LE(bytes - 44, 40);
  return wav;
}
