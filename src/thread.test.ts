import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { Thread } from './thread.ts';

const IDLE_MS = 30_000;

/** A thread that says again what it hears, while only the test moves the clock. */
function echo(t: TestContext, body = "port.on('message', (message) => port.postMessage(message));") {
  // Nothing else keeps the program from ending while the test waits for the thread.
  const alive = setInterval(() => undefined, 1_000);
  t.after(() => clearInterval(alive));
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const said = new EventEmitter();
  const ends: string[] = [];
  const script = new URL(`data:text/javascript,import { parentPort as port } from 'node:worker_threads'; ${body}`);
  const thread = new Thread<string, string>(
    script,
    (report) => said.emit('report', report),
    (detail) => {
      ends.push(detail);
      said.emit('end');
    },
  );
  t.after(() => {
    thread.rest();
    t.mock.timers.tick(IDLE_MS);
  });
  return { thread, ends, heard: () => once(said, 'report'), ended: () => once(said, 'end') };
}

test('a thread that has rested for half a minute ends', async (t) => {
  const { thread, ends, heard } = echo(t);
  thread.give('hello');
  assert.deepEqual(await heard(), ['hello']);
  thread.rest();
  t.mock.timers.tick(IDLE_MS - 1);
  assert.deepEqual(ends, []);
  t.mock.timers.tick(1);
  assert.equal(ends.length, 1);
});

test('a thread that is given something does not end, however long it takes', async (t) => {
  const { thread, ends, heard } = echo(t);
  thread.rest();
  thread.give('hello');
  t.mock.timers.tick(10 * IDLE_MS);
  assert.deepEqual(await heard(), ['hello']);
  assert.deepEqual(ends, []);
});

test('the end of a thread that breaks is told once', async (t) => {
  const { ends, ended } = echo(t, "throw new Error('broken');");
  await ended();
  assert.equal(ends.length, 1);
  assert.match(ends[0] ?? '', /broken/);
});
