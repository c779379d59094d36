import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createXai, type XaiProvider } from '@ai-sdk/xai';
import { toneAs } from '../../../test/support/media-samples.ts';
import { KEY } from './emulator/calls.ts';
import { XaiEmulator } from './emulator.ts';

const files = { picture: Buffer.from('p'), clip: Buffer.from('c'), sound: Buffer.from('ID3 a sound') };
const VIDEO = { prompt: 'Waves', n: 1, aspectRatio: undefined, resolution: undefined, fps: undefined, seed: undefined };
const NO_FRAMES = { image: undefined, frameImages: undefined, inputReferences: undefined, providerOptions: {} };
const PICTURE = { n: 2, size: undefined, aspectRatio: '16:9', seed: undefined, mask: undefined } as const;

describe('a library that calls the vendor takes the emulator for it', () => {
  const emulator = new XaiEmulator(KEY, files);
  let library: XaiProvider;
  before(async () => {
    await emulator.start();
    library = createXai({ baseURL: emulator.url, apiKey: KEY });
  });
  after(() => emulator.stop());

  test('pictures from words and by a picture', async () => {
    const model = library.image('grok-imagine-image');
    const options = { ...PICTURE, prompt: 'A gate', providerOptions: { xai: { resolution: '2k' } } };
    const { images } = await model.doGenerate({ ...options, files: undefined });
    assert.deepEqual(
      images,
      [files.picture, files.picture].map((bytes) => bytes.toString('base64')),
    );
    const source = { type: 'file', mediaType: 'image/png', data: new Uint8Array(files.picture) } as const;
    assert.equal((await model.doGenerate({ ...options, files: [source] })).images.length, 2);
    assert.deepEqual(
      emulator.sent('POST').map(({ path }) => path),
      ['/v1/images/generations', '/v1/images/edits'],
    );
  });

  test('a clip, from its submission to its address', async () => {
    const model = library.video('grok-imagine-video-1.5');
    const options = { ...VIDEO, ...NO_FRAMES, duration: 5, generateAudio: false };
    const started = await model.doStart?.(options);
    const status = () => model.doStatus?.({ operation: started?.operation ?? {} });
    assert.equal((await status())?.status, 'pending');
    const ended = await status();
    assert.ok(ended?.status === 'completed', JSON.stringify(ended));
    assert.deepEqual(ended.videos, [
      { type: 'url', url: `${emulator.origin}/files/clip?signature=s`, mediaType: 'video/mp4' },
    ]);
  });

  test('speech and a transcript', async () => {
    const { audio } = await library.speech().doGenerate({ text: 'Hello', voice: 'ara', speed: 1.2 });
    assert.deepEqual(Buffer.from(audio), files.sound);
    const sound = new Uint8Array(await toneAs('wav', { seconds: 0.5 }));
    const providerOptions = { xai: { keyterm: ['toll', 'gate'], language: 'en' } };
    const heard = await library.transcription().doGenerate({ audio: sound, mediaType: 'audio/wav', providerOptions });
    assert.deepEqual([heard.text, heard.segments.length], ['A toll gate. It opens.', 5]);
  });

  test('refusals are errors to it', async () => {
    const options = { ...PICTURE, files: undefined, providerOptions: {} };
    const draw = async (prompt: string, by = library) =>
      by.image('grok-imagine-image').doGenerate({ ...options, prompt });
    await assert.rejects(draw('forbidden'), /content moderation/);
    await assert.rejects(draw('A gate', createXai({ baseURL: emulator.url, apiKey: 'other' })), /Incorrect API key/);
    emulator.isBroke = true;
    await assert.rejects(draw('A gate'), /used all available credits/);
  });
});
