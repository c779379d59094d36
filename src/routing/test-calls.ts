import type { ConfigDocument, ConfigModel, Endpoint } from '../configuration/index.ts';
import { parseWith } from '../parse.ts';
import {
  chatSchema,
  embeddings,
  imageSchemas,
  soundSchema,
  toChatRequest,
  toImageRequest,
  toSoundRequest,
  toTranscription,
  toVideoRequest,
  transcriptionSchema,
  videoSchema,
} from '../schemas/index.ts';
import { inMemoryMedia, type TaskWork, type Upstream, type Vendor } from '../vendors/index.ts';

/** A kind of work that a model on an upstream's wire is configured for. */
export interface ConfiguredKind {
  readonly kind: TestKind;
  /** Its name on the wire. */
  readonly upstreamModel: string;
  readonly model: ConfigModel;
}

export const TEST_KINDS = ['chat', 'embedding', 'speech', 'transcription', 'image', 'video', 'music'] as const;
export type TestKind = (typeof TEST_KINDS)[number];

/** Made by tasks whose cheapest costs cents: tried only where the operator asks for it. */
export const DEAR_KINDS: ReadonlySet<TestKind> = new Set(['image', 'video', 'music']);

const KIND_OF_ENDPOINT: Partial<Record<Endpoint, TestKind>> = {
  chat: 'chat',
  native: 'chat',
  embeddings: 'embedding',
  audio_speech: 'speech',
  transcriptions: 'transcription',
  images: 'image',
  videos: 'video',
  audio_music: 'music',
};

/** Of each kind the model with the lowest rate. */
export function configuredKinds({ models }: ConfigDocument, upstreamId: string): readonly ConfiguredKind[] {
  const all = models.flatMap((model) => {
    const route = model.routes.find(({ upstream }) => upstream === upstreamId);
    const kinds = new Set(model.endpoints.flatMap((endpoint) => KIND_OF_ENDPOINT[endpoint] ?? []));
    return route === undefined ? [] : [...kinds].map((kind) => ({ kind, upstreamModel: route.model, model }));
  });
  return TEST_KINDS.flatMap((kind) => {
    const [cheapest] = all.filter((one) => one.kind === kind).sort((left, right) => rateOf(left) - rateOf(right));
    return cheapest ?? [];
  });
}

function rateOf({ model: { pricing } }: ConfiguredKind): number {
  const { base, per_second, input_per_k = 0, output_per_k = 0 } = pricing.credits;
  return per_second ?? base ?? input_per_k + output_per_k;
}

/** The least that can be asked for of a kind. */
export interface TestCall {
  /** What is asked for, in words for the operator. */
  readonly what: string;
  /** Throws UpstreamError, or ApiError for what this model cannot be asked. */
  run(upstream: Upstream): Promise<unknown>;
}

/** Undefined where the vendor does not do such work. */
export function testCall({ kind, upstreamModel, model }: ConfiguredKind, vendor: Vendor): TestCall | undefined {
  const name = upstreamModel;
  switch (kind) {
    case 'chat':
      return vendor.chat && { what: `a chat call of one token to ${name}`, run: oneToken(vendor.chat, name) };
    case 'embedding':
      return vendor.embedding && { what: `the vector of one word by ${name}`, run: oneVector(vendor.embedding, name) };
    case 'speech':
      return vendor.speech && { what: `one spoken word by ${name}`, run: oneWord(vendor.speech, name) };
    case 'transcription':
      return (
        vendor.transcription && {
          what: `a transcript of one second by ${name}`,
          run: oneSecond(vendor.transcription, name),
        }
      );
    case 'image':
      return vendor.image && { what: `one picture by ${name}`, run: submitted(vendor.image, name, pictureOf(model)) };
    case 'video':
      return vendor.video && { what: `one clip by ${name}`, run: submitted(vendor.video, name, clipOf(model)) };
    case 'music':
      return (
        vendor.music && { what: `ten seconds of music by ${name}`, run: submitted(vendor.music, name, tuneOf(model)) }
      );
  }
}

