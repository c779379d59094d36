import assert from 'node:assert/strict';
import { after, afterEach, beforeEach, describe, test } from 'node:test';
import { plainImage } from '../../../../test/support/plain-requests.ts';
import { ApiError, type Fault } from '../../../errors.ts';
import type { ImageRequest } from '../../../schemas/index.ts';
import { imageOver } from '../../formats/gemini-media/image.ts';
import { wire } from '../../formats/generate-content/wire.ts';
import { inMemoryMedia, type Media, type Upstream, UpstreamPools } from '../../index.ts';
import { isFault, KEY, MARKER, upstreamAt } from '../emulator/calls.ts';
import { inline } from '../emulator/media.ts';
import { GeminiEmulator } from '../emulator.ts';

const MODEL = 'gemini-3.1-flash-image';
const ORDER = { id: 'order', count: 1, startWithinMs: 60_000 };
const PICTURE = Buffer.from('a picture');
const image = imageOver(wire);
const pools = new UpstreamPools();
let emulator: GeminiEmulator;

beforeEach(async () => {
  emulator = new GeminiEmulator({ apiKey: KEY, marker: MARKER, samples: { picture: PICTURE } });
  await emulator.start();
});
afterEach(() => emulator.stop());
after(() => pools.close());

const upstreamOf = (changes: Partial<Upstream> = {}) => upstreamAt(emulator, pools, { model: MODEL, ...changes });

function draw(fields: Partial<ImageRequest<Media>> = {}, model = MODEL) {
  const request = plainImage(fields);
  image.check(request, model);
  return image.submit(request, ORDER, upstreamOf({ model }));
}

const lastBody = () => JSON.parse(emulator.requests.at(-1)?.bytes.toString() ?? '');

test('a picture is asked for by its words alone, and comes with what the vendor counted', async () => {
  const drawn = await draw();
  assert.deepEqual(drawn, {
    state: 'succeeded',
    outputs: [{ data: PICTURE }],
    usage: { inputTokens: 7, outputTokens: 3 },
  });
  assert.equal(emulator.requests[0]?.path, `/v1beta/models/${MODEL}:generateContent`);
  assert.equal(emulator.requests[0]?.headers['x-goog-api-key'], KEY);
  assert.deepEqual(lastBody(), {
    contents: [{ role: 'user', parts: [{ text: 'A toll gate' }] }],
    generationConfig: { responseModalities: ['IMAGE'] },
  });
});

test('pictures to go by are sent as bytes before the words, in their order, even if they have an address', async () => {
  const large = inMemoryMedia(Buffer.alloc(9_000_000, 1), 'image/jpeg', 'https://example.com/large.jpg');
  await draw({ referenceImages: [large, inMemoryMedia(Buffer.from('two'), 'image/png')] });
  const [{ parts }] = lastBody().contents;
  assert.deepEqual(
    parts.map((part: { inlineData?: { mimeType: string; data: string } }) => part.inlineData?.mimeType),
    ['image/jpeg', 'image/png', undefined],
  );
  assert.ok(Buffer.from(parts[0].inlineData.data, 'base64').equals(await large.read()));
  assert.equal(Buffer.from(parts[1].inlineData.data, 'base64').toString(), 'two');
});

test('what is not modelled goes on, and the vendor refuses what it does not know', async () => {
  const safetySettings = [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }];
  await draw({ extra: { safetySettings } });
  assert.deepEqual(lastBody().safetySettings, safetySettings);
  await assert.rejects(draw({ extra: { sharpness: 3 } }), isFault('client'));
});

describe('size, tier and shape', () => {
  const SENT: readonly (readonly [fields: Partial<ImageRequest<Media>>, config: object | undefined, model?: string])[] =
    [
      [{ size: 'auto', aspectRatio: 'auto' }, undefined],
      [{ resolution: '2k' }, { imageSize: '2K' }],
      [
        { resolution: '4K', aspectRatio: '16:9' },
        { imageSize: '4K', aspectRatio: '16:9' },
      ],
      [{ resolution: '512' }, { imageSize: '512' }],
      [{ size: '1024x1024' }, { aspectRatio: '1:1', imageSize: '1K' }],
      [
        { size: '4096x4096', aspectRatio: '1:1' },
        { aspectRatio: '1:1', imageSize: '4K' },
      ],
      [{ size: '512x512' }, { aspectRatio: '1:1', imageSize: '512' }],
      [{ aspectRatio: '8:1' }, { aspectRatio: '8:1' }],
      [{ aspectRatio: '1:4' }, { aspectRatio: '1:4' }, 'gemini-nano-banana-2.1'],
      [{ resolution: '1k' }, { imageSize: '1K' }, 'gemini-3.1-flash-lite-image'],
      [{ resolution: '4k', aspectRatio: '21:9' }, { imageSize: '4K', aspectRatio: '21:9' }, 'gemini-3-pro-image'],
    ];
  for (const [fields, config, model = MODEL] of SENT) {
    test(`${JSON.stringify(fields)} is sent to ${model} as ${JSON.stringify(config)}`, async () => {
      await draw(fields, model);
      assert.deepEqual(lastBody().generationConfig.imageConfig, config);
    });
  }
});

