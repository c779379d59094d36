import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Hume, HumeClient } from 'hume';
import { KEY, MARKER } from './emulator/calls.ts';
import { FIELDS, UTTERANCE } from './emulator/checks.ts';
import { HumeEmulator, LIBRARY_VOICE, LIBRARY_VOICE_ID, soundFor } from './emulator.ts';

describe('the vendor’s own library takes the emulator for the vendor', () => {
  const emulator = new HumeEmulator(KEY, MARKER);
  const clientOf = (apiKey: string) => new HumeClient({ apiKey, environment: emulator.url, maxRetries: 0 });
  let client: HumeClient;
  before(async () => {
    await emulator.start();
    client = clientOf(KEY);
  });
  after(() => emulator.stop());

  const voice: Hume.tts.PostedUtteranceVoice = { name: LIBRARY_VOICE, provider: 'HUME_AI' };
  const plain: Hume.tts.PostedTts = { utterances: [{ text: 'Grüße 😀', voice }], version: '2' };

  test('a text is spoken with every field that there is', async () => {
    const answer = await client.tts.synthesizeFile({
      utterances: [{ text: 'Hello', description: 'calm', speed: 0.5, trailingSilence: 2, voice }],
      context: { generationId: 'g' },
      format: { type: 'wav' },
      includeTimestampTypes: ['word'],
      numGenerations: 1,
      splitUtterances: false,
      stripHeaders: true,
      temperature: 0.7,
      version: '2',
      instantMode: false,
    });
    assert.deepEqual(Buffer.from(await answer.arrayBuffer()), await soundFor('wav'));
    const { route, fields } = emulator.submissions.at(-1) ?? assert.fail();
    assert.equal(route, 'file');
    assert.deepEqual(Object.keys(fields).sort(), Object.keys(FIELDS).sort());
    const [utterance] = fields.utterances as readonly object[];
    assert.deepEqual(Object.keys(utterance ?? {}).sort(), Object.keys(UTTERANCE).sort());
  });

  test('voices are designed', async () => {
    const utterances = [{ text: 'Squeak.', description: 'A sassy squeaky mouse' }];
    const { generations } = await client.tts.synthesizeJson({ utterances, version: '1', numGenerations: 2 });
    assert.deepEqual(
      generations.map(({ generationId }) => generationId),
      ['generation-0', 'generation-1'],
    );
    const [{ audio, encoding } = assert.fail()] = generations;
    assert.deepEqual(Buffer.from(audio, 'base64'), await soundFor('mp3'));
    assert.deepEqual(encoding, { format: 'mp3', sampleRate: 48_000 });
  });

  test('voices are listed', async () => {
    const page = await client.tts.voices.list({ provider: 'HUME_AI', pageSize: 1 });
    assert.equal(page.data[0]?.id, LIBRARY_VOICE_ID);
  });

  const REFUSED: readonly [name: string, fields: object, statusCode: number][] = [
    ['no utterance', { utterances: [] }, 422],
    ['an empty text', { utterances: [{ text: '', voice }] }, 422],
    ['an unknown voice', { utterances: [{ text: 'Hello', voice: { name: 'nobody' } }] }, 404],
    ['no voice in the second version', { utterances: [{ text: 'Hello' }] }, 400],
    ['a speed beyond its range', { utterances: [{ text: 'Hello', speed: 2.1, voice }] }, 422],
    ['too many generations', { numGenerations: 6 }, 422],
    ['instant mode, which is for streams', { instantMode: true }, 400],
  ];
  for (const [name, fields, statusCode] of REFUSED) {
    test(`speech with ${name} is refused`, () =>
      assert.rejects(async () => client.tts.synthesizeFile({ ...plain, ...fields }), { statusCode }));
  }

  test('another key is refused, and so is a field that the library does not have', async () => {
    await assert.rejects(async () => clientOf('other').tts.synthesizeJson(plain), { statusCode: 401 });
    const headers = { 'x-hume-api-key': KEY, 'content-type': 'application/json' };
    const body = JSON.stringify({ ...plain, odd: 1 });
    assert.equal((await fetch(`${emulator.url}/v0/tts`, { method: 'POST', headers, body })).status, 422);
  });
});
