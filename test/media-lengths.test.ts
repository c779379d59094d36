import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ALL_FORMATS, BufferSource, EncodedPacketSink, Input } from 'mediabunny';
import { decoded } from '../packages/sandbox/src/voice/decoder.ts';
import { byteSourceOf, measure, sniff, Unreadable } from '../src/media/index.ts';
import {
  type Choose,
  forgedFlac,
  forgedFrames,
  forgedMatroska,
  forgedMp4,
  forgedOgg,
  forgedWave,
} from './support/forged-clocks.ts';
import { packed, toneAs } from './support/media-samples.ts';

const seconds = 6;
const packedTone = async (format: Parameters<typeof toneAs>[0], container: Parameters<typeof packed>[1]) =>
  packed(await toneAs(format, { seconds }), container);

type Forge = (file: Buffer, choose: Choose) => Buffer;

const KINDS: readonly [name: string, make: () => Promise<Buffer>, forge: Forge][] = [
  ['Opus in Ogg', () => toneAs('ogg-opus', { seconds }), forgedOgg],
  ['Vorbis in Ogg', () => toneAs('ogg-vorbis', { seconds, sampleRate: 16_000 }), forgedOgg],
  ['Vorbis in Ogg, in stereo', () => toneAs('ogg-vorbis', { seconds, sampleRate: 44_100, channels: 2 }), forgedOgg],
  ['MP3', () => toneAs('mp3', { seconds, sampleRate: 16_000 }), forgedFrames],
  ['AAC', () => toneAs('aac', { seconds }), forgedFrames],
  ['FLAC', () => toneAs('flac', { seconds, sampleRate: 16_000 }), forgedFlac],
  ['WAV', () => toneAs('wav', { seconds, sampleRate: 16_000 }), forgedWave],
  ['Opus in MP4', () => packedTone('ogg-opus', 'mp4'), forgedMp4],
  ['Opus in MP4 in fragments', () => packedTone('ogg-opus', 'mp4-fragmented'), forgedMp4],
  ['MP3 in MP4', () => packedTone('mp3', 'mp4'), forgedMp4],
  ['MP3 in MP4 in fragments', () => packedTone('mp3', 'mp4-fragmented'), forgedMp4],
  ['FLAC in MP4', () => packedTone('flac', 'mp4'), forgedMp4],
  ['Vorbis in MP4', () => packedTone('ogg-vorbis', 'mp4'), forgedMp4],
  ['PCM in MOV', () => packedTone('wav', 'mov'), forgedMp4],
  ['AAC in MP4', () => toneAs('m4a', { seconds }), forgedMp4],
  ['AAC in MP4 in fragments', () => toneAs('m4a-fragmented', { seconds }), forgedMp4],
  ['Opus in WebM', () => toneAs('webm', { seconds }), forgedMatroska],
  ['Vorbis in Matroska', () => packedTone('ogg-vorbis', 'mka'), forgedMatroska],
  ['MP3 in Matroska', () => packedTone('mp3', 'mka'), forgedMatroska],
  ['FLAC in Matroska', () => packedTone('flac', 'mka'), forgedMatroska],
  ['AAC in Matroska', () => toneAs('mka-aac', { seconds }), forgedMatroska],
];

/** For AAC there is no decoder here: its frames are told by those who take them out of the container. */
const AAC_FRAME_SECONDS = 1024 / 48_000;

async function playedSeconds(file: Buffer, isAac: boolean): Promise<number> {
  let played = 0;
  if (!isAac) {
    for await (const { samples, sampleRate } of decoded(file)) played += samples.length / sampleRate;
    return played;
  }
  const track = await new Input({ formats: ALL_FORMATS, source: new BufferSource(file) }).getPrimaryAudioTrack();
  assert.ok(track !== null);
  for await (const _ of new EncodedPacketSink(track).packets()) played += AAC_FRAME_SECONDS;
  return played;
}

/** Undefined if it is refused. */
async function measuredSeconds(file: Buffer): Promise<number | undefined> {
  const sniffed = sniff(file);
  assert.ok(sniffed !== undefined);
  const measured = await measure(byteSourceOf(file), sniffed).catch((error: unknown) => {
    assert.ok(error instanceof Unreadable, String(error));
    return undefined;
  });
  assert.equal(measured?.isStated, undefined);
  return measured?.seconds;
}

for (const [name, make, forge] of KINDS) {
  test(`${name} is measured by what a decoder plays, whatever its clocks say`, async () => {
    const honest = await make();
    const isAac = name.startsWith('AAC');
    const whole = await playedSeconds(honest, isAac);
    const measured = await measuredSeconds(honest);
    assert.ok(measured !== undefined && Math.abs(measured - whole) < 0.1, `${measured} of ${whole}`);
    let forgeries = 0;
    await fc.assert(
      fc.asyncProperty(fc.infiniteStream(fc.nat(0xffff_ffff)), async (numbers) => {
        const choose = (below: number) => numbers.next().value % below;
        const file = forge(honest, choose);
        // Decoders differ in what they take; one that takes all finds every packet where it was.
        const played = Math.max(whole, await playedSeconds(file, isAac).catch(() => 0));
        const charged = await measuredSeconds(file);
        if (charged === undefined) return;
        forgeries++;
        assert.ok(charged >= played - 1 || charged >= played / 1.05, `${charged} for ${played}`);
      }),
      { numRuns: 12 },
    );
    assert.ok(forgeries > 0, 'none of the forgeries was measured');
  });
}
