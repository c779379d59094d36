import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { UpstreamError } from '../../errors.ts';
import { type TaskWork, type Upstream, UpstreamPools } from '../index.ts';
import {
  image,
  imageRequest,
  KEY,
  music,
  ORDER,
  picture,
  soundRequest,
  video,
  videoRequest,
} from './emulator/calls.ts';
import { FalEmulator } from './emulator.ts';

// The vendor publishes the input of every model as a type. What a family may be sent is read against all of them.

const typesFile = fileURLToPath(import.meta.resolve('@fal-ai/client/endpoints')).replace(/\.js$/, '.d.ts');
const source = readFileSync(typesFile, 'utf8').replace(/\/\*\*[\s\S]*?\*\//g, '');
const types = new Map(
  [...source.matchAll(/^export type (\w+) = \{\n([\s\S]*?)^\};/gm)].map(([, name, body]) => [name, body]),
);
const aliases = new Map([...source.matchAll(/^export type (\w+) = (\w+);/gm)].map(([, name, other]) => [name, other]));
const endpoints = [...source.matchAll(/^ {4}"([^"]+)": \{\n\s+input: (\w+);/gm)].map(([, id = '', input = '']) => ({
  id,
  fields: fieldsOf(input),
}));

function fieldsOf(type: string): ReadonlySet<string> {
  const body = types.get(type) ?? types.get(aliases.get(type));
  return new Set([...(body ?? '').matchAll(/^ {4}(\w+)\??:/gm)].map(([, field = '']) => field));
}

const PICTURES = { referenceImages: [picture], mask: picture };
const SHAPES = { resolution: '1k', aspectRatio: '1:1' };
const WORDS = {
  quality: 'high',
  style: 'any',
  negativePrompt: 'fog',
  background: 'opaque',
  outputFormat: 'png',
} as const;
const IMAGE_FIELDS = { ...PICTURES, ...SHAPES, ...WORDS, seed: 1 };

const VIDEO_FIELDS = {
  seconds: 5,
  resolution: '720p',
  aspectRatio: '16:9',
  fps: 24,
  seed: 1,
  negativePrompt: 'fog',
  cameraFixed: true,
  generateAudio: true,
  inputReference: picture,
  referenceImages: [picture],
  firstFrame: picture,
  lastFrame: picture,
  referenceVideos: [picture],
  referenceAudios: [picture],
  sourceVideo: picture,
};

const SOUND_FIELDS = {
  lyrics: 'la',
  voice: 'v',
  referenceId: 'r',
  language: 'it',
  format: 'mp3',
  guidanceScale: 1,
  promptInfluence: 1,
  durationSeconds: 5,
  seed: 1,
  instrumental: true,
  loop: true,
  autoGenerateText: true,
  referenceAudio: [picture],
} as const;

/** Not made for making, or not from a prompt. */
const OTHER =
  /train|redux|gallery|stream$|realtime|upscale|vectorize|create|multiple-angles|layered|pulid|differential|instruct|replace|reframe|avatar|lipsync|tts|effects|video-to-audio|25\/inpaint/;
const IMAGE_FAMILIES =
  /^fal-ai\/(flux|bytedance\/seedream|nano-banana|imagen4|gpt-image|recraft|ideogram\/v3|qwen-image|hidream-i1|hunyuan-image|z-image)/;

describe('a family is sent only what the vendor’s types have', () => {
  const emulator = new FalEmulator({ apiKey: KEY });
  const pools = new UpstreamPools();
  before(() => emulator.start());
  after(() => Promise.all([pools.close(), emulator.stop()]));

  /** The emulator has few of these models; it refuses the others, but only when it has read what they are sent. */
  async function sentTo<Request>(work: TaskWork<Request>, request: Request, model: string): Promise<string[]> {
    const { signal } = new AbortController();
    const upstream: Upstream = { model, address: emulator.url, apiKey: KEY, timeoutMs: 60_000, signal, pools };
    await work.submit(request, ORDER, upstream).catch((error: unknown) => assert.ok(error instanceof UpstreamError));
    return Object.keys(JSON.parse(emulator.requests.at(-1)?.bytes.toString() ?? ''));
  }

  function checkAll<Request>(
    work: TaskWork<Request>,
    requestOf: (fields: Partial<Request>) => Request,
    all: Partial<Request>,
    family: RegExp,
  ): void {
    const models = endpoints.filter(({ id }) => family.test(id) && !OTHER.test(id));
    assert.ok(models.length > 5);
    for (const { id, fields } of models) {
      test(id, async () => {
        const taken = Object.entries(all).filter(([key, value]) => takes(work, requestOf, { [key]: value }, id));
        const sent = await sentTo(work, requestOf(Object.fromEntries(taken) as Partial<Request>), id);
        assert.deepEqual(
          sent.filter((field) => !fields.has(field)),
          [],
        );
      });
    }
  }

  function takes<Request>(
    work: TaskWork<Request>,
    requestOf: (fields: Partial<Request>) => Request,
    field: object,
    model: string,
  ): boolean {
    try {
      work.check(requestOf(field), model);
      return true;
    } catch {
      return false;
    }
  }

  checkAll(image, imageRequest, IMAGE_FIELDS, IMAGE_FAMILIES);
  checkAll(video, videoRequest, VIDEO_FIELDS, /^fal-ai\/(kling-video|bytedance\/seedance|veo)/);
  checkAll(music, soundRequest, SOUND_FIELDS, /^fal-ai\/(elevenlabs\/(music|sound)|minimax-music|stable-audio)/);
});
