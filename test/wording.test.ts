import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { ApiError } from '../src/errors.ts';
import {
  chatSchema,
  imageSchemas,
  soundSchema,
  toChatRequest,
  toImageRequest,
  toSoundRequest,
  toVideoRequest,
  videoSchema,
} from '../src/schemas/index.ts';
import { inMemoryMedia, UpstreamPools, type Vendor } from '../src/vendors/index.ts';
import { loadedVendors } from './support/loaded-vendors.ts';
import { rawNumber } from './support/raw-number.ts';
import { vendorContracts } from './support/vendor-contracts.ts';

/** A caller cannot tell by a refusal which upstream is behind a model: all of them speak the same words. */
const WORDING =
  /^"([^"]+)": this model (takes none|does not take this value|does not take it together with "\w+"|takes (at (most|least) )?[\w.,:;"\-()’ ]+)\.$/;

const MEDIA = inMemoryMedia(Buffer.from('x'), 'image/tiff');

/** Fields that one or the other vendor cannot take, each on its own. */
const FIELDS: Readonly<Record<string, readonly object[]>> = {
  image: [
    { size: '7x7' },
    { resolution: '9k' },
    { aspect_ratio: '99:1' },
    { quality: 'odd' },
    { background: 'odd' },
    { background: 'transparent', output_format: 'jpeg' },
    { seed: 7 },
    { style: 'x' },
    { watermark: true },
    { negative_prompt: 'x' },
  ],
  video: [
    { seconds: 0.5 },
    { seconds: 5000 },
    { size: '7x7' },
    { resolution: '9k' },
    { aspect_ratio: '99:1' },
    { fps: 999 },
    { seed: 7 },
    { watermark: true },
    { generate_audio: true },
    { camera_fixed: true },
  ],
  sound: [
    { speed: 99 },
    { volume: 99 },
    { language: 'xx' },
    { voice: '..' },
    { reference_id: 'r', voice: 'v' },
    { response_format: 'flac' },
    { sample_rate: 7 },
    { bitrate: 7 },
    { seed: 7 },
    { loop: true },
    { instrumental: true },
    { lyrics: 'x' },
    { prompt: 'x' },
    { input: 'x'.repeat(60_000) },
    { duration_seconds: 0.1 },
    { stream: true },
    { output_format: 'x' },
  ],
  transcription: [
    { temperature: 9 },
    { language: 'xx' },
    { prompt: 'x' },
    { granularities: ['word'] },
    { extra: { stream: true, webhook: 'x', audio_url: 'x', file: 'x' } },
  ],
  chat: [
    { n: 5 },
    { logprobs: true },
    { audio: {} },
    { functions: [] },
    { modalities: ['audio'] },
    { tools: [{ type: 'odd' }] },
    { tool_choice: { type: 'odd' } },
    { tool_choice: 'odd' },
    { reasoning_effort: 'odd' },
    { response_format: { type: 'odd' } },
    { repetition_penalty: 1.5 },
    { messages: [{ role: 'odd', content: 'x' }] },
    { messages: [{ role: 'user', content: [{ type: 'odd' }] }] },
    { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'x' } }] }] },
    { messages: [{ role: 'assistant', content: 'x', audio: { id: 'x' } }] },
    { messages: [{ role: 'assistant', tool_calls: [{ id: 'x', type: 'odd' }] }] },
  ],
};

const upstream = {
  model: 'm',
  address: 'http://127.0.0.1:9/v1',
  apiKey: 'k',
  timeoutMs: 1000,
  signal: new AbortController().signal,
  pools: new UpstreamPools(),
};

function chat(vendor: Vendor, fields: object): Promise<unknown> | undefined {
  const body = { model: 'public', messages: [{ role: 'user', content: 'Hi' }], ...fields };
  return vendor.chat?.complete(toChatRequest(chatSchema.parse(body), body), upstream);
}

