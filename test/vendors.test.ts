import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { ApiError, UpstreamError } from '../src/errors.ts';
import { chatSchema, soundSchema, toChatRequest, toSoundRequest } from '../src/requests/index.ts';
import {
  type AudioFile,
  heldMedia,
  type TokenUsage,
  type TranscriptionProgress,
  type Upstream,
  UpstreamPools,
  type Vendor,
  vendors,
} from '../src/vendors/index.ts';
import { toneAs } from './support/media-samples.ts';

/** What any server may answer, from plausible to mad. */
const ANSWERS: readonly (readonly [name: string, status: number, type: string, body: string])[] = [
  ['nothing', 200, 'application/json', ''],
  ['an empty object', 200, 'application/json', '{}'],
  ['a list', 200, 'application/json', '[1]'],
  ['a page', 200, 'text/html', '<html>marker</html>'],
  ['an error inside a success', 200, 'application/json', '{"error":{"code":500,"message":"marker"}}'],
  ['a sound of nothing', 200, 'audio/mpeg', ''],
  ['an empty stream', 200, 'text/event-stream', ''],
  ['a stream of nonsense', 200, 'text/event-stream', 'data: marker\n\n'],
  ['a stream that breaks off', 200, 'text/event-stream', 'data: {"choices":[{"index":0,"delta":{"content":"x"}}]}\n\n'],
  ...[301, 400, 401, 402, 403, 404, 408, 413, 422, 429, 500, 503].map(
    (status) => [`a refusal ${status}`, status, 'application/json', '{"error":{"message":"marker"}}'] as const,
  ),
];

let server: Server;
let answer = ANSWERS[0];
const pools = new UpstreamPools();
before(async () => {
  server = createServer((request, response) => {
    request.resume();
    response.writeHead(answer?.[1] ?? 500, { 'content-type': answer?.[2] }).end(answer?.[3]);
  });
  await new Promise<void>((resolve) => server.unref().listen(0, '127.0.0.1', resolve));
});
after(async () => {
  await pools.close();
  server.close();
});

function upstreamFor({ address }: Vendor): Upstream {
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const where = { versioned: `${origin}/v1`, origin, none: '' }[address];
  return { model: 'm', address: where, apiKey: 'k', timeoutMs: 5000, signal: new AbortController().signal, pools };
}

function chatRequest(stream: boolean) {
  const body = { model: 'public', messages: [{ role: 'user', content: 'Hi' }], stream };
  return toChatRequest(chatSchema.parse(body), body);
}

function nativeRequest(action: 'generateContent' | 'streamGenerateContent') {
  const body = Buffer.from('{"contents":[{"role":"user","parts":[{"text":"Hi"}]}]}');
  return { action, body, query: '', isShaped: false, accept: undefined };
}

function soundRequest() {
  const body = { model: 'public', input: 'Hi', voice: 'v' };
  return { ...toSoundRequest(soundSchema.parse(body), body), referenceAudio: [] };
}

function transcriptionRequest() {
  const hints = { language: undefined, prompt: undefined, temperature: undefined, extra: {} };
  return { model: 'public', responseFormat: 'verbose_json', granularities: ['word'], ...hints } as const;
}

const wave = await toneAs('wav', { seconds: 1, sampleRate: 16_000 });
const AUDIO: AudioFile = { ...heldMedia(wave, 'audio/wav'), extension: 'wav', seconds: 1 };

/** Everything that a vendor offers to tell tokens of, taken to its end. Answers the usages it told. */
const WORK: Readonly<Record<string, (vendor: Vendor) => Promise<(TokenUsage | undefined)[]> | undefined>> = {
  chat: (vendor) => vendor.chat?.complete(chatRequest(false), upstreamFor(vendor)).then(({ usage }) => [usage]),
  'chat stream': (vendor) =>
    vendor.chat
      ?.stream(chatRequest(true), upstreamFor(vendor))
      .then((chunks) => Array.fromAsync(chunks, ({ usage }) => usage)),
  native: (vendor) =>
    vendor.native?.call(nativeRequest('generateContent'), upstreamFor(vendor)).then(({ usage }) => [usage]),
  'native stream': (vendor) =>
    vendor.native
      ?.stream(nativeRequest('streamGenerateContent'), upstreamFor(vendor))
      .then(({ frames }) => Array.fromAsync(frames, ({ usage }) => usage)),
};

