import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { measureMedia } from '../src/billing/index.ts';
import type { ListedModel } from '../src/catalogue/index.ts';
import { ApiError, UpstreamError } from '../src/errors.ts';
import type { JsonObject } from '../src/json.ts';
import { chargeFactors } from '../src/pricing/index.ts';
import { canonicalQuality } from '../src/quality.ts';
import { checkFits, inPublishedWords } from '../src/routing/index.ts';
import type { MediaRequest } from '../src/schemas/index.ts';
import { LocalServer } from '../src/vendors/emulator/local-server.ts';
import { inMemoryMedia, type Media, type TaskWork, type Upstream, UpstreamPools } from '../src/vendors/index.ts';
import { loadedVendors } from './support/loaded-vendors.ts';
import { plainImage, plainSound, plainVideo } from './support/plain-requests.ts';

/** What of a request the price depends on, as an upstream is told it. */
interface Sent {
  readonly quality?: string | undefined;
  readonly tier?: string | undefined;
  readonly size?: string | undefined;
  readonly count?: number | undefined;
  readonly seconds?: number | undefined;
  /** `always`: the model makes no other clips, and has no word for it. */
  readonly hasAudio?: boolean | 'always' | undefined;
  readonly hasReferenceVideo?: boolean | undefined;
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
type Wire = any;

/** Remembers what it was sent last, and answers nothing that can be used. */
class Recorder extends LocalServer {
  last: Wire;

  protected async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.last = JSON.parse(Buffer.concat(await Array.fromAsync(request)).toString());
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  }
}

const recorder = new Recorder();
const pools = new UpstreamPools();
before(() => recorder.start());
after(async () => {
  await pools.close();
  await recorder.stop();
});

/** The call as it was sent; a vendor inside this process keeps it in its task. */
async function wireOf(work: TaskWork<MediaRequest<Media>>, request: MediaRequest<Media>, model: string): Promise<Wire> {
  const to: Upstream = {
    model,
    address: recorder.url,
    apiKey: 'key',
    timeoutMs: 10_000,
    signal: AbortSignal.timeout(60_000),
    pools,
  };
  const count = request.kind === 'video' ? 1 : Math.min(request.n, work.perCall(request, model));
  try {
    const submitted = await work.submit(request, { id: 'job_1-0', count, startWithinMs: 60_000 }, to);
    assert.ok(submitted.state === 'accepted');
    return (submitted.task as Wire).piece;
  } catch (error) {
    // The answer says nothing; what counts was sent by then.
    if (!(error instanceof UpstreamError)) throw error;
    return recorder.last;
  }
}

const clip = inMemoryMedia(Buffer.from('clip'), 'video/mp4', 'https://example.com/clip.mp4');
const maybe = <Value>(values: readonly Value[]) => fc.option(fc.constantFrom(...values), { nil: undefined, freq: 2 });
/** Names under which vendors take what public fields decide. */
const smuggling = (...names: readonly JsonObject[]) =>
  fc.constantFrom({}, {}, ...names).map((more) => ({ ...more, sandbox: { fail: 'policy' } }));
const shape = {
  resolution: maybe(['1k', '2k', '4k', '480p', '720p', '1080p']),
  aspectRatio: maybe(['1:1', '16:9', '9:16']),
};
const sizes = ['auto', '1024x1024', '1280x720', '2048x2048', '1080x1920', '3840x2160', '1536x1024'];

const images = fc
  .record({
    ...shape,
    extra: smuggling(
      { image_size: { width: 4096, height: 4096 } },
      { width: 4096, height: 4096 },
      { num_images: 4 },
      { max_images: 9 },
    ),
    n: fc.integer({ min: 1, max: 10 }),
    size: maybe(sizes),
    quality: maybe(['low', 'medium', 'standard', 'high', 'hd', 'auto', 'xhigh', 'max', 'ultra', 'HD', 'constructor']),
  })
  .map((fields) => plainImage(fields));
const videos = fc
  .record({
    ...shape,
    extra: smuggling({ video_urls: ['https://example.com/a.mp4'] }),
    size: maybe(sizes),
    seconds: maybe([1, 4, 5, 8, 10]),
    generateAudio: maybe([true, false]),
    sourceVideo: maybe([clip]),
    referenceVideos: fc.constantFrom([], [clip]),
  })
  .map((fields) => plainVideo({ ...fields, prompt: 'Waves' }));
