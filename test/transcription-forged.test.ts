import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { Booth, clipForm, SECOND_PRICE } from './support/booth.ts';
import {
  type Choose,
  forgedFlac,
  forgedFrames,
  forgedMatroska,
  forgedMp4,
  forgedOgg,
  forgedWave,
} from './support/forged-clocks.ts';
import type { NewCaller } from './support/gateway.ts';
import { packed, type ToneFormat, toneAs } from './support/media-samples.ts';
import { moneyOf, paidCaller } from './support/paid-calls.ts';

const booth = new Booth();
before(() => booth.start());
after(() => booth.stop());
let caller: NewCaller;
beforeEach(async () => {
  caller = await paidCaller(booth.gateway, 10_000);
});
afterEach(() => booth.gateway.assertBooksBalance());

const seconds = 20;
const tone = (format: ToneFormat) => toneAs(format, { seconds });
const fewest: Choose = () => 0;

/** A forgery of each kind, and what it would be charged for if its clocks were believed, at most. */
const forgeries: readonly [name: string, make: () => Promise<Buffer>][] = [
  ['Opus in MP4 whose samples last one unit', async () => forgedMp4(await packed(await tone('ogg-opus'), 'mp4'), ones)],
  ['MP3 in MP4 whose samples last one unit', async () => forgedMp4(await packed(await tone('mp3'), 'mp4'), ones)],
  ['AAC in MP4 whose samples last one unit', async () => forgedMp4(await tone('m4a'), ones)],
  ['AAC in fragments that last one unit', async () => forgedMp4(await tone('m4a-fragmented'), ones)],
  ['Opus in Ogg whose pages number few samples', async () => forgedOgg(await tone('ogg-opus'), ones)],
  ['Vorbis in Ogg whose pages number few samples', async () => forgedOgg(await tone('ogg-vorbis'), ones)],
  ['MP3 whose footer claims the frames for a tag', async () => forgedFrames(await tone('mp3'), fewest)],
  ['FLAC whose footer claims the frames for a tag', async () => forgedFlac(await tone('flac'), fewest)],
  ['Opus in WebM whose blocks are all at once', async () => forgedMatroska(await tone('webm'), fewest)],
  ['a WAV whose sound is in its second chunk', async () => forgedWave(await tone('wav'), fewest)],
];

function ones(): number {
  return 1;
}

for (const [name, make] of forgeries) {
  test(`${name} is charged by what a decoder plays, or refused`, async () => {
    const answer = await booth.gateway.call('POST', '/v1/audio/transcriptions', {
      key: caller.key,
      ...clipForm(await make(), { model: 'booth/open' }),
    });
    const { spent, reserved } = await moneyOf(booth.gateway, caller);
    assert.equal(reserved, 0);
    if (answer.status !== 200) {
      // Its numbers contradict each other.
      assert.equal(answer.json.error.code, 'unreadable_file', answer.text);
      assert.ok(name.startsWith('FLAC'));
      return;
    }
    assert.ok(Math.abs(spent - seconds * SECOND_PRICE) < 0.2, `${spent} credits for ${seconds} seconds`);
  });
}

test('sound of a coding whose packets are not counted is not transcribed', async () => {
  const file = await tone('m4a');
  file.write('ac-3', file.indexOf('mp4a'), 'latin1');
  const told = '400 unsupported_audio_format';
  await booth.refuses(caller, [[clipForm(file, { model: 'booth/open' }), told]]);
});

test('a minute of honest sound, measured in a thread, is charged as it is', async () => {
  const bytes = await toneAs('wav', { seconds: 60, sampleRate: 16_000 });
  assert.ok(bytes.length > 1024 * 1024);
  const answer = await booth.heard(caller, clipForm(bytes, { model: 'booth/open' }));
  assert.equal(answer.json.usage.seconds, 60);
});