/** Sound to text: at once, and for a task that was accepted some time ago. */
const LISTENING: Readonly<Record<string, (vendor: Vendor) => Promise<object> | undefined>> = {
  transcription: (vendor) => vendor.transcription?.submit(transcriptionRequest(), AUDIO, upstreamFor(vendor)),
  'transcription poll': (vendor) => vendor.transcription?.poll?.({ id: 't' }, upstreamFor(vendor)),
};

const isFault = (error: unknown) => error instanceof UpstreamError || error instanceof ApiError;

/** What no vendor reads: one level too deep, and far too deep. */
const BEYOND = [
  ['of 65 levels', deep(65)],
  ['of 10,000 levels', deep(10_000)],
] as const;

function deep(levels: number): string {
  return `{"text":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
}

function isOutOfBounds(error: unknown): boolean {
  return error instanceof UpstreamError && error.fault === 'garbled' && /out of bounds|not a JSON/.test(error.message);
}

function undefinedIfFault(error: unknown): undefined {
  assert.ok(isFault(error), String(error));
}

for (const vendor of vendors) {
  // What runs inside this process asks nobody.
  const answers = vendor.address === 'none' ? [] : ANSWERS;

  describe(`vendor ${vendor.name}`, () => {
    test('is named in lower case, and says what an upstream of it needs', () => {
      assert.match(vendor.name, /^[a-z][a-z0-9-]*$/);
      assert.equal(vendors.filter(({ name }) => name === vendor.name).length, 1);
      assert.equal(vendor.address === 'none', vendor.apiKey === 'none');
    });

    for (const [kind, work] of Object.entries(WORK)) {
      for (const given of ANSWERS) {
        test(`${kind}: ${given[0]} ends in a fault of the upstream, or in whole numbers`, async () => {
          answer = given;
          const usages = await Promise.resolve(work(vendor)).catch(undefinedIfFault);
          for (const usage of usages ?? []) {
            for (const count of Object.values(usage ?? {})) assert.ok(Number.isSafeInteger(count) && count >= 0);
          }
        });
      }
    }

    for (const given of vendor.speech === undefined ? [] : answers) {
      test(`speech: ${given[0]} is no sound, and ends in a fault of the upstream`, async () => {
        answer = given;
        const spoken = vendor.speech?.speak(soundRequest(), upstreamFor(vendor));
        await assert.rejects(async () => Array.fromAsync((await spoken)?.pieces ?? []), isFault);
      });

      test(`voice design: ${given[0]} is no voice, and ends in a fault of the upstream`, async () => {
        answer = given;
        const design = vendor.speech?.design?.({ ...soundRequest(), voiceDescription: 'old' }, upstreamFor(vendor));
        if (design !== undefined) await assert.rejects(design, isFault);
      });
    }

    for (const [kind, work] of Object.entries({ ...WORK, ...LISTENING })) {
      for (const [what, body] of vendor.address === 'none' ? [] : BEYOND) {
        test(`${kind}: an answer ${what} is garbled before anything is made of it`, async () => {
          const isStream = kind.endsWith('stream');
          const event = `data: ${body}\n\n`;
          answer = [what, 200, isStream ? 'text/event-stream' : 'application/json', isStream ? event : body];
          const asked = work(vendor);
          if (asked !== undefined) await assert.rejects(asked, isOutOfBounds);
        });
      }
    }

    for (const [kind, work] of Object.entries(LISTENING)) {
      for (const given of vendor.transcription === undefined ? [] : answers) {
        test(`${kind}: ${given[0]} is no transcript, and ends in a fault of the upstream or of the task`, async () => {
          answer = given;
          const ended = await Promise.resolve(work(vendor)).catch(undefinedIfFault);
          assert.ok(ended === undefined || !isTranscribed(ended), JSON.stringify(ended));
        });
      }
    }
  });
}

/** A transcript without text is none, and its caller is told so. */
function isTranscribed(ended: object): boolean {
  const progress = ended as TranscriptionProgress;
  return progress.state === 'transcribed' && progress.transcript.text !== '';
}
