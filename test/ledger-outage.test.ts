import assert from 'node:assert/strict';
import { after, afterEach, beforeEach, test } from 'node:test';
import { DatabaseUnavailable, type Db, openDb } from '../src/db/index.ts';
import { CallLedger } from '../src/ledger/index.ts';
import { soundAs } from '../src/vendors/openai/emulator/audio.ts';
import { silentLog } from './support/database.ts';
import { DatabaseLink } from './support/database-link.ts';
import { Gateway } from './support/gateway.ts';
import { availableOf, newReservation, openAccount, openLedger } from './support/ledger.ts';
import { moneyOf, paidCaller } from './support/paid-calls.ts';
import { until } from './support/postgres.ts';
import { OpenSound, PRICE, SpeechStudio } from './support/speech-studio.ts';

const ledger = await openLedger();
const studio = new SpeechStudio();
await studio.start();
after(() => studio.stop());

let link: DatabaseLink;
let far: Db;
/** Reaches the same ledger over a wire that can be cut, in a process that lives on. */
let callLedger: CallLedger;
beforeEach(async () => {
  link = await DatabaseLink.open(ledger.database);
  far = openDb({ url: link.database.url }, silentLog);
  callLedger = new CallLedger({ db: far, clock: ledger.clock, processId: 'proc_far' });
});
afterEach(async () => {
  await far.close();
  await link.cut();
});

test('R-277: what cannot be settled with the database away is settled when it is back, at what was said last', async () => {
  const account = await openAccount(ledger, 100n);
  const [charged, returned] = [newReservation(account, 10n), newReservation(account, 20n)];
  await Promise.all([callLedger.reserve(charged), callLedger.reserve(returned)]);
  await link.cut();
  await assert.rejects(callLedger.settle(charged, 4n), DatabaseUnavailable);
  // Its caller was told of a failure, so nothing is taken after all.
  await assert.rejects(callLedger.settle(returned, 15n), DatabaseUnavailable);
  await assert.rejects(callLedger.refund(returned), DatabaseUnavailable);
  await callLedger.maintain();
  await link.restore();
  assert.equal(await availableOf(ledger, account), 70n);
  await callLedger.maintain();
  assert.equal(await availableOf(ledger, account), 96n);
});

test('R-277: credits that were held without an answer go back, and what was never held is forgotten', async () => {
  const account = await openAccount(ledger, 100n);
  await callLedger.reserve(newReservation(account, 1n));
  link.holdAnswersTo(Buffer.from(account));
  const held = callLedger.reserve(newReservation(account, 10n));
  held.catch(() => undefined);
  await until(async () => link.isHolding && (await availableOf(ledger, account)) === 89n);
  await link.cut();
  link.letGo();
  await assert.rejects(held, DatabaseUnavailable);
  await assert.rejects(callLedger.reserve(newReservation(account, 20n)), DatabaseUnavailable);
  await link.restore();
  await callLedger.maintain();
  await callLedger.maintain();
  assert.equal(await availableOf(ledger, account), 99n);
});

test('R-277: sound that ends while the database is away is charged by the same process when it is back', async () => {
  const caller = await paidCaller(studio.gateway, 1000);
  const wire = await DatabaseLink.open(studio.gateway.database);
  const gateway = await Gateway.start({ database: wire.database, clock: studio.gateway.clock });
  const gate = Promise.withResolvers<void>();
  const sound = await soundAs('wav');
  studio.first.script({ kind: 'sound', pieces: inHalves(sound, gate.promise) });
  await using open = await OpenSound.open(gateway, caller, { response_format: 'wav' });
  await open.until(sound.length / 2);
  await wire.cut();
  gate.resolve();
  const { isCut, bytes } = await open.rest();
  assert.deepEqual([isCut, bytes.length], [false, sound.length]);
  const cost = ('Good day.'.length * PRICE.characters) / 1000;
  assert.deepEqual(await moneyOf(studio.gateway, caller), { available: 1000 - cost, reserved: cost, spent: 0 });
  await wire.restore();
  await until(async () => (await moneyOf(studio.gateway, caller)).reserved === 0);
  assert.deepEqual(await moneyOf(studio.gateway, caller), { available: 1000 - cost, reserved: 0, spent: cost });
  await gateway.stop(0);
  await wire.cut();
});

async function* inHalves(sound: Buffer, between: Promise<void>): AsyncIterable<Buffer> {
  yield sound.subarray(0, sound.length / 2);
  await between;
  yield sound.subarray(sound.length / 2);
}
