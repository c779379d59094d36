import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { Agent, request } from 'undici';
import { DatabaseLink } from './support/database-link.ts';
import type { Answer, CallOptions, Gateway, NewCaller } from './support/gateway.ts';
import { moneyOf, paidCaller } from './support/paid-calls.ts';
import { IMAGE_PRICE, IMAGES, Studio } from './support/studio.ts';

const studio = new Studio();
before(() => studio.start());
after(() => studio.stop());
afterEach(() => studio.gateway.assertBooksBalance());

const asking = (model: string, prefer?: string, more: Record<string, string> = {}): CallOptions => ({
  body: { model, prompt: 'a gate' },
  headers: { ...(prefer !== undefined && { prefer }), ...more },
});

function create(caller: NewCaller, options: CallOptions, gateway: Gateway = studio.gateway): Promise<Answer> {
  return gateway.call('POST', IMAGES, { ...options, key: caller.key });
}

const told = ({ status, json, headers }: Answer) => [status, json.status, headers['preference-applied']];

describe('Prefer: wait', () => {
  test('answers the ended job with 200 where it ends in time, with what it cost', async () => {
    const caller = await paidCaller(studio.gateway);
    const answer = await create(caller, asking('studio/direct', 'respond-async, Wait="30"'));
    assert.deepEqual(told(answer), [200, 'succeeded', 'wait=30']);
    assert.deepEqual(answer.json.usage, { credits: IMAGE_PRICE });
    const read = await studio.read(caller, answer.json.id);
    assert.deepEqual(answer.json, read);
  });

  test('nothing changes without it, nor for one that cannot be read', async () => {
    const caller = await paidCaller(studio.gateway);
    for (const prefer of [
      undefined,
      'wait',
      'wait=soon',
      'wait=-1',
      'wait=1.5',
      'handling=strict',
      'xwait=5',
      'wait=0',
    ]) {
      const known = studio.queue.tasks.length;
      const answer = await create(caller, asking('studio/queue', prefer));
      assert.deepEqual([answer.status, answer.headers['preference-applied']], [202, undefined], String(prefer));
      (await studio.nextTask(known)).advance('COMPLETED');
      await studio.ended(caller, answer.json.id);
    }
  });

  test('a job that failed has ended too', async () => {
    const caller = await paidCaller(studio.gateway);
    studio.direct.script({ kind: 'error', error: 'policy' });
    const answer = await create(caller, asking('studio/direct', 'wait=30'));
    assert.deepEqual(told(answer), [200, 'failed', 'wait=30']);
    assert.deepEqual((await moneyOf(studio.gateway, caller)).spent, 0);
  });

  test('is the 202 of a job that has not ended in time, a minute at the most, and the job goes on', async () => {
    const caller = await paidCaller(studio.gateway);
    for (const [prefer, seconds] of [
      ['wait=5', 5],
      ['wait=100000', 60],
    ] as const) {
      const begunMs = studio.gateway.clock.nowMs();
      const known = studio.queue.tasks.length;
      const waiting = create(caller, asking('studio/queue', prefer));
      const task = await studio.nextTask(known);
      const answer = await studio.whileTimePasses(waiting, 0.5);
      assert.deepEqual(told(answer), [202, 'running', undefined]);
      assert.ok(studio.gateway.clock.nowMs() - begunMs >= seconds * 1000);
      task.advance('COMPLETED');
      assert.equal((await studio.ended(caller, answer.json.id)).status, 'succeeded');
    }
  });

  test('a repeat with the same Idempotency-Key waits for the first one’s job', async () => {
    const caller = await paidCaller(studio.gateway);
    const options = asking('studio/queue', 'wait=30', { 'idempotency-key': 'the same' });
    const known = studio.queue.tasks.length;
    const waiting = [create(caller, options), create(caller, options)];
    (await studio.nextTask(known)).advance('COMPLETED');
    const [first, second] = await studio.whileTimePasses(Promise.all(waiting));
    assert.deepEqual([first?.status, second?.status, second?.json], [200, 200, first?.json]);
    assert.equal((await moneyOf(studio.gateway, caller)).spent, IMAGE_PRICE);
  });

  test('a caller who leaves loses nothing: the job ends and is charged', async () => {
    const caller = await paidCaller(studio.gateway);
    const known = studio.queue.tasks.length;
    const agent = new Agent();
    const { body, headers } = asking('studio/queue', 'wait=60');
    const leaving = request(studio.gateway.url + IMAGES, {
      method: 'POST',
      dispatcher: agent,
      headers: { ...headers, 'content-type': 'application/json', authorization: `Bearer ${caller.key}` },
      body: JSON.stringify(body),
    });
    const task = await studio.nextTask(known);
    await agent.destroy();
    await assert.rejects(leaving);
    task.advance('COMPLETED');
    const [job] = (await studio.gateway.call('GET', '/v1/jobs', { key: caller.key })).json.data;
    assert.equal((await studio.ended(caller, job.id)).status, 'succeeded');
    assert.equal((await moneyOf(studio.gateway, caller)).spent, IMAGE_PRICE);
  });
});

describe('Prefer: wait, with several processes', () => {
  const second = { settings: { TOLLGATE_ROLE: 'serve' } };

  test('a job that another process ends is told at once, without a move of the clock', async () => {
    const { database, clock } = studio.gateway;
    const serving = await studio.another({ ...second, database, clock });
    try {
      const caller = await paidCaller(studio.gateway);
      const answer = await create(caller, asking('studio/direct', 'wait=30'), serving);
      assert.deepEqual(told(answer), [200, 'succeeded', 'wait=30']);
    } finally {
      await serving.stop();
    }
  });

  test('an end that was missed while the listener was lost is found when it is back', async () => {
    const { database, clock } = studio.gateway;
    const link = await DatabaseLink.open(database);
    const serving = await studio.another({ ...second, database: link.database, clock });
    try {
      const caller = await paidCaller(studio.gateway);
      const known = studio.queue.tasks.length;
      const waiting = create(caller, asking('studio/queue', 'wait=60'), serving);
      const task = await studio.nextTask(known);
      const [job] = (await studio.gateway.call('GET', '/v1/jobs', { key: caller.key })).json.data;
      await link.cut();
      task.advance('COMPLETED');
      await studio.ended(caller, job.id);
      await link.restore();
      const answer = await waiting;
      assert.deepEqual(told(answer), [200, 'succeeded', 'wait=60']);
    } finally {
      await serving.stop();
    }
  });

  test('a process that drains answers what waits, and the job goes on elsewhere', async () => {
    const { database, clock } = studio.gateway;
    const serving = await studio.another({ ...second, database, clock });
    const caller = await paidCaller(studio.gateway);
    const known = studio.queue.tasks.length;
    const { body, headers } = asking('studio/queue', 'wait=60');
    const waiting = fetch(serving.url + IMAGES, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', authorization: `Bearer ${caller.key}` },
      body: JSON.stringify(body),
    });
    const task = await studio.nextTask(known);
    const [answer] = await Promise.all([waiting, serving.stop()]);
    assert.equal(answer.status, 202);
    const [job] = (await studio.gateway.call('GET', '/v1/jobs', { key: caller.key })).json.data;
    task.advance('COMPLETED');
    assert.equal((await studio.ended(caller, job.id)).status, 'succeeded');
  });
});
