import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { ApiError, UpstreamError } from '../src/errors.ts';
import { chatSchema, toChatRequest } from '../src/requests/index.ts';
import { type TokenUsage, type Upstream, UpstreamPools, type Vendor, vendors } from '../src/vendors/index.ts';

/** What any server may answer, from plausible to mad. */
const ANSWERS: readonly (readonly [name: string, status: number, type: string, body: string])[] = [
  ['nothing', 200, 'application/json', ''],
  ['an empty object', 200, 'application/json', '{}'],
  ['a list', 200, 'application/json', '[1]'],
  ['a page', 200, 'text/html', '<html>marker</html>'],
  ['an error inside a success', 200, 'application/json', '{"error":{"code":500,"message":"marker"}}'],
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
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
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

/** Everything that a vendor offers, taken to its end. Answers the usages it told. */
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

for (const vendor of vendors) {
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
          const usages = await Promise.resolve(work(vendor)).catch((error: unknown) => {
            assert.ok(error instanceof UpstreamError || error instanceof ApiError, String(error));
            return [];
          });
          for (const usage of usages ?? []) {
            for (const count of Object.values(usage ?? {})) assert.ok(Number.isSafeInteger(count) && count >= 0);
          }
        });
      }
    }
  });
}
