import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { clipForm, earModel, TRANSCRIPTIONS } from '../../../../test/support/booth.ts';
import type { Fields } from '../../../../test/support/documents.ts';
import { type Answer, Gateway, type NewCaller } from '../../../../test/support/gateway.ts';
import { toneAs } from '../../../../test/support/media-samples.ts';
import { moneyOf, paidCaller } from '../../../../test/support/paid-calls.ts';
import { heard, SPEECH, voiceModel } from '../../../../test/support/speech-studio.ts';
import { upstreamHealth } from '../../../../test/support/upstream-health.ts';
import { GeminiEmulator } from '../emulator.ts';

const KEY = 'key-of-the-operator';
const UNTOUCHED = { available: 1000, reserved: 0, spent: 0 };
const PRICE = 5;
const wave = await toneAs('wav', { seconds: 0.5, sampleRate: 24_000 });

/** Work that is answered while the caller waits. */
interface Kind {
  readonly name: string;
  readonly upstreamModel: string;
  readonly model: (id: string, routes: readonly Fields[]) => Fields;
  readonly ask: (model: string, fields?: Record<string, string>) => Promise<Answer>;
  /** What the caller is told of a success. */
  readonly assertDone: (model: string) => Promise<void>;
  readonly unsupported: Record<string, string>;
}

const pricing = { mode: 'per_request', credits: { base: PRICE } };

const KINDS: readonly Kind[] = [
  {
    name: 'speech',
    upstreamModel: 'gemini-3.8-flash-tts',
    model: (id, routes) => voiceModel(id, { routes, pricing }),
    ask: (model, fields = {}) =>
      gateway.call('POST', SPEECH, { key: caller.key, body: { model, input: 'Good day.', ...fields } }),
    assertDone: async (model) => {
      const sound = await heard(gateway, caller, { model });
      assert.deepEqual([sound.status, sound.isCut], [200, false]);
      assert.ok(sound.bytes.equals(wave));
      assert.doesNotMatch(JSON.stringify(sound.headers), /gemini|google|upstream-marker/i);
    },
    unsupported: { response_format: 'mp3' },
  },
  {
    name: 'a-transcript',
    upstreamModel: 'gemini-3.5-transcribe',
    model: (id, routes) => earModel(id, [], { routes, pricing }),
    ask: (model, fields = {}) =>
      gateway.call('POST', TRANSCRIPTIONS, { key: caller.key, ...clipForm(wave, { model, ...fields }) }),
    assertDone: async (model) => {
      const form = clipForm(wave, { model, response_format: 'verbose_json', 'timestamp_granularities[]': 'word' });
      const answer = await gateway.call('POST', TRANSCRIPTIONS, { key: caller.key, ...form });
      assert.equal(answer.status, 200, answer.text);
      assert.equal(answer.json.text, 'Hello there.');
      assert.deepEqual(answer.json.words?.[1], { word: 'there.', start: 0.5, end: 0.9 });
      assert.doesNotMatch(answer.text, /gemini|google|upstream-marker/i);
    },
    unsupported: { prompt: 'Names' },
  },
];

// The vendor in the whole program: what is answered while the caller waits, and every way in which that can end.
let gateway: Gateway;
let first: GeminiEmulator;
let second: GeminiEmulator;
let caller: NewCaller;
before(async () => {
  gateway = await Gateway.start();
});
after(() => gateway.stop());

beforeEach(async () => {
  const samples = { wave, samples: wave.subarray(44) };
  [first, second] = [new GeminiEmulator({ apiKey: KEY, samples }), new GeminiEmulator({ apiKey: KEY, samples })];
  await Promise.all([first.start(), second.start()]);
  await configure(60);
  caller = await paidCaller(gateway);
});
afterEach(async () => {
  await gateway.assertBooksBalance();
  await Promise.all([first.stop(), second.stop()]);
});

function configure(timeout_seconds: number): Promise<unknown> {
  const upstreams = [first, second].map(({ url }, at) => {
    return { id: `gemini-${at}`, vendor: 'gemini', base_url: url, api_key: KEY, priority: 9 - at, timeout_seconds };
  });
  const models = KINDS.map(({ name, model, upstreamModel }) =>
    model(
      `studio/${name}`,
      upstreams.map(({ id }) => ({ upstream: id, model: upstreamModel })),
    ),
  );
  return gateway.putConfig({ upstreams, models });
}

const asked = () => [first.sent('POST').length, second.sent('POST').length];
const paid = (times: number) => ({ available: 1000 - times * PRICE, reserved: 0, spent: times * PRICE });

for (const { name, ask, assertDone, unsupported } of KINDS) {
  const model = `studio/${name}`;
  describe(name, () => {
    test('is answered with what the vendor made, and paid', async () => {
      await assertDone(model);
      assert.deepEqual(asked(), [1, 0]);
      assert.deepEqual(await moneyOf(gateway, caller), paid(1));
    });

    test('is refused with a field that the model cannot take, before anything is held', async () => {
      const answer = await ask(model, unsupported);
      assert.deepEqual([answer.status, answer.json.error.code], [400, 'unsupported_parameter'], answer.text);
      assert.deepEqual(asked(), [0, 0]);
      assert.deepEqual(await moneyOf(gateway, caller), UNTOUCHED);
    });

    for (const [fault, code, script] of [
      ['a client’s fault', 'upstream_rejected', { kind: 'error', error: 'invalid' }],
      ['policy', 'content_rejected', { kind: 'policy' }],
    ] as const) {
      test(`that is refused for ${fault} costs nothing and goes nowhere else`, async () => {
        first.script(script);
        const answer = await ask(model);
        assert.deepEqual([answer.status, answer.json.error.code], [400, code], answer.text);
        assert.deepEqual(asked(), [1, 0]);
        assert.deepEqual(await moneyOf(gateway, caller), UNTOUCHED);
      });
    }

    for (const error of ['rate', 'unavailable', 'bad key', 'not found'] as const) {
      test(`that meets "${error}" is made by another upstream`, async () => {
        first.script({ kind: 'error', error });
        await assertDone(model);
        assert.deepEqual(asked(), [1, 1]);
        assert.deepEqual(await moneyOf(gateway, caller), paid(1));
      });
    }

    test('that meets an account out of money is made by another, and the account rests', async () => {
      first.isBroke = true;
      for (const _ of [1, 2]) await assertDone(model);
      assert.deepEqual(asked(), [1, 2]);
      assert.equal((await upstreamHealth(gateway, 'gemini-0')).whole.state, 'open');
      assert.deepEqual(await moneyOf(gateway, caller), paid(2));
    });

    for (const fault of ['reset', 'reset in the body', 'wrong content type'] as const) {
      test(`whose answer is lost (${fault}) is charged once`, async () => {
        first.script({ kind: 'fault', fault });
        await assertDone(model);
        assert.deepEqual(await moneyOf(gateway, caller), paid(1));
      });
    }

    test('whose upstream is silent is made by another in time', async () => {
      await configure(1);
      first.script({ kind: 'fault', fault: 'silence' });
      await assertDone(model);
      assert.deepEqual(asked(), [1, 1]);
      assert.deepEqual(await moneyOf(gateway, caller), paid(1));
    });
  });
}