const sounds = fc
  .record({
    extra: smuggling({ music_length_ms: 600_000 }, { seconds_total: 600, total_seconds: 600 }),
    n: fc.integer({ min: 1, max: 4 }),
    durationSeconds: maybe([1, 2.5, 10, 30]),
  })
  .map((fields) => plainSound({ ...fields, prompt: 'A waltz' }));

const QUALITIES = [
  { low: 0.5, medium: 1, high: 2 },
  { standard: 1, hd: 3, auto: 1.5 },
  { low: 0.5, standard: 1, medium: 1.25, high: 2, hd: 3, xhigh: 5 },
];
const accepts = {
  resolutions: ['1k', '2k', '4k', '480p', '720p', '1080p'],
  aspect_ratios: ['1:1', '16:9', '9:16'],
  sizes,
  slots: ['generate_audio', 'ref_video', 'reference_videos'],
  voice_design: false,
};

function modelOf(kind: MediaRequest<unknown>['kind'], quality_ratio: Record<string, number> | undefined): ListedModel {
  const credits = kind === 'image' ? { base: 1 } : { per_second: 1 };
  const pricing = {
    mode: kind === 'image' ? 'per_image' : 'per_second',
    currency: 'usd',
    credits,
    quality_ratio,
    resolution_ratio: { '1k': 1, '2k': 3, '4k': 7, '480p': 0.5, '720p': 1, '1080p': 2 },
    size_ratio: { '1024x1024': 1.1, '3840x2160': 9 },
    flag_ratio: { generate_audio: 1.5, reference_video: 1.7 },
  };
  return { id: 'public', pricing, accepts } as unknown as ListedModel;
}

/** The smallest tier that has the pixels. */
function tierOfPixels(width: number, height: number): string {
  if (Math.max(width, height) === 4096) return '4k';
  const [tier] = [['1k', 1024 ** 2] as const, ['2k', 2048 ** 2] as const].find(
    ([, most]) => width * height <= most,
  ) ?? ['4k'];
  return tier;
}

const sidesIn = (size: string) => size.split('x').map(Number) as [number, number];

function sentByOpenAi(wire: Wire): Sent {
  const isExact = typeof wire.size === 'string' && wire.size !== 'auto';
  const tier = wire.resolution ?? (isExact ? tierOfPixels(...sidesIn(wire.size)) : undefined);
  return { quality: wire.quality, size: wire.size, tier, count: wire.n };
}

function sentByFal(wire: Wire): Sent {
  const { image_size: size } = wire;
  const free = typeof size === 'string' ? /^auto_(\dk)$/i.exec(size)?.[1]?.toLowerCase() : undefined;
  const sides = typeof size === 'object' ? ([size.width, size.height] as const) : undefined;
  const seconds = wire.duration ?? wire.duration_seconds ?? wire.seconds_total;
  return {
    quality: wire.quality,
    size: sides?.join('x') ?? (typeof size === 'string' && /^\d+x\d+$/.test(size) ? size : undefined),
    tier: wire.resolution?.toLowerCase() ?? free ?? (sides && tierOfPixels(...sides)),
    count: wire.num_images,
    seconds: wire.music_length_ms === undefined ? seconds && Number.parseFloat(seconds) : wire.music_length_ms / 1000,
    hasAudio: wire.generate_audio,
    hasReferenceVideo: wire.video_url !== undefined || wire.video_urls !== undefined,
  };
}

function sentByElevenLabs({ music_length_ms: ms, duration_seconds: seconds }: Wire): Sent {
  return { count: 1, seconds: ms === undefined ? seconds : ms / 1000 };
}

function sentByBfl({ width, height }: Wire): Sent {
  if (width === undefined) return { count: 1 };
  return { count: 1, size: `${width}x${height}`, tier: tierOfPixels(width, height) };
}

function sentByArk({ size }: Wire): Sent {
  if (size === undefined || /^\dK$/.test(size)) return { count: 1, tier: size?.toLowerCase() };
  return { count: 1, size, tier: tierOfPixels(...sidesIn(size)) };
}

function clipByArk({ resolution, duration, generate_audio: hasAudio, content }: Wire): Sent {
  const hasReferenceVideo = content.some(({ type }: { type: string }) => type === 'video_url');
  return { tier: resolution, seconds: duration, hasAudio, hasReferenceVideo };
}

function sentByKling({ resolution, n }: Wire): Sent {
  return { count: n, tier: resolution };
}

