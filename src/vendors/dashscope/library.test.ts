import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type AlibabaProvider, createAlibaba } from '@ai-sdk/alibaba';
import { KEY } from './emulator/calls.ts';
import { DashscopeEmulator } from './emulator.ts';

type CallOptions = Parameters<NonNullable<ReturnType<AlibabaProvider['video']>['doStart']>>[0];

const files = { picture: Buffer.from('p'), clip: Buffer.from('c'), sound: Buffer.from('s') };
const PLAIN = { prompt: 'Waves', n: 1, aspectRatio: undefined, resolution: undefined, fps: undefined, seed: undefined };
const NO_FRAMES = { image: undefined, frameImages: undefined, inputReferences: undefined, providerOptions: {} };
const USUAL = { ...PLAIN, ...NO_FRAMES, duration: 5, generateAudio: undefined };
const still = { type: 'file', mediaType: 'image/png', data: new Uint8Array(files.picture) } as const;

describe('a library that calls the vendor takes the emulator for it', () => {
  const emulator = new DashscopeEmulator(KEY, files);
  let library: AlibabaProvider;
  before(async () => {
    await emulator.start();
    library = createAlibaba({ videoBaseURL: emulator.url, apiKey: KEY });
  });
  after(() => emulator.stop());

  const BY = [{ type: 'url', url: 'https://files.example/a.mp4' } as const];
  const CLIPS: readonly (readonly [model: string, options: CallOptions])[] = [
    ['wan2.5-t2v-preview', { ...USUAL, resolution: '1280x720', generateAudio: false, seed: 7 }],
    ['wan2.6-t2v', { ...USUAL, providerOptions: { alibaba: { shotType: 'multi', promptExtend: true } } }],
    ['wan2.6-r2v', { ...USUAL, inputReferences: BY, generateAudio: true }],
    ['wan2.7-t2v', { ...USUAL, aspectRatio: '9:16', resolution: '1920x1080' }],
    ['wan2.7-r2v', { ...USUAL, inputReferences: [...BY, still] }],
    ['wan3.0-video', { ...USUAL, image: still, generateAudio: false }],
  ];
  for (const [model, options] of CLIPS) {
    test(`a clip by ${model}, from its submission to its address`, async () => {
      const clip = library.video(model);
      const started = await clip.doStart?.(options);
      const status = () => clip.doStatus?.({ operation: started?.operation ?? {} });
      assert.equal((await status())?.status, 'pending');
      const ended = await status();
      assert.ok(ended?.status === 'completed', JSON.stringify(ended));
      const url = `${emulator.origin}/files/clip?Signature=s`;
      assert.deepEqual(ended.videos, [{ type: 'url', url, mediaType: 'video/mp4' }]);
    });
  }

  test('refusals are errors to it, and so is a task that failed', async () => {
    const film = async (prompt: string, by = library) => by.video('wan2.7-t2v').doStart?.({ ...USUAL, prompt });
    await assert.rejects(film(emulator.forbidden), /inappropriate content/);
    await assert.rejects(film('Waves', createAlibaba({ videoBaseURL: emulator.url, apiKey: 'x' })), /Invalid API-key/);
    emulator.endings.push({ code: 'DataInspectionFailed' });
    emulator.readsUntilDone = 0;
    const { operation = {} } = (await film('Waves')) ?? {};
    const ended = await library.video('wan2.7-t2v').doStatus?.({ operation });
    assert.ok(ended?.status === 'error', JSON.stringify(ended));
    emulator.isInArrears = true;
    await assert.rejects(film('Waves'), /good standing/);
  });
});
