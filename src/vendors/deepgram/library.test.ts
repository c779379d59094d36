import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Deepgram, DeepgramClient } from '@deepgram/sdk';
import { toneAs } from '../../../test/support/media-samples.ts';
import { KEY, MARKER } from './emulator/calls.ts';
import { LISTEN, SPEAK } from './emulator/checks.ts';
import { DeepgramEmulator, soundFor } from './emulator.ts';

const tone = await toneAs('wav', { seconds: 2, sampleRate: 16_000 });

describe('the vendor’s own library takes the emulator for the vendor', () => {
  const emulator = new DeepgramEmulator(KEY, MARKER);
  const clientOf = (apiKey: string) => new DeepgramClient({ apiKey, baseUrl: emulator.url, maxRetries: 0 });
  let client: DeepgramClient;
  before(async () => {
    await emulator.start();
    client = clientOf(KEY);
  });
  after(() => emulator.stop());

  test('a recording is transcribed with every parameter that there is', async () => {
    const request = {
      extra: ['a:b', 'c:d'],
      tag: 'x',
      detect_language: false,
      diarize_model: 'latest',
      dictation: true,
      filler_words: true,
      keyterm: ['Tollgate', 'toll gate'],
      language: 'en-US',
      measurements: true,
      model: 'nova-3',
      numerals: true,
      paragraphs: true,
      profanity_filter: true,
      punctuate: true,
      redact: 'pci',
      replace: ['a:b'],
      search: ['c'],
      smart_format: true,
      utterances: true,
      utt_split: 0.8,
      version: 'latest',
      mip_opt_out: true,
    } satisfies Deepgram.listen.v1.MediaTranscribeRequestOctetStream;
    const answer = await client.listen.v1.media.transcribeFile(tone, request);
    assert.ok('results' in answer);
    assert.equal(answer.results.channels[0]?.alternatives?.[0]?.transcript, 'Hello there. Hi.');
    assert.deepEqual(
      answer.results.utterances?.map(({ transcript }) => transcript),
      ['Hello there.', 'Hi.'],
    );
    assert.equal(answer.metadata.duration, 2);
    assert.deepEqual(emulator.submissions.at(-1)?.options.keyterm, ['Tollgate', 'toll gate']);
    const unknown = Object.keys(request).filter((name) => !(name in LISTEN));
    assert.deepEqual(unknown, []);
  });

  test('a callback is accepted, and its transcript told to nobody who asks', async () => {
    const answer = await client.listen.v1.media.transcribeFile(tone, {
      model: 'nova-3',
      callback: 'https://a.example',
    });
    assert.deepEqual(answer, { request_id: MARKER });
  });

  test('a text is spoken in every encoding of the vendor', async () => {
    for (const encoding of Object.values(Deepgram.speak.v1.AudioGenerateRequestEncoding)) {
      const request = { text: 'Hello', model: 'aura-2-thalia-en', encoding } as const;
      const sound = Buffer.from(await (await client.speak.v1.audio.generate(request)).arrayBuffer());
      assert.deepEqual(sound, await soundFor({ encoding: [encoding] }), encoding);
    }
    const whole = {
      text: 'Hello',
      model: 'aura-2-zeus-en',
      encoding: 'linear16',
      container: 'wav',
      sample_rate: 16_000,
      speed: 1.5,
      tag: ['a', 'b'],
      mip_opt_out: false,
    } satisfies Deepgram.speak.v1.SpeakV1Request;
    assert.ok((await (await client.speak.v1.audio.generate(whole)).arrayBuffer()).byteLength > 0);
    const unknown = Object.keys(whole).filter((name) => name !== 'text' && !(name in SPEAK));
    assert.deepEqual(unknown, []);
  });

  const REFUSED: readonly [name: string, fields: Partial<Deepgram.speak.v1.SpeakV1Request>, status: number][] = [
    ['an unknown voice', { model: 'aura-2-nobody-en' }, 400],
    ['an empty text', { text: '' }, 400],
    ['a text that is too long', { text: 'a'.repeat(2001) }, 413],
    ['a rate that is fixed', { encoding: 'mp3', sample_rate: 22_050 }, 400],
    ['a rate of another encoding', { encoding: 'linear16', sample_rate: 22_050 }, 400],
    ['a container of another encoding', { encoding: 'opus', container: 'wav' }, 400],
    ['a bitrate that it does not make', { encoding: 'mp3', bit_rate: 64_000 }, 400],
    ['a speed beyond its range', { model: 'aura-2-thalia-en', speed: 1.6 }, 400],
    ['a speed of an old voice', { model: 'aura-zeus-en', speed: 1.1 }, 400],
  ];
  for (const [name, fields, statusCode] of REFUSED) {
    test(`${name} is refused`, () =>
      assert.rejects(async () => client.speak.v1.audio.generate({ text: 'Hello', ...fields }), { statusCode }));
  }

  test('another key, an unknown model, a language and what is no sound are refused', async () => {
    const listen = (fields: Deepgram.listen.v1.MediaTranscribeRequestOctetStream, audio = tone, from = client) =>
      assert.rejects(
        async () => from.listen.v1.media.transcribeFile(audio, fields),
        (error: { statusCode?: number }) => {
          assert.equal(error.statusCode, from === client ? 400 : 401);
          return true;
        },
      );
    await listen({ model: 'nova-3' }, tone, clientOf('other'));
    await listen({ model: 'nova-9' });
    await listen({ model: 'nova-2-medical', language: 'de' });
    await listen({ model: 'nova-2', keyterm: ['a'] });
    await listen({ model: 'nova-3', keywords: ['a'] });
    await listen({ model: 'nova-3' }, Buffer.from('no sound'));
  });

  test('models and voices are listed', async () => {
    const { stt = [], tts = [] } = await client.manage.v1.models.list();
    assert.ok(stt.some(({ canonical_name }) => canonical_name === 'nova-3-general'));
    assert.ok(tts.some(({ name, canonical_name }) => name === 'thalia' && canonical_name === 'aura-2-thalia-en'));
  });

  test('projects are listed', async () => {
    assert.equal((await client.manage.v1.projects.list()).projects?.[0]?.project_id, MARKER);
  });
});
