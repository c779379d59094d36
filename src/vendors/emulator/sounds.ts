import { type ToneFormat, toneAs } from '../../../test/support/media-samples.ts';
import { byteSourceOf, measure, sniff } from '../../media/index.ts';
import { inMemoryMedia } from '../kit/in-memory-media.ts';
import type { AudioFile } from '../vendor.ts';
import type { Recorded } from './recording-server.ts';

export const SPEECH_SECONDS = 0.5;
const WAV_HEAD_BYTES = 44;

const sounds = new Map<string, Promise<Buffer>>();

/** Real sound in place of speech, `pcm` without a head; the same bytes for the same arguments. */
export function speechAs(format: ToneFormat | 'pcm', sampleRate = 48_000): Promise<Buffer> {
  const name = `${format} ${sampleRate}`;
  const sound = sounds.get(name) ?? encode(format, sampleRate);
  sounds.set(name, sound);
  return sound;
}

/** Only waves differ by their rate: not every encoder has all of them. */
async function encode(format: ToneFormat | 'pcm', sampleRate: number): Promise<Buffer> {
  if (format === 'pcm') return (await speechAs('wav', sampleRate)).subarray(WAV_HEAD_BYTES);
  return toneAs(format, { seconds: SPEECH_SECONDS, ...(format === 'wav' && { sampleRate }) });
}

const CLIP_SECONDS = 2;
let encodedClip: Promise<Buffer> | undefined;

/** A recording to transcribe. It is encoded once in a process: tests send many. */
export async function clip(): Promise<AudioFile> {
  encodedClip ??= toneAs('flac', { seconds: CLIP_SECONDS });
  return flacFile(await encodedClip);
}

/** A file with the name of a recording and no sound in it. */
export function brokenClip(): AudioFile {
  return flacFile(Buffer.from('no sound'));
}

function flacFile(bytes: Buffer): AudioFile {
  return { ...inMemoryMedia(bytes, 'audio/flac'), extension: 'flac', seconds: CLIP_SECONDS };
}

/** How long a recording is; undefined for what is none. */
export async function secondsOf(bytes: Buffer): Promise<number | undefined> {
  const sniffed = sniff(bytes);
  if (sniffed === undefined) return undefined;
  return (await measure(byteSourceOf(bytes), sniffed).catch(() => undefined))?.seconds;
}

interface FormWithFile {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly file: { readonly name: string; readonly type: string; readonly bytes: Buffer };
}

/** A multipart form with a file in its field `name`; undefined for any other body. */
export async function formWithFile({ headers, bytes }: Recorded, name: string): Promise<FormWithFile | undefined> {
  const type = headers['content-type'] ?? '';
  const answer = new Response(new Uint8Array(bytes), { headers: { 'content-type': type } });
  const form = await answer.formData().catch(() => undefined);
  const file = form?.get(name);
  if (form === undefined || !(file instanceof File)) return undefined;
  return {
    fields: Object.fromEntries([...form].filter(([field]) => field !== name)),
    file: { name: file.name, type: file.type, bytes: Buffer.from(await file.arrayBuffer()) },
  };
}
