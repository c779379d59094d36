import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatTraceparent, parseTraceparent } from './span.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

test('a traceparent is read, and written as it was read', () => {
  for (const flags of ['00', '01']) {
    const text = `00-${TRACE}-${SPAN}-${flags}`;
    const context = parseTraceparent(text) ?? assert.fail();
    assert.deepEqual(context, { traceId: TRACE, spanId: SPAN, traceFlags: Number(flags) });
    assert.equal(formatTraceparent(context), text);
  }
  assert.equal(parseTraceparent(`cc-${TRACE}-${SPAN}-03-what-comes-later`)?.traceFlags, 1);
});

for (const [what, text] of [
  ['none', undefined],
  ['empty', ''],
  ['no ids', '00-01'],
  ['upper case', `00-${TRACE.toUpperCase()}-${SPAN}-01`],
  ['a trace of zeros', `00-${'0'.repeat(32)}-${SPAN}-01`],
  ['a span of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
  ['a forbidden version', `ff-${TRACE}-${SPAN}-01`],
  ['more than version 00 has', `00-${TRACE}-${SPAN}-01-more`],
  ['two at once', `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`],
] as const) {
  test(`a traceparent that is wrong begins a trace here: ${what}`, () => {
    assert.equal(parseTraceparent(text), undefined);
  });
}