describe('what a model cannot take is refused before anything is sent', () => {
  const picture = inMemoryMedia(PICTURE, 'image/png');
  const REFUSED: readonly (readonly [
    fields: Partial<ImageRequest<Media>>,
    field: string,
    why: string,
    model?: string,
  ])[] = [
    [{ size: '1280x720' }, 'size', 'takes auto, 512x512, 1024x1024, 2048x2048, 4096x4096'],
    [{ size: '512x512' }, 'size', 'takes auto, 1024x1024', 'gemini-3.1-flash-lite-image'],
    [{ size: '1024x1024', resolution: '1k' }, 'resolution', 'does not take it together with "size"'],
    [{ size: '1024x1024', aspectRatio: '16:9' }, 'aspect_ratio', 'does not take it together with "size"'],
    [{ resolution: '8k' }, 'resolution', 'takes 512, 1k, 2k, 4k'],
    [{ resolution: '2k' }, 'resolution', 'takes 1k', 'gemini-3.1-flash-lite-image'],
    [{ resolution: '512' }, 'resolution', 'takes 1k, 2k, 4k', 'gemini-nano-banana-2.1'],
    [{ aspectRatio: '7:5' }, 'aspect_ratio', 'takes 1:1'],
    [{ aspectRatio: '1:8' }, 'aspect_ratio', 'takes 1:1', 'gemini-3-pro-image'],
    [{ quality: 'high' }, 'quality', 'takes none'],
    [{ style: 'vivid' }, 'style', 'takes none'],
    [{ negativePrompt: 'fog' }, 'negative_prompt', 'takes none'],
    [{ background: 'transparent' }, 'background', 'takes none'],
    [{ outputFormat: 'png' }, 'output_format', 'takes none'],
    [{ seed: 7 }, 'seed', 'takes none'],
    [{ watermark: true }, 'watermark', 'takes none'],
    [{ mask: picture, referenceImages: [picture] }, 'mask', 'takes none'],
    ...['contents', 'generationConfig', 'generation_config', 'tools', 'serviceTier', 'service_tier'].map(
      (name) => [{ extra: { [name]: 'x' } }, name, 'takes none'] as const,
    ),
  ];
  for (const [fields, field, why, model = MODEL] of REFUSED) {
    test(`${field}: ${JSON.stringify(fields).slice(0, 60)} by ${model}`, () => {
      assert.throws(
        () => image.check(plainImage(fields), model),
        (error) =>
          error instanceof ApiError &&
          error.code === 'unsupported_parameter' &&
          error.param === field &&
          error.message.startsWith(`"${field}": this model ${why}`),
      );
    });
  }

  test('and a watermark that is not wanted is none', () => image.check(plainImage({ watermark: false }), MODEL));
});

describe('an answer without its picture', () => {
  const ENDS: readonly (readonly [reason: string, fault: Fault])[] = [
    ...['SAFETY', 'PROHIBITED_CONTENT', 'IMAGE_SAFETY', 'IMAGE_RECITATION', 'BLOCKLIST', 'SPII', 'RECITATION'].map(
      (reason) => [reason, 'policy'] as const,
    ),
    ['NO_IMAGE', 'unfit'],
    ['MAX_TOKENS', 'unfit'],
    ['OTHER', 'server'],
    ['IMAGE_OTHER', 'server'],
    ['A_NEW_REASON', 'server'],
  ];
  for (const [finishReason, fault] of ENDS) {
    test(`that ended with ${finishReason} is a fault of class ${fault}, and no uncertain one`, async () => {
      emulator.script({ kind: 'answer', parts: [{ text: 'Sorry.' }], finishReason });
      await assert.rejects(
        draw(),
        (error) => isFault(fault)(error) && (error as { isUncertain: boolean }).isUncertain === false,
      );
    });
  }

  test('because the prompt was blocked is a matter of policy', async () => {
    emulator.script({ kind: 'answer', promptFeedback: { blockReason: 'IMAGE_SAFETY' } });
    await assert.rejects(draw(), isFault('policy'));
  });

  test('but with words is one that another may draw; with nothing at all it is garbled', async () => {
    emulator.script({ kind: 'answer', parts: [{ text: 'A gate is a door.' }] }, { kind: 'answer', parts: [] });
    await assert.rejects(draw(), isFault('unfit'));
    await assert.rejects(draw(), isFault('garbled'));
  });

  test('but with a draft inside a thought has none; a draft beside a picture is passed over', async () => {
    const draft = { ...inline('image/png', Buffer.from('draft')), thought: true };
    emulator.script(
      { kind: 'answer', parts: [draft] },
      { kind: 'answer', parts: [draft, { text: 'Here:' }, inline('image/jpeg', PICTURE)] },
    );
    await assert.rejects(draw(), isFault('garbled'));
    const drawn = await draw();
    assert.deepEqual(drawn.state === 'succeeded' && drawn.outputs, [{ data: PICTURE }]);
  });
});

describe('an account without money is ours, whatever the status', () => {
  const WORDS = [
    [402, 'RESOURCE_EXHAUSTED', 'Your prepaid credit is used up.'],
    [429, 'RESOURCE_EXHAUSTED', 'Your prepayment credits are depleted. Please go to AI Studio to manage your billing.'],
    [400, 'FAILED_PRECONDITION', 'Free tier is not available in your country. Please enable billing on your project.'],
  ] as const;
  for (const [code, status, message] of WORDS) {
    test(`${code} ${message}`, async () => {
      emulator.script({ kind: 'raw', status: code, body: JSON.stringify({ error: { code, status, message } }) });
      await assert.rejects(draw(), isFault('account'));
    });
  }

  test('while a quota of the minute is a throttle, though it speaks of billing too', async () => {
    const message = 'You exceeded your current quota, please check your plan and billing details.';
    const body = JSON.stringify({ error: { code: 429, status: 'RESOURCE_EXHAUSTED', message } });
    emulator.script({ kind: 'raw', status: 429, body });
    await assert.rejects(draw(), isFault('rate'));
  });

  test('and what the emulator is out of', async () => {
    emulator.isBroke = true;
    await assert.rejects(draw(), isFault('account'));
  });
});
