import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { request } from 'undici';
import { dataUrl, pngOf } from './support/asked-forms.ts';
import { FetchTarget } from './support/fetch-target.ts';
import { form } from './support/forms.ts';
import type { NewCaller } from './support/gateway.ts';
import { toneAs } from './support/media-samples.ts';
import { moneyOf, paidCaller } from './support/paid-calls.ts';
import { PRICE, SpeechStudio, voiceModel } from './support/speech-studio.ts';

const MIB = 1024 * 1024;
const SAMPLE_BYTES_MAX = 7.5 * MIB;
const MP3 = await toneAs('mp3', { seconds: 1 });
const WAV = await toneAs('wav', { seconds: 0.5 });
const OGG = await toneAs('ogg-opus', { seconds: 0.5 });
const DESCRIPTION = 'An old sailor with a deep and calm voice';
const WORDS = 'The tide is high, and the gate is open. '.repeat(3);

const served = new Map<string, Buffer>([
  ['/voice.mp3', MP3],
  ['/voice.ogg', OGG],
  ['/largest.wav', wavOf(SAMPLE_BYTES_MAX)],
  ['/larger.wav', wavOf(SAMPLE_BYTES_MAX + 2)],
  ['/empty.mp3', Buffer.alloc(0)],
]);
const host = await FetchTarget.start((asked, answer) => {
  const bytes = served.get(asked.url ?? '');
  answer.writeHead(bytes === undefined ? 404 : 200, { 'content-type': 'text/plain' }).end(bytes);
});
const at = (path: string) => host.at('127.0.0.1', path);

const studio = new SpeechStudio();
const designed = (mode: object, routes = [{ upstream: 'designer', model: 'eleven_ttv_v3' }]) => ({
  accepts: { voice_design: true },
  pricing: mode,
  routes,
});
before(() =>
  studio.start({ settings: { TOLLGATE_FETCH_ALLOW: `127.0.0.1:${host.port}` } }, [
    voiceModel('voice/cloned', { accepts: { voice_sample: 'required' } }),
    voiceModel('design/characters', designed({ mode: 'per_k_char', credits: { base: PRICE.characters } })),
    voiceModel('design/seconds', designed({ mode: 'per_second', credits: { per_second: PRICE.second } })),
    voiceModel('design/clips', designed({ mode: 'per_request', credits: { base: PRICE.clip } })),
  ]),
);
after(async () => {
  await studio.stop();
  host[Symbol.dispose]();
});

let caller: NewCaller;
beforeEach(async () => {
  caller = await paidCaller(studio.gateway);
});
afterEach(() => studio.rest());

const cloned = (more: object) => ({ model: 'voice/cloned', ...more });
const refused = (told: string, ...rows: readonly object[]) => studio.refuses(caller, told, ...rows.map(cloned));

/** A sound of exactly so many bytes. */
function wavOf(bytes: number): Buffer {
  const whole = Buffer.alloc(bytes);
  WAV.copy(whole, 0, 0, 44);
  whole.writeUInt32LE(bytes - 8, 4);
  whole.writeUInt32LE(bytes - 44, 40);
  return whole;
}

/** A file of somebody's own, by its link. */
async function uploaded({ key }: NewCaller, bytes: Buffer): Promise<string> {
  const sent = form([{ name: 'file', fileName: 'voice.mp3', bytes }]);
  const answer = await studio.gateway.call('POST', '/v1/files', { key, ...sent });
  assert.equal(answer.status, 200, answer.text);
  return answer.json.url;
}

test('R-396: a sample is taken from reference_audio and from voice, as a data URL and as bare base64', async () => {
  for (const [bytes, type] of [
    [MP3, 'audio/mpeg'],
    [WAV, 'audio/wav'],
  ] as const) {
    const url = dataUrl(bytes, type);
    for (const more of [{ reference_audio: [url] }, { voice: url }, { voice: bytes.toString('base64') }]) {
      const { reference_audio, voice } = await studio.forwarded(caller, cloned(more));
      assert.deepEqual([reference_audio, voice], [[url], undefined]);
    }
  }
});

test('R-397: a sample behind a URL is fetched and inlined', async () => {
  const { reference_audio } = await studio.forwarded(caller, cloned({ reference_audio: [at('/voice.mp3')] }));
  assert.deepEqual(reference_audio, [dataUrl(MP3, 'audio/mpeg')]);
});

test('R-397: a file of the caller’s own is read from the store, and nobody else’s is', async () => {
  const url = await uploaded(caller, MP3);
  const { reference_audio } = await studio.forwarded(caller, cloned({ reference_audio: [url] }));
  assert.deepEqual(reference_audio, [dataUrl(MP3, 'audio/mpeg')]);
  const other = await uploaded(await paidCaller(studio.gateway), MP3);
  await refused('400 invalid_input_url', { reference_audio: [other] });
});

test('R-397: what cannot or may not be fetched is told apart', async () => {
  await refused('400 invalid_input_url', { reference_audio: [at('/none.mp3')] });
  await refused('400 invalid_media_url', { reference_audio: ['http://127.0.0.1:1/a.mp3'] });
  const body = cloned({ input: 'Hello', reference_audio: [at('/none.mp3')] });
  const { json } = await studio.gateway.call('POST', '/v1/audio/speech', { key: caller.key, body });
  assert.equal(json.error.param, 'reference_audio[0]');
});