type Run = TestCall['run'];

function oneToken(chat: NonNullable<Vendor['chat']>, model: string): Run {
  const body = { model, messages: [{ role: 'user', content: 'Hi' }], max_tokens: 1 };
  return (upstream) => chat.complete(toChatRequest(parseWith(chatSchema, body), body), upstream);
}

function oneVector(embedding: NonNullable<Vendor['embedding']>, model: string): Run {
  const body = { model, input: 'Hi' };
  const request = embeddings.toEmbeddingRequest(parseWith(embeddings.embeddingSchema, body), body);
  return (upstream) => {
    embedding.check(request, upstream);
    return embedding.embed(request, upstream);
  };
}

/** The first of the sound is proof enough; to stop there closes the connection. */
function oneWord(speech: NonNullable<Vendor['speech']>, model: string): Run {
  const body = { model, input: 'Hi' };
  const request = { ...toSoundRequest(parseWith(soundSchema, body), body), referenceAudio: [] };
  return async (upstream) => {
    speech.check(request, model);
    const { pieces } = await speech.speak(request, upstream);
    for await (const piece of pieces) if (piece.length > 0) break;
  };
}

function oneSecond(transcription: NonNullable<Vendor['transcription']>, model: string): Run {
  const body = { model };
  const { request } = toTranscription(parseWith(transcriptionSchema, body), body, 1);
  const audio = { ...inMemoryMedia(SILENCE, 'audio/wav'), extension: 'wav', seconds: 1 };
  return async (upstream) => {
    transcription.check(request, model);
    // What is accepted as a task is not waited for.
    await transcription.submit(request, audio, upstream);
  };
}

/** What is accepted is not waited for: the upstream takes the credential, has the model, and charges for it. */
function submitted<Request>(work: TaskWork<Request>, model: string, request: Request): Run {
  const order = { id: crypto.randomUUID(), count: 1, startWithinMs: START_WITHIN_MS };
  return async (upstream) => {
    work.check(request, model);
    await work.submit(request, order, upstream);
  };
}

const START_WITHIN_MS = 60_000;

function pictureOf({ accepts }: ConfigModel) {
  const size = [...accepts.sizes].sort((left, right) => pixelsOf(left) - pixelsOf(right))[0];
  const body = {
    model: 'test',
    prompt: 'A dot',
    ...given({ size, resolution: size ? undefined : accepts.resolutions[0] }),
  };
  const request = toImageRequest(parseWith(imageSchemas.images, body), body, 'images');
  return { ...request, referenceImages: [], mask: undefined };
}

function clipOf({ accepts }: ConfigModel) {
  const body = { model: 'test', prompt: 'A dot', ...given({ resolution: accepts.resolutions[0] }) };
  return { ...toVideoRequest(parseWith(videoSchema, body), body), ...NO_CLIP_MEDIA };
}

function tuneOf({ accepts }: ConfigModel) {
  const body = { model: 'test', prompt: 'One note', duration_seconds: Math.min(10, accepts.seconds_max ?? 10) };
  return { ...toSoundRequest(parseWith(soundSchema, body), body), referenceAudio: [] };
}

function given(fields: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );
}

function pixelsOf(size: string): number {
  const [width = '0', height = '0'] = size.split('x');
  return Number(width) * Number(height);
}

const NO_CLIP_MEDIA = {
  inputReference: undefined,
  referenceImages: [],
  firstFrame: undefined,
  lastFrame: undefined,
  referenceVideos: [],
  referenceAudios: [],
  sourceVideo: undefined,
};

const RATE = 8000;
/** One second of silence: 16 bits a sample, one channel. */
const SILENCE = Buffer.concat([waveHeader(RATE * 2), Buffer.alloc(RATE * 2)]);

function waveHeader(bytes: number): Buffer {
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + bytes, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(RATE, 24);
  header.writeUInt32LE(RATE * 2, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36);
  header.writeUInt32LE(bytes, 40);
  return header;
}
