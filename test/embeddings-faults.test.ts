import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import {
  type Fault,
  type FaultyUpstream,
  gemini,
  MARK,
  openAi,
  STATUSES,
  WIRE_FAULTS,
  WIRE_MODEL,
} from './support/faulty-upstreams.ts';
import { type Answer, Gateway, type NewCaller } from './support/gateway.ts';
import { moneyOf, paidCaller, tokenModel } from './support/paid-calls.ts';

// As the fault matrix of chat, for vectors: every fault of every vendor that makes some.

const pairs = [openAi, gemini].map((make) => ({ bad: make(), good: make() }));
type Pair = (typeof pairs)[number];
const FAULTS: readonly Fault[] = [...STATUSES, ...WIRE_FAULTS, 'silence'];
const FINAL: readonly Fault[] = [400, 422];
/** With one candidate alone, it is asked once more. */
const PASSING: readonly Fault[] = [409, 500, 502, 503, 504, 529, 'reset', 'reset in the body', 'no HTTP'];

/** One fault of one vendor, with another upstream that would do, or with none. */
interface Case {
  readonly pair: Pair;
  readonly fault: Fault;
  readonly hasGood: boolean;
  readonly model: string;
}

function caseOf(pair: Pair, fault: Fault, hasGood: boolean): Case {
  const model = `m-${pairs.indexOf(pair)}-${FAULTS.indexOf(fault)}-${hasGood ? 'helped' : 'lost'}`;
  return { pair, fault, hasGood, model };
}

const cases = pairs.flatMap((pair) =>
  FAULTS.flatMap((fault) => [true, false].map((hasGood) => caseOf(pair, fault, hasGood))),
);

let gateway: Gateway;
before(async () => {
  await Promise.all(pairs.flatMap(({ bad, good }) => [bad.start(), good.start()]));
  gateway = await Gateway.start();
  await gateway.putConfig({ upstreams: cases.flatMap(upstreamsOf), models: cases.map(modelOf) });
});
after(async () => {
  await gateway.stop();
  await Promise.all(pairs.flatMap(({ bad, good }) => [bad.stop(), good.stop()]));
});
afterEach(() => gateway.assertBooksBalance());

const idOf = (model: string, at: number) => `${MARK}-${model}-${at}`;

function candidatesOf({ pair: { bad, good }, hasGood }: Case): readonly FaultyUpstream[] {
  return hasGood ? [bad, good] : [bad];
}

/** Each case has upstreams of its own, so that none opens another's breaker. */
function upstreamsOf(asked: Case): object[] {
  return candidatesOf(asked).map(({ vendor, url, apiKey }, at) => ({
    id: idOf(asked.model, at),
    vendor,
    base_url: vendor === 'openai' ? url : new URL(url).origin,
    api_key: apiKey,
    priority: 9 - at,
    timeout_seconds: asked.fault === 'silence' ? 1 : 60,
  }));
}

function modelOf(asked: Case): object {
  const routes = candidatesOf(asked).map((_, at) => ({ upstream: idOf(asked.model, at), model: WIRE_MODEL }));
  return tokenModel(asked.model, [], { endpoints: ['embeddings'], routes });
}

/** Lets the first upstream fail as often as it is asked. Resolves to the answer, and to how often any was asked. */
async function failing(asked: Case, { key }: NewCaller): Promise<{ answer: Answer; calls: number }> {
  const { bad, good } = asked.pair;
  const before = bad.calls + good.calls;
  const faults = !asked.hasGood && PASSING.includes(asked.fault) ? 2 : 1;
  for (let times = 0; times < faults; times++) bad.fail(asked.fault, false);
  const answer = await gateway.call('POST', '/v1/embeddings', { key, body: { model: asked.model, input: 'Hi' } });
  assert.ok(!JSON.stringify([answer.headers, answer.text]).includes(MARK), answer.text);
  return { answer, calls: bad.calls + good.calls - before };
}

/** What the caller is told when no candidate works. */
function refusalOf(fault: Fault): [number, string] {
  if (FINAL.includes(fault) || fault === 413) return [400, 'upstream_rejected'];
  return fault === 'silence' ? [504, 'request_timeout'] : [502, 'upstream_failed'];
}

for (const pair of pairs) {
  describe(`embeddings of ${pair.bad.vendor}`, () => {
    for (const fault of FAULTS) {
      const isFinal = FINAL.includes(fault);
      test(`R-509 R-510 R-010 R-011: ${fault} with no other candidate is free of charge and names nobody`, async () => {
        const caller = await paidCaller(gateway);
        const { answer, calls } = await failing(caseOf(pair, fault, false), caller);
        assert.deepEqual([answer.status, answer.json?.error.code], refusalOf(fault), answer.text);
        assert.equal(calls, PASSING.includes(fault) ? 2 : 1);
        assert.deepEqual(await moneyOf(gateway, caller), { available: 1000, reserved: 0, spent: 0 });
      });

      test(`R-509 R-510 R-046: ${fault} is ${isFinal ? 'final' : 'made good by another candidate'}`, async () => {
        const caller = await paidCaller(gateway);
        const { answer, calls } = await failing(caseOf(pair, fault, true), caller);
        assert.equal(answer.status, isFinal ? 400 : 200, answer.text);
        assert.equal(calls, isFinal ? 1 : 2);
        const { spent, reserved } = await moneyOf(gateway, caller);
        assert.deepEqual([spent, reserved], [isFinal ? 0 : answer.json.usage.credits, 0]);
      });
    }
  });
}