/** What a vendor says of these fields, under any of its models and one that it does not know. */
function refusals(vendor: Vendor, kind: string, fields: object): unknown[] {
  const { image, video, music, speech, transcription } = vendor;
  const body = { model: 'public', prompt: 'x', ...fields };
  const sound = { model: 'public', input: 'x', ...fields };
  const checks: Record<string, (model: string) => void> = {
    image: (model) =>
      image?.check(
        { ...toImageRequest(imageSchemas.images.parse(body), body, 'images'), referenceImages: [], mask: MEDIA },
        model,
      ),
    video: (model) => {
      const none = { referenceImages: [], referenceVideos: [], referenceAudios: [] };
      const single = { inputReference: undefined, firstFrame: undefined, lastFrame: MEDIA, sourceVideo: undefined };
      video?.check({ ...toVideoRequest(videoSchema.parse(body), body), ...none, ...single }, model);
    },
    sound: (model) => {
      const request = { ...toSoundRequest(soundSchema.parse(sound), sound), referenceAudio: [] };
      music?.check(request, model);
      speech?.check(request, model);
    },
    transcription: (model) => {
      const hints = { language: undefined, prompt: undefined, temperature: undefined, extra: {}, granularities: [] };
      transcription?.check({ model: 'public', task: 'transcribe', responseFormat: 'json', ...hints, ...fields }, model);
    },
  };
  return ['m', ...(vendorContracts.get(vendor.name)?.models ?? [])].flatMap((model) => {
    try {
      checks[kind]?.(model);
      return [];
    } catch (error) {
      return [error];
    }
  });
}

function assertWording(error: unknown): void {
  assert.ok(error instanceof ApiError, String(error));
  if (error.code !== 'unsupported_parameter') return;
  const [, field] = WORDING.exec(error.message) ?? assert.fail(error.message);
  assert.equal(error.param, field);
}

for (const vendor of loadedVendors) {
  describe(`vendor ${vendor.name}`, () => {
    for (const [kind, rows] of Object.entries(FIELDS)) {
      for (const fields of rows) {
        test(`${kind}: ${JSON.stringify(fields).slice(0, 80)} is refused in the words of all, and names its field`, async () => {
          for (const error of refusals(vendor, kind, fields)) assertWording(error);
          if (kind !== 'chat') return;
          await chat(vendor, fields)?.catch((error: unknown) => {
            if (error instanceof ApiError) assertWording(error);
          });
        });
      }
    }
  });
}

test('no vendor has words of its own for what it cannot take', () => {
  const files = globSync('{src/vendors,packages/sandbox/src}/**/*.ts').filter((file) => !file.endsWith('.test.ts'));
  const own = files.filter((file) => readFileSync(file, 'utf8').includes("ApiError('unsupported_parameter'"));
  assert.deepEqual(own, []);
});

describe('a number that is kept as written is no object', () => {
  const PLACES: readonly ((value: unknown) => object)[] = [
    (value) => ({ response_format: value }),
    (value) => ({ tools: [value] }),
    (value) => ({ tool_choice: value }),
    (value) => ({ stream_options: value }),
    (value) => ({ messages: [{ role: 'user', content: [value] }] }),
    (value) => ({ messages: [{ role: 'user', content: value }] }),
    (value) => ({ messages: [{ role: 'user', content: [{ type: 'image_url', image_url: value }] }] }),
    (value) => ({ messages: [{ role: 'assistant', tool_calls: [value] }] }),
    (value) => ({ messages: [{ role: 'assistant', tool_calls: [{ id: 'x', type: 'function', function: value }] }] }),
  ];
  for (const vendor of loadedVendors.filter(({ chat: work }) => work !== undefined)) {
    for (const [index, place] of PLACES.entries()) {
      test(`${vendor.name}: ${JSON.stringify(place(5))}`, async () => {
        const [plain, written] = await Promise.all([5, rawNumber('5.0')].map((value) => outcome(vendor, place(value))));
        assert.equal(written, plain, String(index));
      });
    }
  }

  async function outcome(vendor: Vendor, fields: object): Promise<string> {
    const body = { model: 'public', messages: [{ role: 'user', content: 'Hi' }], ...fields };
    const { messages } = body;
    const request = {
      ...toChatRequest(chatSchema.parse({ model: 'public', messages: [{ role: 'user' }] }), body),
      messages,
    };
    try {
      await vendor.chat?.complete(request, upstream);
      return 'answered';
    } catch (error) {
      return error instanceof ApiError ? error.code : `${(error as Error).name}`;
    }
  }
});
