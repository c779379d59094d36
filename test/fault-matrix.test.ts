import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import {
  anthropic,
  azure,
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
import { chatBody, moneyOf, OpenStream, paidCaller, spentInTheEnd, tokenModel } from './support/paid-calls.ts';

type Format = 'chat' | 'messages' | 'native' | 'responses';

interface Surface {
  readonly name: string;
  readonly format: Format;
  /** Whether the upstream speaks the format, so that a success is passed on as it came. */
  readonly isPassed: boolean;
  readonly isStream: boolean;
  readonly bad: FaultyUpstream;
  readonly good: FaultyUpstream;
}

const pairs = [openAi, anthropic, gemini, azure].map((make) => ({ bad: make(), good: make() }));
const surfaces: readonly Surface[] = pairs.flatMap((pair) =>
  formatsOf(pair.bad).flatMap((format) =>
    [false, true].map((isStream) => ({
      name: `${format}${isStream ? ' stream' : ''} of ${pair.bad.vendor}`,
      format,
      isPassed: format === 'native' || (format === 'messages' && pair.bad.vendor === 'anthropic'),
      isStream,
      ...pair,
    })),
  ),
);

function formatsOf({ vendor }: FaultyUpstream): readonly Format[] {
  if (vendor === 'gemini') return ['chat', 'messages', 'native'];
  return vendor === 'openai' ? ['chat', 'messages', 'responses'] : ['chat', 'messages'];
}

type AnyFault = Fault | 'none';

/** One fault on one surface, with another upstream that would do, or with none. */
interface Case {
  readonly surface: Surface;
  readonly fault: AnyFault;
  readonly hasGood: boolean;
  readonly model: string;
}

const FAULTS = ['none', 'silence', ...STATUSES, ...WIRE_FAULTS] as const;

function caseOf(surface: Surface, fault: AnyFault, hasGood: boolean): Case {
  const model = `m-${surfaces.indexOf(surface)}-${FAULTS.indexOf(fault)}-${hasGood ? 'helped' : 'lost'}`;
  return { surface, fault, hasGood, model };
}

const cases = surfaces.flatMap((surface) =>
  FAULTS.flatMap((fault) => [true, false].map((hasGood) => caseOf(surface, fault, hasGood))),
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

/** Each case has upstreams of its own, so that none cools another’s. */
function upstreamsOf({ surface: { bad, good }, model, hasGood, fault }: Case): object[] {
  const rest = { groups: ['default'], timeout_seconds: fault === 'silence' ? 1 : 60 };
  return [bad, hasGood ? good : bad].map(({ vendor, url, apiKey }, at) => {
    const address = vendor === 'openai' || vendor === 'azure' ? url : new URL(url).origin;
    return { id: `${MARK}-${model}-${at}`, vendor, base_url: address, api_key: apiKey, priority: 9 - at, ...rest };
  });
}

function modelOf({ surface, model }: Case): object {
  const routes = [0, 1].map((at) => ({ upstream: `${MARK}-${model}-${at}`, model: WIRE_MODEL }));
  return tokenModel(model, [], { endpoints: [surface.format === 'native' ? 'native' : 'chat'], routes });
}

function targetOf({ surface: { format, isStream }, model }: Case): { path: string; body: object } {
  const body = chatBody(model, { stream: isStream });
  if (format === 'chat') return { path: '/v1/chat/completions', body };
  if (format === 'responses') return { path: '/v1/responses', body: { model, input: 'Hi', stream: isStream } };
  if (format === 'messages') return { path: '/v1/messages', body: { ...body, max_tokens: 900 } };
  const action = isStream ? 'streamGenerateContent' : 'generateContent';
  return { path: `/v1beta/models/${model}:${action}`, body: { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] } };
}

function send(asked: Case, { key }: NewCaller): Promise<Answer> {
  const { path, body } = targetOf(asked);
  return gateway.call('POST', path, { key, body });
}

const NAMES = /\b(openai|anthropic|gemini|google|googleapis|azure)\b|x-goog|upstream-host/i;

/** Nothing that names an upstream stands in the headers, nor in the body unless that is a success as it came. */
function assertNamesNobody(
  { status, headers, text }: Pick<Answer, 'status' | 'text'> & { headers: object },
  { surface }: Case,
): void {
  const isUntouched = surface.isPassed && status === 200;
  const bytes = JSON.stringify(headers) + (isUntouched ? '' : text);
  assert.ok(!bytes.includes(MARK), bytes);
  assert.doesNotMatch(bytes, NAMES);
  for (const { bad, good } of pairs) {
    for (const { url } of [bad, good]) assert.ok(!bytes.includes(new URL(url).host), bytes);
  }
}

const ENVELOPE_FRAME = /\n\r?\ndata: \{"error":\{.*"code":"upstream_failed","param":null\}\}\r?\n\r?\n$/;
const FAILURE_FRAMES: Readonly<Record<Format, RegExp>> = {
  chat: ENVELOPE_FRAME,
  native: ENVELOPE_FRAME,
  responses: /\n\nevent: response\.failed\ndata: \{.*"error":\{"code":"upstream_failed",.*\}\n\n$/,
  messages: /\n\nevent: error\ndata: \{"type":"error","error":\{"type":"api_error",.*"code":"upstream_failed".*\}\n\n$/,
};

const FINAL: ReadonlySet<unknown> = new Set([400, 422]);

const PASSING: ReadonlySet<unknown> = new Set([409, 500, 502, 503, 504, 529, 'reset', 'reset in the body', 'no HTTP']);

function isPassing({ bad: { vendor } }: Surface, fault: Fault): boolean {
  // This vendor's 504 is a timeout, and its emulator sends HTTP in any case.
  return PASSING.has(fault) && !(vendor === 'anthropic' && (fault === 504 || fault === 'no HTTP'));
}

/** What the caller is told when no candidate works. */
function refusalOf({ surface, fault }: Case): [number, string] {
  if (FINAL.has(fault) || fault === 413) return [400, 'upstream_rejected'];
  if (fault === 'silence') return [504, 'request_timeout'];
  // This vendor has a word of its own for having waited too long.
  if (fault === 504 && surface.bad.vendor === 'anthropic') return [504, 'request_timeout'];
  if (fault === 'empty' && surface.format === 'native' && surface.isStream) return [502, 'empty_stream'];
  return [502, 'upstream_failed'];
}

async function assertServed(asked: Case, answer: Answer, caller: NewCaller): Promise<void> {
  assert.equal(answer.status, 200, answer.text);
  assert.ok(answer.text.includes('Hel'), answer.text);
  assertNamesNobody(answer, asked);
  assert.ok((await spentInTheEnd(gateway, caller)) > 0);
}

async function assertRefused(asked: Case, answer: Answer, caller: NewCaller): Promise<void> {
  // The envelope itself is held to the contract with every answer.
  assert.deepEqual([answer.status, answer.json?.error.code], refusalOf(asked), answer.text);
  assertNamesNobody(answer, asked);
  assert.deepEqual(await moneyOf(gateway, caller), { available: 1000, reserved: 0, spent: 0 });
}

/** Lets one upstream fail for good, or both. Resolves to the answer, and to how often any was asked. */
async function failing(asked: Case, caller: NewCaller, faults: number): Promise<{ answer: Answer; calls: number }> {
  const { surface, fault } = asked;
  assert.ok(fault !== 'none');
  const { bad, good, isStream } = surface;
  const before = bad.calls + good.calls;
  for (let times = 0; times < faults; times++) bad.fail(fault, isStream);
  const answer = await send(asked, caller);
  return { answer, calls: bad.calls + good.calls - before };
}

for (const surface of surfaces) {
  const final = surface.format === 'native' ? 'R-046 R-010 R-011 R-034 R-037' : 'R-046 R-010 R-011 R-034';
  const passing = surface.format === 'native' ? 'R-509 R-510 R-010 R-011 R-034 R-037' : 'R-509 R-510 R-010 R-011 R-034';
  describe(surface.name, () => {
    for (const status of STATUSES.filter((each) => FINAL.has(each))) {
      test(`${final}: ${status} is final, free of charge and names nobody`, async () => {
        const caller = await paidCaller(gateway);
        const asked = caseOf(surface, status, true);
        const { answer, calls } = await failing(asked, caller, 1);
        await assertRefused(asked, answer, caller);
        assert.equal(calls, 1);
      });
    }

    for (const fault of [...STATUSES, ...WIRE_FAULTS].filter((each) => !FINAL.has(each))) {
      test(`${passing}: ${fault} is made good by another; if there is none it is free of charge and names nobody`, async () => {
        const caller = await paidCaller(gateway);
        // Of two candidates, one whose fault passes is asked once more.
        const calls = isPassing(surface, fault) ? 3 : 2;
        const lost = await failing(caseOf(surface, fault, false), caller, calls);
        await assertRefused(caseOf(surface, fault, false), lost.answer, caller);
        const helped = await failing(caseOf(surface, fault, true), caller, 1);
        await assertServed(caseOf(surface, fault, true), helped.answer, caller);
        assert.deepEqual([lost.calls, helped.calls], [calls, 2]);
      });
    }

    test('R-010 R-011: a success names nobody', async () => {
      const caller = await paidCaller(gateway);
      const asked = caseOf(surface, 'none', true);
      await assertServed(asked, await send(asked, caller), caller);
    });

    if (!surface.isStream) return;
    test('R-010 R-011 R-034: a failure after the first byte is told in a frame that names nobody', async () => {
      const caller = await paidCaller(gateway);
      const asked = caseOf(surface, 'none', false);
      surface.bad.failLate();
      const { path, body } = targetOf(asked);
      await using stream = await OpenStream.open(gateway, path, { key: caller.key, body });
      const answer = await stream.rest();
      assert.equal(answer.status, 200);
      assert.ok(answer.text.includes('"One"'), answer.text);
      assert.match(answer.text, FAILURE_FRAMES[surface.format]);
      const isSplit = surface.format === 'messages' && surface.isPassed;
      const text = isSplit ? answer.text.slice(answer.text.lastIndexOf('event: ')) : answer.text;
      assertNamesNobody({ ...answer, text, status: 0 }, asked);
      assert.ok((await spentInTheEnd(gateway, caller)) > 0);
    });
  });
}

test('R-068 R-509 R-510 R-011: silence is made good by another; if there is none it is a timeout', async () => {
  const silent = cases.filter(({ fault }) => fault === 'silence');
  await Promise.all(
    silent.map(async (asked) => {
      const caller = await paidCaller(gateway);
      const { answer } = await failing(asked, caller, asked.hasGood ? 1 : 2);
      await (asked.hasGood ? assertServed : assertRefused)(asked, answer, caller);
    }),
  );
});

test('R-010 R-011: what a caller reads about models, requests and money names nobody', async () => {
  const [surface] = surfaces;
  assert.ok(surface !== undefined);
  const asked = caseOf(surface, 'none', true);
  const caller = await paidCaller(gateway);
  const { headers } = await send(asked, caller);
  for (const path of [
    '/v1/models',
    `/v1/models/${asked.model}`,
    `/v1/requests/${headers['x-request-id']}`,
    '/v1/usage',
    '/v1/credits/transactions',
  ]) {
    const answer = await gateway.call('GET', path, { key: caller.key });
    assert.equal(answer.status, 200, answer.text);
    assertNamesNobody(answer, asked);
  }
});