test('R-399: a sample of 10 MiB of base64 is taken, one character more is too large', async () => {
  const largest = wavOf(SAMPLE_BYTES_MAX).toString('base64');
  assert.equal(largest.length, 10 * MIB);
  const url = `data:audio/wav;base64,${largest}`;
  for (const more of [{ reference_audio: [url] }, { voice: url }, { voice: largest }]) {
    const { reference_audio } = await studio.forwarded(caller, cloned(more));
    assert.deepEqual(reference_audio, [url]);
  }
  const larger = `${largest}A`;
  await refused(
    '413 voice_sample_too_large',
    { reference_audio: [`data:audio/wav;base64,${larger}`] },
    { voice: `data:audio/wav;base64,${larger}` },
    { voice: larger },
  );
});

test('R-399: the same holds for a sample that is fetched', async () => {
  await studio.forwarded(caller, cloned({ reference_audio: [at('/largest.wav')] }));
  await refused('413 voice_sample_too_large', { reference_audio: [at('/larger.wav')] });
});

test('R-400: what a sample is called does not make it one', async () => {
  for (const bytes of [OGG, pngOf(), Buffer.from('just a text'), Buffer.alloc(100)]) {
    for (const type of ['audio/mpeg', 'audio/wav']) {
      const url = dataUrl(bytes, type);
      await refused('400 unsupported_audio_format', { reference_audio: [url] }, { voice: url });
    }
  }
  await refused('400 unsupported_audio_format', { reference_audio: [at('/voice.ogg')] });
  await refused('400 unsupported_audio_format', { reference_audio: [at('/empty.mp3')] });
  await refused('400 invalid_reference_audio', { reference_audio: [dataUrl(WAV.subarray(0, 60), 'audio/wav')] });
});

test('R-400: a sample whose declared type is not that of its bytes is refused unasked', async () => {
  const rows = [dataUrl(MP3, 'audio/wav'), dataUrl(WAV, 'audio/mpeg')];
  for (const url of rows) await refused('400 unsupported_audio_format', { reference_audio: [url] }, { voice: url });
});

test('R-400: where no type is declared, the bytes tell it', async () => {
  for (const [bytes, type] of [
    [MP3, 'audio/mpeg'],
    [WAV, 'audio/wav'],
  ] as const) {
    const { reference_audio } = await studio.forwarded(caller, cloned({ voice: bytes.toString('base64') }));
    assert.deepEqual(reference_audio, [dataUrl(bytes, type)]);
  }
});

const asked = (more: object) => ({
  model: 'design/characters',
  input: WORDS,
  voice_description: DESCRIPTION,
  ...more,
});

test('R-393 R-394: a description without a voice is answered with previews of voices', async () => {
  for (const output of [undefined, 'binary', 'b64_json']) {
    const { status, json, text } = await studio.speak(caller, asked({ output }));
    assert.equal(status, 200, text);
    assert.deepEqual([json.object, json.model, json.previews.length], ['audio.voice_previews', 'design/characters', 3]);
    const ids = json.previews.map(({ voice_id }: { voice_id: string }) => voice_id);
    assert.equal(new Set(ids).size, 3);
    for (const { b64_json, seconds, description, mime_type, format, url } of json.previews) {
      assert.deepEqual([description, mime_type, format, url], [DESCRIPTION, 'audio/mpeg', 'mp3', undefined]);
      assert.ok(seconds > 0.4 && seconds < 0.7 && Buffer.from(b64_json, 'base64').length > 1000);
    }
  }
  assert.equal(studio.designer.submissions.at(-1)?.route, 'design');
});

test('R-393: previews come as links where that is asked', async () => {
  const { json } = await studio.speak(caller, asked({ output: 'url' }));
  for (const { url, b64_json } of json.previews) {
    assert.equal(b64_json, undefined);
    const { pathname, search } = new URL(url);
    const { statusCode, headers, body } = await request(studio.gateway.url + pathname + search);
    await body.dump();
    assert.deepEqual([statusCode, headers['content-type']], [200, 'audio/mpeg']);
  }
});

test('R-394: with a voice, or on a model that designs none, a description is only a field', async () => {
  const sent = await studio.forwarded(caller, { voice_description: DESCRIPTION });
  assert.equal(sent.voice_description, DESCRIPTION);
  for (const more of [{ voice: 'alto' }, { reference_id: 'ref-1' }]) {
    await studio.refuses(caller, '400 unsupported_parameter', asked(more));
  }
  await studio.refuses(caller, '400 unsupported_parameter', { input: undefined, voice_description: DESCRIPTION });
});

test('R-393: previews are one request, their text counts once, and their seconds all count', async () => {
  const cost = async (model: string) => {
    const { usage } = (await studio.speak(caller, asked({ model }))).json;
    return usage;
  };
  const { characters, audio_seconds, credits } = await cost('design/characters');
  assert.deepEqual([characters, credits], [WORDS.length, (WORDS.length * PRICE.characters) / 1000]);
  assert.equal((await cost('design/seconds')).credits, Math.round(audio_seconds * PRICE.second * 1e6) / 1e6);
  assert.equal((await cost('design/clips')).credits, PRICE.clip);
});

test('R-393: without a text of its own a design costs what its description says', async () => {
  const { status, json } = await studio.speak(caller, asked({ input: undefined }));
  assert.deepEqual([status, json.usage.characters], [200, DESCRIPTION.length]);
});

test('R-401: previews without any sound are an empty response, and cost nothing', async () => {
  const before = await moneyOf(studio.gateway, caller);
  const silent = { audio_base_64: Buffer.from('{"not": "sound"}').toString('base64'), generated_voice_id: 'v' };
  const body = JSON.stringify({ previews: [silent], text: WORDS });
  studio.designer.script({ kind: 'instead', status: 200, headers: { 'content-type': 'application/json' }, body });
  const answer = await studio.speak(caller, asked({}));
  assert.deepEqual([answer.status, answer.json.error.code], [502, 'empty_audio_response']);
  assert.deepEqual(await moneyOf(studio.gateway, caller), before);
});
