import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { imageModel } from './support/documents.ts';
import { type Answer, Gateway, type NewCaller } from './support/gateway.ts';
import { chatBody, paidCaller, tokenModel } from './support/paid-calls.ts';
import { until } from './support/postgres.ts';

/** More than any number of strikes that a breaker bears. */
const TIMES = 12;

let gateway: Gateway;
let caller: NewCaller;
before(async () => {
  gateway = await Gateway.start();
  caller = await paidCaller(gateway);
  const routes = (model: string) => ({ routes: [{ upstream: 'box', model }] });
  await gateway.putConfig({
    upstreams: [{ id: 'box', vendor: 'sandbox' }],
    models: [tokenModel('talker', [], routes('chat')), imageModel('painter', [], routes('image'))],
  });
});
after(() => gateway.stop());
afterEach(() => gateway.assertBooksBalance());

function chat(sandbox?: object): Promise<Answer> {
  const body = chatBody('talker', sandbox === undefined ? {} : { extra: { sandbox } });
  return gateway.call('POST', '/v1/chat/completions', { key: caller.key, body });
}

async function paint(sandbox: object): Promise<string> {
  const body = { model: 'painter', prompt: 'a gate', extra: { sandbox } };
  const answer = await gateway.call('POST', '/v1/images/generations', { key: caller.key, body });
  assert.equal(answer.status, 202, answer.text);
  return answer.json.id;
}

async function assertAllClosed(): Promise<void> {
  const { data, models_without_candidate } = (await gateway.admin('GET', '/upstreams')).json;
  const seen = [data[0].health, ...data[0].upstream_models.map(({ health }: { health: object }) => health)];
  for (const { state, strikes } of seen) assert.deepEqual([state, strikes], ['closed', 0]);
  assert.deepEqual(models_without_candidate, []);
}

describe('R-512: a fault that a caller asked for takes nothing away from others', () => {
  for (const fail of ['busy', 'down', 'timeout', 'garbled', 'policy']) {
    test(`${fail} of chat`, async () => {
      for (let times = 0; times < TIMES; times++) assert.notEqual((await chat({ fail })).status, 200);
      assert.equal((await chat()).status, 200);
      await assertAllClosed();
    });
  }

  test('a stream that is cut', async () => {
    for (let times = 0; times < TIMES; times++) {
      const body = chatBody('talker', { stream: true, extra: { sandbox: { fail: 'down', fail_after_frames: 1 } } });
      const answer = await gateway.call('POST', '/v1/chat/completions', { key: caller.key, body });
      assert.match(answer.text, /upstream_failed/);
    }
    await assertAllClosed();
  });

  for (const fail of ['busy', 'down']) {
    test(`${fail} of a picture silences neither chat nor pictures`, async () => {
      for (let times = 0; times < 4; times++) await paint({ fail });
      assert.equal((await chat()).status, 200);
      const id = await paint({});
      await until(async () => {
        gateway.clock.advance(0.1);
        return (await gateway.call('GET', `/v1/jobs/${id}`, { key: caller.key })).json.status === 'succeeded';
      });
      await assertAllClosed();
    });
  }
});
