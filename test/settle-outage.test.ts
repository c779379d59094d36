import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { OpenAiEmulator } from '../src/vendors/openai/emulator.ts';
import { DatabaseLink } from './support/database-link.ts';
import { Gateway, type NewCaller } from './support/gateway.ts';
import { chatBody, moneyOf, paidCaller, spentInTheEnd, tokenModel } from './support/paid-calls.ts';
import { until } from './support/postgres.ts';

// An answer whose settlement meets an outage is delivered and charged once. Refused, its caller would ask and pay again.

const upstream = new OpenAiEmulator();
/** Is always with the database. */
let near: Gateway;
/** Reaches the same database over a wire that can be cut. */
let far: Gateway;
let wire: DatabaseLink;
let caller: NewCaller;
before(async () => {
  await upstream.start();
  near = await Gateway.start();
  await near.putConfig({
    upstreams: [{ id: 'vendor', vendor: 'openai', base_url: upstream.url }],
    models: [tokenModel('model', ['vendor'])],
  });
  wire = await DatabaseLink.open(near.database);
  far = await Gateway.start({ database: wire.database, clock: near.clock });
});
after(async () => {
  await far.stop(0);
  await wire.cut();
  await near.assertBooksBalance();
  await near.stop();
  await upstream.stop();
});
beforeEach(async () => {
  caller = await paidCaller(near);
});

function ask(path: keyof typeof BODIES = '/v1/chat/completions') {
  return far.call('POST', path, { key: caller.key, body: BODIES[path] });
}

const BODIES = {
  '/v1/chat/completions': chatBody('model'),
  // What is kept beside the answer cannot be written then either.
  '/v1/responses': { model: 'model', input: 'Hi' },
};

for (const path of ['/v1/chat/completions', '/v1/responses'] as const) {
  test(`R-277, R-514: an answer of ${path} that comes while the database is away is delivered, and charged when it is back`, () =>
    answerInOutage(path));
}

async function answerInOutage(path: '/v1/chat/completions' | '/v1/responses'): Promise<void> {
  const gate = Promise.withResolvers<void>();
  upstream.script({ kind: 'answer', after: gate.promise });
  const asked = ask(path);
  await until(async () => (await moneyOf(near, caller)).reserved > 0);
  await wire.cut();
  gate.resolve();
  const { status, json, text } = await asked;
  assert.equal(status, 200, text);
  await wire.restore();
  assert.equal(await spentInTheEnd(near, caller), json.usage.credits);
}

test('R-277, R-514: a settlement that was committed without its acknowledgement is the one charge of an answer', async () => {
  const gate = Promise.withResolvers<void>();
  upstream.script({ kind: 'answer', after: gate.promise });
  const asked = ask();
  await until(async () => (await moneyOf(near, caller)).reserved > 0);
  wire.holdAnswersTo(Buffer.from('outputTokens'));
  gate.resolve();
  await until(async () => wire.isHolding && (await moneyOf(near, caller)).reserved === 0);
  await wire.cut();
  wire.letGo();
  const { status, json, text } = await asked;
  assert.equal(status, 200, text);
  await wire.restore();
  assert.equal(await spentInTheEnd(near, caller), json.usage.credits);
});
