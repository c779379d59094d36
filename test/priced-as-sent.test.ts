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
import type { PricedWork, SentRequest, WireBody } from '../src/vendors/emulator/contract.ts';
import { LocalServer } from '../src/vendors/emulator/local-server.ts';
import { inMemoryMedia, type Media, type TaskWork, type Upstream, UpstreamPools } from '../src/vendors/index.ts';
import { loadedVendors } from './support/loaded-vendors.ts';
import { plainImage, plainSound, plainVideo } from './support/plain-requests.ts';
import { vendorContracts } from './support/vendor-contracts.ts';

/** Remembers what it was sent last, and answers nothing that can be used. */
class Recorder extends LocalServer {
  last: WireBody;

  protected async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const bytes = Buffer.concat(await Array.fromAsync<Buffer>(request));
    const type = request.headers['content-type'] ?? '';
    this.last = type.startsWith('multipart/') ? await fieldsIn(bytes, type) : JSON.parse(bytes.toString());
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  }
}

/** As if the form were JSON, but that every value in it is a text or a file. */
async function fieldsIn(bytes: Buffer, type: string): Promise<WireBody> {
  const answer = new Response(new Uint8Array(bytes), { headers: { 'content-type': type } });
  return Object.fromEntries(await answer.formData());
}

const recorder = new Recorder();
const pools = new UpstreamPools();
before(() => recorder.start());
after(async () => {
  await pools.close();
  await recorder.stop();
});

/** The call as it was sent; a vendor inside this process keeps it in its task. */
async function wireOf(
  work: TaskWork<MediaRequest<Media>>,
  request: MediaRequest<Media>,
  model: string,
): Promise<WireBody> {
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
    return (submitted.task as WireBody).piece;
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

function sentBySandbox(wire: WireBody): SentRequest {
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

const REQUESTS = { image: images, video: videos, music: sounds };
const SANDBOX = (['image', 'video', 'music'] as const).map((kind) => ({ kind, models: [kind], read: sentBySandbox }));
const works: readonly (PricedWork & { readonly vendor: string })[] = [
  ...[...vendorContracts].flatMap(([vendor, { priced = [] }]) => priced.map((work) => ({ vendor, ...work }))),
  ...SANDBOX.map((work) => ({ vendor: 'sandbox', ...work })),
];

test('every vendor that makes pictures, clips or songs says how they are priced', () => {
  const made = loadedVendors.flatMap((vendor) =>
    (['image', 'video', 'music'] as const)
      .filter((kind) => vendor[kind] !== undefined)
      .map((kind) => `${vendor.name} ${kind}`),
  );
  assert.deepEqual([...new Set(works.map(({ vendor, kind }) => `${vendor} ${kind}`))].sort(), made.sort());
});

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
  for (const { vendor, kind, models, read } of works) {
    for (const wireModel of models) {
      test(`${kind} by ${vendor}, ${wireModel}`, async () => {
        const work = loadedVendors.find(({ name }) => name === vendor)?.[kind] as TaskWork<MediaRequest<Media>>;
        let sentCount = 0;
        const property = fc.asyncProperty(
          REQUESTS[kind] as fc.Arbitrary<MediaRequest<Media>>,
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
  sent: SentRequest,
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
