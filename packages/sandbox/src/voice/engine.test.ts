import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UpstreamError } from '../../../../src/errors.ts';
import { sandboxUpstream } from '../../../../test/support/sandbox-media.ts';
import { Engine } from './engine.ts';
import { warmMs } from './engines.ts';

/** Whose thread says how often it was asked before, and ends as the order says. */
function engine(openMax: number, idleMs?: () => number): Engine<string, number> {
  const body = `
    import { Impossible, serve } from '${import.meta.resolve('./serve.ts')}';
    let made = 0;
    serve(async function* (order) {
      for (;;) {
        if (order === 'impossible') throw new Impossible('no');
        if (order === 'error') throw new Error('oh');
        if (order === 'exit') process.exit(1);
        if (order === 'three' && made >= 3) return;
        yield made++;
      }
    });`;
  const script = new URL(`data:text/javascript,${encodeURIComponent(body)}`);
  return new Engine({ script, openMax, ...(idleMs !== undefined && { idleMs }) });
}

const order = (name: string) => () => Promise.resolve(name);

async function allOf(pieces: AsyncIterable<number>): Promise<number[]> {
  const all: number[] = [];
  for await (const piece of pieces) all.push(piece);
  return all;
}

function isFault(fault: string) {
  return (error: unknown) => error instanceof UpstreamError && error.fault === fault;
}

test('pieces come in order until there are no more', async () => {
  assert.deepEqual(await allOf(engine(1).pieces(order('three'), sandboxUpstream())), [0, 1, 2]);
});

test('open orders take turns, and no piece is made that nobody takes', async () => {
  const both = engine(2);
  const [one, other] = [0, 1].map(() => both.pieces(order('endless'), sandboxUpstream()));
  assert.ok(one && other);
  const taken = [await one.next(), await other.next(), await one.next(), await other.next()];
  assert.deepEqual(
    taken.map(({ value }) => value),
    [0, 1, 2, 3],
  );
  await one.return(undefined);
  await other.return(undefined);
});

test('whoever has no place waits for one', async () => {
  const narrow = engine(1);
  const first = narrow.pieces(order('endless'), sandboxUpstream());
  await first.next();
  const asked: string[] = [];
  const second = narrow.pieces(async () => {
    asked.push('second');
    return 'three';
  }, sandboxUpstream());
  const waiting = allOf(second);
  await first.next();
  assert.deepEqual(asked, []);
  await first.return(undefined);
  assert.deepEqual(await waiting, [2]);
});

test('whoever waits for longer than the upstream may be silent is told that it is busy', async () => {
  const narrow = engine(1);
  const first = narrow.pieces(order('endless'), sandboxUpstream());
  await first.next();
  await assert.rejects(allOf(narrow.pieces(order('three'), { ...sandboxUpstream(), timeoutMs: 1 })), isFault('rate'));
  await first.return(undefined);
  assert.deepEqual(await allOf(narrow.pieces(order('three'), sandboxUpstream())), [1, 2]);
});

test('at most two hundred wait', async () => {
  const narrow = engine(1);
  const first = narrow.pieces(order('endless'), sandboxUpstream());
  await first.next();
  const controller = new AbortController();
  const upstream = { ...sandboxUpstream(), signal: controller.signal };
  const waiting = Array.from({ length: 200 }, () => allOf(narrow.pieces(order('three'), upstream)));
  await assert.rejects(allOf(narrow.pieces(order('three'), sandboxUpstream())), isFault('rate'));
  // Whoever leaves in the moment in which it gets its place gives that on.
  controller.abort(new Error('left'));
  await first.return(undefined);
  for (const result of await Promise.allSettled(waiting)) assert.equal(result.status, 'rejected');
  assert.deepEqual(await allOf(narrow.pieces(order('three'), sandboxUpstream())), [1, 2]);
});

test('what cannot be done is the caller’s fault, what goes wrong is not, and the next order is served', async () => {
  const both = engine(2);
  await assert.rejects(allOf(both.pieces(order('impossible'), sandboxUpstream())), isFault('client'));
  await assert.rejects(allOf(both.pieces(order('error'), sandboxUpstream())), isFault('server'));
  await assert.rejects(allOf(both.pieces(() => Promise.reject(new Error('unread')), sandboxUpstream())), /unread/);
  assert.deepEqual(await allOf(both.pieces(order('three'), sandboxUpstream())), [0, 1, 2]);
});

test('a thread that ends takes its orders with it, and another begins with the next', async () => {
  const both = engine(2);
  const open = both.pieces(order('endless'), sandboxUpstream());
  await open.next();
  await assert.rejects(allOf(both.pieces(order('exit'), sandboxUpstream())), isFault('server'));
  await assert.rejects(open.next(), isFault('server'));
  assert.deepEqual(await allOf(both.pieces(order('three'), sandboxUpstream())), [0, 1, 2]);
});

test('what was loaded stays for as long as the shop says, and the next order finds it', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const warm = engine(1, () => 900_000);
  const three = () => allOf(warm.pieces(order('three'), sandboxUpstream()));
  assert.deepEqual(await three(), [0, 1, 2]);
  t.mock.timers.tick(899_999);
  // The same thread has counted already.
  assert.deepEqual(await three(), []);
  t.mock.timers.tick(900_000);
  assert.deepEqual(await three(), [0, 1, 2]);
  t.mock.timers.tick(900_000);
});

test('a recogniser stays warm for a quarter of an hour, or for half a minute where memory is short', () => {
  assert.equal(warmMs(2 ** 30), 900_000);
  assert.equal(warmMs(2 ** 30 - 1), 30_000);
});
