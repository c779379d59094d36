import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readEvents } from './sse.ts';

async function* inPieces(bytes: Buffer, cuts: readonly number[]): AsyncIterable<Buffer> {
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  let from = 0;
  for (const to of [...places, bytes.length]) {
    if (to > from) yield bytes.subarray(from, to);
    from = to;
  }
}

async function eventsOf(text: string, cuts: readonly number[] = []) {
  const bytes = Buffer.from(text);
  const events = [];
  for await (const event of readEvents(inPieces(bytes, cuts))) events.push(event);
  return { events, bytes };
}

for (const [name, lineEnd] of [
  ['LF', '\n'],
  ['CRLF', '\r\n'],
  ['CR', '\r'],
] as const) {
  test(`events that end in ${name} are the same however the bytes are cut, and none is lost`, async () => {
    const texts = ['{"a":1}', 'é ü 😀', '[DONE]'];
    const wire = texts.map((text) => `data: ${text}${lineEnd}${lineEnd}`).join('');
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(), { maxLength: 12 }), async (cuts) => {
        const { events, bytes } = await eventsOf(wire, cuts);
        assert.deepEqual(
          events.map((event) => event.data),
          texts,
        );
        assert.ok(Buffer.concat(events.map((event) => event.bytes)).equals(bytes));
      }),
    );
  });
}

test('an event has its name, and its data lines are joined', async () => {
  const { events } = await eventsOf('event: error\ndata: one\ndata:two\n\n');
  assert.deepEqual(
    events.map(({ event, data }) => ({ event, data })),
    [{ event: 'error', data: 'one\ntwo' }],
  );
});

test('a comment is an event without data', async () => {
  const { events } = await eventsOf(': keep-alive\n\ndata: x\n\n');
  assert.deepEqual(
    events.map((event) => event.data),
    ['', 'x'],
  );
});

test('what stands behind the last blank line is an event too', async () => {
  const { events } = await eventsOf('data: x\n\ndata: y');
  assert.deepEqual(
    events.map((event) => event.data),
    ['x', 'y'],
  );
});