function clipByKling({ mode, duration, sound, settings }: Wire): Sent {
  const tier = settings?.resolution ?? { std: '720p', pro: '1080p' }[mode as string];
  const seconds = settings?.duration ?? (duration && Number(duration));
  return { tier, seconds, hasAudio: sound === 'on' };
}

/** Tiers of lines are the vendor's groups; others are megapixels, which it overdraws a little in some shapes. */
function sentByRunway({ ratio, resolution, ...wire }: Wire): Sent {
  const [width, height] = (ratio ?? '').split(':').map(Number) as [number, number];
  const lines = [['480p', 0.5] as const, ['720p', 1.3] as const, ['1080p', 2.5] as const];
  const [ofClip] = lines.find(([, most]) => (width * height) / 1e6 <= most) ?? ['4k'];
  const isClip = wire.duration !== undefined || wire.videoUri !== undefined;
  const byLines = { 720: '720p', 912: '1080p', 1080: '1080p' }[Math.min(width, height)];
  const ofImage = byLines ?? (ratio === '1808:768' ? '1080p' : tierOfPixels(width / 1.05, height / 1.05));
  return {
    quality: wire.quality,
    size: width > 21 ? `${width}x${height}` : undefined,
    tier: resolution ?? (width > 21 ? (isClip ? ofClip : ofImage) : undefined),
    count: wire.outputCount ?? 1,
    seconds: wire.duration,
    hasAudio: /omni/.test(wire.model) ? 'always' : wire.audio,
    hasReferenceVideo: ['promptVideo', 'videoUri', 'referenceVideos'].some((name) => name in wire),
  };
}

function sentByLuma({ duration, resolution, media }: Wire): Sent {
  return {
    count: 1,
    tier: resolution,
    seconds: duration && Number.parseInt(duration, 10),
    hasReferenceVideo: media !== undefined,
  };
}

function clipByBfl({ resolution, duration, generate_audio, start_video }: Wire): Sent {
  const tier = ({ hd: '720p', fhd: '1080p' } as Record<string, string>)[resolution];
  return { tier, seconds: duration, hasAudio: generate_audio, hasReferenceVideo: start_video !== undefined };
}

function sentByGemini({ generationConfig: { imageConfig = {} } }: Wire): Sent {
  const { imageSize, aspectRatio } = imageConfig;
  const side = Number.parseInt(imageSize ?? '', 10) * 1024;
  return {
    count: 1,
    tier: imageSize?.toLowerCase(),
    size: imageSize !== undefined && aspectRatio === '1:1' ? `${side}x${side}` : undefined,
  };
}

function clipByGemini({ response_format: format, input }: Wire): Sent {
  return {
    tier: format.resolution,
    seconds: format.duration && Number.parseInt(format.duration, 10),
    hasAudio: 'always',
    hasReferenceVideo: input.some(({ type }: { type: string }) => type === 'video'),
  };
}

function songByGemini({ model, input }: Wire): Sent {
  const seconds = /The length is ([\d.]+) seconds/.exec(input)?.[1];
  const asked = seconds === undefined ? undefined : Number(seconds);
  return { seconds: /clip/.test(model) ? 30 : asked };
}

function sentByMinimax({ width, height, n, resolution, duration, content }: Wire): Sent {
  return {
    count: n,
    size: width && `${width}x${height}`,
    // Every shape has one megapixel.
    tier: resolution?.toLowerCase() ?? (width === undefined ? '1k' : tierOfPixels(width, height)),
    seconds: duration,
    hasReferenceVideo: content?.some(({ type }: { type: string }) => type === 'video_url'),
  };
}

function sentByXai(wire: Wire): Sent {
  return {
    quality: wire.quality,
    count: wire.n,
    tier: wire.resolution,
    seconds: wire.duration,
    hasAudio: wire.generate_audio,
    hasReferenceVideo: wire.video !== undefined,
  };
}

function sentByReplicate({ input }: Wire): Sent {
  const sides = [input.width, input.height].every(Boolean) ? ([input.width, input.height] as const) : undefined;
  const size = sides?.join('x') ?? (/^\d+x\d+$/.test(input.size) ? input.size : undefined);
  const named = /^\dk$/i.test(input.size) ? input.size : (input.resolution ?? input.image_size);
  const tier = input.megapixels === '1' ? '1k' : named?.toLowerCase();
  const milliseconds = input.music_length_ms;
  return {
    size,
    tier: tier ?? (size === undefined ? undefined : tierOfPixels(...sidesIn(size))),
    count: input.num_outputs ?? 1,
    seconds: milliseconds === undefined ? input.duration : milliseconds / 1000,
    hasAudio: input.generate_audio,
    hasReferenceVideo: input.reference_videos !== undefined || input.video !== undefined,
  };
}

