import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { type JsonValue, parseJson } from '../../json.ts';
import { JSON_INLINE_MAX } from '../../limits.ts';
import type { StreamedBody } from './exchange.ts';
import { encodeInTurns, toJsonBody } from './json-body.ts';
import type { WireValue } from './wire.ts';

async function textOf({ bytes, pieces }: StreamedBody): Promise<string> {
  const whole = Buffer.concat(await Array.fromAsync(pieces));
  assert.equal(whole.length, bytes);
  return whole.toString('utf8');
}

describe('the text of a request in pieces', () => {
  test('is what it is at once, wherever it is cut', async () => {
    const value = fc.jsonValue({ stringUnit: 'binary' }) as fc.Arbitrary<JsonValue>;
    await fc.assert(
      fc.asyncProperty(value, fc.integer({ min: 2, max: 40 }), async (tree, pieceChars) => {
        assert.equal(await textOf(await encodeInTurns(tree, pieceChars)), JSON.stringify(tree));
      }),
    );
  });

  test('leaves out what is undefined, and keeps numbers as they were written', async () => {
    const odd = parseJson('{"b":1.10,"a":[12345678901234567890,1e400],"__proto__":{"c":1.0}}').exact() as WireValue;
    const value = { skipped: undefined, list: [undefined, 'long enough to be cut', odd], odd };
    for (const pieceChars of [1, 5, 1_000]) {
      assert.equal(await textOf(await encodeInTurns(value, pieceChars)), JSON.stringify(value));
    }
  });

  test('lets other work of the event loop run between two pieces', async () => {
    const body = toJsonBody({ prompt: 'x'.repeat(20 * JSON_INLINE_MAX.bytes) });
    let turns = 0;
    let isDone = false;
    const count = () => {
      turns++;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    await body;
    isDone = true;
    assert.ok(turns >= 10, `${turns} turns`);
  });

  test('is no matter for a short one', () => {
    assert.equal(toJsonBody({ prompt: 'Hi', n: undefined }), '{"prompt":"Hi"}');
  });
});
