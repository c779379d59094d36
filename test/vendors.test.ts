import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { ApiError, UpstreamError } from '../src/errors.ts';
import { type TokenUsage, type Transcribing, type Upstream, UpstreamPools, type Vendor } from '../src/vendors/index.ts';
import { loadedVendors } from './support/loaded-vendors.ts';
import { type AnswerForm, KINDS_OF_WORK } from './support/vendor-work.ts';

// What any server may answer, from plausible to mad. Faults are in vendor-contract.test.ts.
const ANSWERS: readonly (readonly [name: string, type: string, body: string])[] = [
  ['nothing', 'application/json', ''],
  ['an empty object', 'application/json', '{}'],
  ['a list', 'application/json', '[1]'],
  ['a page', 'text/html', '<html>marker</html>'],
  ['an error inside a success', 'application/json', '{"error":{"code":500,"message":"marker"}}'],
  ['a sound of nothing', 'audio/mpeg', ''],
  ['an empty stream', 'text/event-stream', ''],
  ['a stream of nonsense', 'text/event-stream', 'data: marker\n\n'],
  ['a stream that breaks off', 'text/event-stream', 'data: {"choices":[{"index":0,"delta":{"content":"x"}}]}\n\n'],
];

/** What no vendor reads: one level too deep, and far too deep. */
const BEYOND = [
  ['of 65 levels', deep(65)],
  ['of 10,000 levels', deep(10_000)],
] as const;

function deep(levels: number): string {
  return `{"text":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
}

let server: Server;
let answer: readonly [type: string, body: string] = ['', ''];
const pools = new UpstreamPools();
before(async () => {
  server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': answer[0] }).end(answer[1]);
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

function isOutOfBounds(error: unknown): boolean {
  return error instanceof UpstreamError && error.fault === 'garbled' && /out of bounds|not a JSON/.test(error.message);
}

function undefinedIfFault(error: unknown): undefined {
  assert.ok(error instanceof UpstreamError || error instanceof ApiError, String(error));
}

/** What stands where a result would, and is none: usages of whole numbers, a transcript without text, a failed task. */
function assertNoResult(result: unknown, form: AnswerForm): void {
  const parts = (Array.isArray(result) ? result : [result]) as { usage?: TokenUsage; transcript?: { text: string } }[];
  for (const { usage, transcript } of parts) {
    for (const count of Object.values(usage ?? {})) assert.ok(Number.isSafeInteger(count) && count >= 0);
    assert.ok((transcript?.text ?? '') === '');
  }
  if (form === 'task') assert.match((result as Transcribing).state, /^(failed|lost|transcribed)$/);
  else assert.notEqual(form, 'sound', 'no answer of these is sound');
}

for (const vendor of loadedVendors) {
  describe(`vendor ${vendor.name}`, () => {
    test('is named in lower case, and says what an upstream of it needs', () => {
      assert.match(vendor.name, /^[a-z][a-z0-9-]*$/);
      assert.equal(loadedVendors.filter(({ name }) => name === vendor.name).length, 1);
      assert.equal(vendor.address === 'none', vendor.apiKey === 'none');
    });

    // What runs inside this process asks nobody.
    const kinds = vendor.address === 'none' ? [] : KINDS_OF_WORK;
    for (const { kind, form, of } of kinds) {
      const run = of(vendor);
      if (run === undefined) continue;
      for (const [name, type, body] of ANSWERS) {
        test(`${kind}: ${name} ends in a fault of the upstream, or in nothing that can be charged for`, async () => {
          answer = [type, body];
          const result = await run(upstreamFor(vendor)).catch(undefinedIfFault);
          if (result !== undefined) assertNoResult(result, form);
        });
      }

      for (const [name, body] of form === 'sound' || (form === 'events' && vendor.name === 'bedrock') ? [] : BEYOND) {
        test(`${kind}: an answer ${name} is garbled before anything is made of it`, async () => {
          const isStream = form === 'events';
          answer = isStream ? ['text/event-stream', `data: ${body}\n\n`] : ['application/json', body];
          await assert.rejects(run(upstreamFor(vendor)), isOutOfBounds);
        });
      }
    }
  });
}