function sentBySandbox(wire: Wire): Sent {
  const lines = Math.min(wire.width, wire.height);
  const tierOfImage = { 1024: '1k', 2048: '2k', 4096: '4k' }[Math.max(wire.width, wire.height)];
  return {
    quality: wire.quality,
    size: `${wire.width}x${wire.height}`,
    tier: wire.kind === 'video' ? `${lines}p` : tierOfImage,
    count: wire.kind === 'image' ? wire.count : undefined,
    seconds: wire.kind === 'video' ? wire.frames / wire.fps : wire.seconds,
    hasAudio: wire.hasSound,
    hasReferenceVideo: wire.notes?.some((note: string) => /video/.test(note)),
  };
}

const WORKS = [
  ['openai', 'image', ['gpt-image-2', 'painter'], images, sentByOpenAi],
  // Its three sizes are all of one tier.
  ['openai', 'image', ['gpt-image-1.5'], images, (wire: Wire) => ({ ...sentByOpenAi(wire), tier: '1k' })],
  ['azure', 'image', ['gpt-image-2-east'], images, sentByOpenAi],
  ['azure', 'image', ['pictures'], images, (wire: Wire) => ({ ...sentByOpenAi(wire), tier: '1k' })],
  [
    'fal',
    'image',
    [
      'fal-ai/flux/dev',
      'fal-ai/bytedance/seedream/v4/text-to-image',
      'fal-ai/nano-banana-pro',
      'any/gpt-image-1.5',
      'any/painter',
      'fal-ai/recraft/v4',
    ],
    images,
    sentByFal,
  ],
  ['bfl', 'image', ['flux-2-pro', 'flux-pro-1.1', 'flux-pro-1.1-ultra', 'any/painter'], images, sentByBfl],
  [
    'ark',
    'image',
    ['seedream-4-0-250828', 'seedream-4-5-251128', 'dola-seedream-5-0-pro-260628', 'ep-1'],
    images,
    sentByArk,
  ],
  ['kling', 'image', ['kling-v2'], images, sentByKling],
  ['gemini', 'image', ['gemini-3.1-flash-image', 'gemini-3-pro-image', 'any/painter'], images, sentByGemini],
  ['minimax', 'image', ['image-01'], images, sentByMinimax],
  ['xai', 'image', ['grok-imagine-image', 'grok-imagine-image-2.0'], images, sentByXai],
  ['runway', 'image', ['gen4_image', 'gpt_image_2', 'gemini_image3_pro', 'seedream5_pro', 'any'], images, sentByRunway],
  ['luma', 'image', ['photon-1'], images, sentByLuma],
  [
    'replicate',
    'image',
    [
      'black-forest-labs/flux-schnell',
      'black-forest-labs/flux-2-pro',
      'google/nano-banana-pro',
      'google/imagen-4',
      'bytedance/seedream-4',
      'any/painter',
    ],
    images,
    sentByReplicate,
  ],
  ['sandbox', 'image', ['image'], images, sentBySandbox],
  [
    'fal',
    'video',
    [
      'fal-ai/veo3',
      'fal-ai/kling-video/v3/pro/text-to-video',
      'fal-ai/kling-video/o1/edit',
      'any/seedance-2/reference-to-video',
      'any/film',
    ],
    videos,
    sentByFal,
  ],
  ['ark', 'video', ['seedance-1-0-pro-250528', 'dreamina-seedance-2-5-260628', 'ep-1'], videos, clipByArk],
  ['kling', 'video', ['kling-v2-5-turbo', 'kling-v2-master', 'kling-v3', 'kling-3.0-turbo'], videos, clipByKling],
  ['gemini', 'video', ['gemini-omni-1.1-flash'], videos, clipByGemini],
  ['minimax', 'video', ['MiniMax-Hailuo-2.3', 'MiniMax-H3'], videos, sentByMinimax],
  ['xai', 'video', ['grok-imagine-video', 'grok-imagine-video-1.5'], videos, sentByXai],
  [
    'runway',
    'video',
    ['gen4.5', 'veo3.1', 'seedance2', 'hailuo3', 'wan3', 'gemini_omni_flash_1.1', 'h3_max', 'aleph2'],
    videos,
    sentByRunway,
  ],
  ['luma', 'video', ['ray-2'], videos, sentByLuma],
  [
    'replicate',
    'video',
    ['bytedance/seedance-1-pro', 'bytedance/seedance-2.0', 'google/veo-3.1', 'kwaivgi/kling-v2.6', 'any/film'],
    videos,
    sentByReplicate,
  ],
  ['bfl', 'video', ['flux-3-video'], videos, clipByBfl],
  ['sandbox', 'video', ['video'], videos, sentBySandbox],
  ['fal', 'music', ['fal-ai/elevenlabs/music', 'fal-ai/stable-audio-25/text-to-audio', 'any/tune'], sounds, sentByFal],
  ['elevenlabs', 'music', ['music_v1', 'eleven_text_to_sound_v2'], sounds, sentByElevenLabs],
  ['gemini', 'music', ['lyria-3.5', 'lyria-3-clip-preview'], sounds, songByGemini],
  ['minimax', 'music', ['music-2.6'], sounds, sentByMinimax],
  ['runway', 'music', ['eleven_text_to_sound_v2', 'seed_audio'], sounds, sentByRunway],
  ['replicate', 'music', ['elevenlabs/music', 'stability-ai/stable-audio-2.5', 'any/tune'], sounds, sentByReplicate],
  ['sandbox', 'music', ['music'], sounds, sentBySandbox],
] as const;

