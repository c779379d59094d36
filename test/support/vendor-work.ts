import type { JsonObject } from '../../src/json.ts';
import { chatSchema, toChatRequest } from '../../src/schemas/index.ts';
import { type AudioFile, inMemoryMedia, type Upstream, type Vendor } from '../../src/vendors/index.ts';
import { toneAs } from './media-samples.ts';
import { plainEmbedding, plainImage, plainSound, plainTranscription, plainVideo } from './plain-requests.ts';

/** What an upstream answers with when all is well. */
export type AnswerForm = 'document' | 'transcript' | 'events' | 'sound' | 'task';

/** One kind of work that a vendor may offer, as plain as it can be asked for, and taken to its end. */
export interface KindOfWork {
  readonly kind: string;
  readonly form: AnswerForm;
  /** Undefined where the vendor does not offer it. */
  readonly of: (vendor: Vendor) => ((upstream: Upstream) => Promise<unknown>) | undefined;
}

const ORDER = { id: 'order', count: 1, startWithinMs: 60_000 };
const wave = await toneAs('wav', { seconds: 1, sampleRate: 16_000 });
const AUDIO: AudioFile = { ...inMemoryMedia(wave, 'audio/wav'), extension: 'wav', seconds: 1 };

export const KINDS_OF_WORK: readonly KindOfWork[] = [
  { kind: 'chat', form: 'document', of: ({ chat }) => chat && ((to) => chat.complete(chatRequest(false), to)) },
  {
    kind: 'chat stream',
    form: 'events',
    of: ({ chat }) => chat && (async (to) => all(await chat.stream(chatRequest(true), to))),
  },
  {
    kind: 'native',
    form: 'document',
    of: ({ native }) => native && ((to) => native.call(nativeRequest('generateContent'), to)),
  },
  {
    kind: 'native stream',
    form: 'events',
    of: ({ native }) =>
      native && (async (to) => all((await native.stream(nativeRequest('streamGenerateContent'), to)).frames)),
  },
  {
    kind: 'embedding',
    form: 'document',
    of: ({ embedding }) => embedding && ((to) => embedding.embed(plainEmbedding(), to)),
  },
  { kind: 'image', form: 'document', of: ({ image }) => image && ((to) => image.submit(plainImage(), ORDER, to)) },
  { kind: 'image task', form: 'task', of: ({ image }) => polling(image) },
  {
    kind: 'video',
    form: 'document',
    of: ({ video }) => video && ((to) => video.submit(plainVideo({ prompt: 'A toll gate' }), ORDER, to)),
  },
  { kind: 'video task', form: 'task', of: ({ video }) => polling(video) },
  {
    kind: 'music',
    form: 'document',
    of: ({ music }) => music && ((to) => music.submit(plainSound({ prompt: 'A march' }), ORDER, to)),
  },
  { kind: 'music task', form: 'task', of: ({ music }) => polling(music) },
  {
    kind: 'speech',
    form: 'sound',
    of: ({ speech }) =>
      speech && (async (to) => all((await speech.speak(plainSound({ input: 'Hi', voice: 'v' }), to)).pieces)),
  },
  {
    kind: 'voice design',
    form: 'document',
    of: ({ speech }) =>
      speech?.design && (async (to) => speech.design?.(plainSound({ voiceDescription: 'An old voice' }), to)),
  },
  {
    kind: 'transcription',
    form: 'transcript',
    of: ({ transcription }) => transcription && ((to) => transcription.submit(plainTranscription(), AUDIO, to)),
  },
  { kind: 'transcription task', form: 'task', of: ({ transcription }) => polling(transcription) },
];

interface Polled {
  poll?(task: JsonObject, upstream: Upstream): Promise<unknown>;
}

function polling(work: Polled | undefined): ReturnType<KindOfWork['of']> {
  return work?.poll && ((to) => Promise.resolve(work.poll?.(taskAt(to), to)));
}

/** One that a vendor of any kind could have remembered. */
function taskAt({ address }: Upstream) {
  return { id: 't', statusUrl: `${address}/tasks/t/status`, responseUrl: `${address}/tasks/t` };
}

function all<Piece>(pieces: AsyncIterable<Piece>): Promise<Piece[]> {
  return Array.fromAsync(pieces);
}

function chatRequest(stream: boolean) {
  const body = { model: 'public', messages: [{ role: 'user', content: 'Hi' }], stream };
  return toChatRequest(chatSchema.parse(body), body);
}

function nativeRequest(action: 'generateContent' | 'streamGenerateContent') {
  const body = Buffer.from('{"contents":[{"role":"user","parts":[{"text":"Hi"}]}]}');
  return { action, body, query: '', hasCustomFormat: false, accept: undefined };
}