/** Undefined: refused before anything is priced or sent. */
function admitted(work: TaskWork<MediaRequest<Media>>, model: ListedModel, asked: MediaRequest<Media>, wire: string) {
  try {
    const request = inPublishedWords(model, asked);
    checkFits(model.accepts, request);
    work.check(request, wire);
    return request;
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

describe('R-161, R-162, R-163, R-167, R-305: what is priced is what is sent', () => {
  for (const [vendor, kind, models, requests, read] of WORKS) {
    for (const wireModel of models) {
      test(`${kind} by ${vendor}, ${wireModel}`, async () => {
        const work = loadedVendors.find(({ name }) => name === vendor)?.[kind] as TaskWork<MediaRequest<Media>>;
        let sentCount = 0;
        const property = fc.asyncProperty(
          requests as fc.Arbitrary<MediaRequest<Media>>,
          fc.constantFrom(...QUALITIES),
          async (asked, quality_ratio) => {
            const model = modelOf(asked.kind, quality_ratio);
            const request = admitted(work, model, asked, wireModel);
            if (request === undefined) return;
            const { units, selectors } = measureMedia(request, 'images', model);
            const { ratios } = chargeFactors(model.pricing, selectors, units);
            const sent = read(await wireOf(work, request, wireModel));
            sentCount++;
            assertPriced(
              request,
              model,
              new Map(ratios.map(({ map, key }) => [map === 'flag_ratio' ? key : map, key])),
              sent,
            );
          },
        );
        await fc.assert(property, { numRuns: 600 });
        assert.ok(sentCount > 0, 'no request was sent');
      });
    }
  }
});

/** Every factor stands on the wire, and whatever stands there and has a price is a factor. */
function assertPriced(
  request: MediaRequest<Media>,
  { pricing }: ListedModel,
  factors: ReadonlyMap<string, string>,
  sent: Sent,
) {
  const size = factors.get('size_ratio');
  if (size !== undefined) assert.equal(sent.size, size);
  const tier = factors.get('resolution_ratio');
  if (tier !== undefined) assert.equal(sent.tier, tier);
  if (request.kind === 'image') {
    const priced = factors.get('quality_ratio') ?? 'auto';
    const left = sent.quality === undefined || (request.quality ?? 'auto') === 'auto' ? 'auto' : sent.quality;
    assert.equal(canonicalQuality(priced), canonicalQuality(left));
    assert.ok(Object.hasOwn(pricing.quality_ratio ?? {}, priced) || priced === 'auto');
    if (sent.count !== undefined) assert.ok(sent.count <= request.n);
    if (request.size === undefined && request.resolution === undefined)
      assert.ok([undefined, '1k', '2k'].includes(sent.tier));
  }
  if (request.kind === 'video') {
    if (sent.hasAudio === 'always') assert.notEqual(request.generateAudio, false);
    else assert.equal(sent.hasAudio ?? false, factors.has('generate_audio'));
    assert.equal(sent.hasReferenceVideo ?? false, factors.has('reference_video'));
    if (request.seconds !== undefined) assert.equal(sent.seconds, request.seconds);
  }
  if (request.kind === 'audio' && request.durationSeconds !== undefined) {
    assert.equal(sent.seconds, request.durationSeconds);
  }
}
