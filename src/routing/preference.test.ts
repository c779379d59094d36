import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { charge, freezePrice, type Pricing } from '../pricing/index.ts';
import { EXPLORED_SHARE } from '../routing-limits.ts';
import type { Candidate } from './candidates.ts';
import { Latencies } from './latency.ts';
import { preferred, type RoutedRequest } from './preference.ts';

interface Drawn {
  readonly priority?: number;
  readonly cost?: Pricing['credits'] | undefined;
}

function candidate(upstreamId: string, { priority = 0, cost }: Drawn = {}): Candidate {
  return {
    upstreamId,
    vendor: { name: 'any', address: 'none', apiKey: 'none' },
    upstreamModel: 'wire-name',
    address: '',
    apiKey: '',
    dialect: undefined,
    credential: undefined,
    betas: undefined,
    serverTools: undefined,
    embeddingInputsMax: undefined,
    timeoutMs: 1_000,
    priority,
    weight: 1,
    accepts: {},
    cost: cost && { mode: 'per_token', currency: 'usd', credits: cost },
  };
}

const REQUEST: RoutedRequest = { units: { inputTokens: 1000, outputTokens: 10 }, selectors: {}, answer: 'whole' };
const health = (chance = 0.5, latencies = new Latencies(), nowMs = 0) => ({
  latencies,
  pacing: { random: () => chance, pause: async () => undefined },
  nowMs: () => nowMs,
});
const idsOf = (candidates: readonly Candidate[]) => candidates.map(({ upstreamId }) => upstreamId);

const drawn = fc
  .array(
    fc.record({
      priority: fc.integer({ min: 0, max: 2 }),
      cost: fc.option(fc.record({ input_per_k: fc.nat(3), output_per_k: fc.nat(300) }), { nil: undefined }),
    }),
    { maxLength: 8 },
  )
  .map((all) => all.sort((a, b) => b.priority - a.priority).map((one, place) => candidate(`up-${place}`, one)));

describe('weighted', () => {
  for (const routing of [undefined, 'weighted'] as const) {
    test(`is the order as it was drawn, untouched: ${routing}`, () => {
      const candidates = [candidate('a', { cost: { input_per_k: 9, output_per_k: 9 } }), candidate('b')];
      assert.equal(preferred(health(), { routing }, candidates, REQUEST), candidates);
    });
  }
});

describe('cheapest', () => {
  const cheapest = (candidates: readonly Candidate[], request = REQUEST) =>
    preferred(health(), { routing: 'cheapest' }, candidates, request);

  test('compares what the request’s own units cost, so that the request decides which is cheaper', () => {
    const reader = candidate('reads cheaply', { cost: { input_per_k: 1, output_per_k: 9 } });
    const writer = candidate('writes cheaply', { cost: { input_per_k: 2, output_per_k: 1 } });
    assert.deepEqual(idsOf(cheapest([writer, reader])), ['reads cheaply', 'writes cheaply']);
    const long = { ...REQUEST, units: { inputTokens: 10, outputTokens: 1000 } };
    assert.deepEqual(idsOf(cheapest([reader, writer], long)), ['writes cheaply', 'reads cheaply']);
  });

  test('a request that is too large to be priced leaves the draw to stand, and its refusal to the quote', () => {
    const candidates = ['a', 'b'].map((id) => candidate(id, { cost: { input_per_k: 1, output_per_k: 1 } }));
    assert.deepEqual(idsOf(cheapest(candidates, { ...REQUEST, units: { inputTokens: 1e12 } })), ['a', 'b']);
  });

  test('whatever routes cost: all stay, priority leads, then cost, unknown ones last, and equals as they were drawn', () => {
    fc.assert(
      fc.property(drawn, (candidates) => {
        const ordered = cheapest(candidates);
        assert.deepEqual(idsOf(ordered).sort(), idsOf(candidates).sort());
        const costAt = ({ cost }: Candidate) => cost && charge(freezePrice(cost, {}), REQUEST.units);
        for (const [place, one] of ordered.entries()) {
          const next = ordered[place + 1];
          if (next === undefined) return;
          assert.ok(one.priority >= next.priority);
          if (one.priority > next.priority) continue;
          const [cost, more] = [costAt(one), costAt(next)];
          assert.ok(more === undefined || (cost !== undefined && cost <= more), `${cost} before ${more}`);
          if (cost === more) assert.ok(candidates.indexOf(one) < candidates.indexOf(next));
        }
      }),
    );
  });
});

describe('fastest', () => {
  const fastest = (deps: ReturnType<typeof health>, candidates: readonly Candidate[], request = REQUEST) =>
    preferred(deps, { routing: 'fastest' }, candidates, request);
  const measured = (means: Readonly<Record<string, number>>) => {
    const latencies = new Latencies();
    for (const [id, ms] of Object.entries(means)) latencies.at(id, 'wire-name', 'result').note(ms, 0);
    return latencies;
  };
  const three = ['slow', 'middling', 'quick'].map((id) => candidate(id));

  test('goes by the measured mean', () => {
    const deps = health(0.5, measured({ slow: 900, middling: 500, quick: 100 }));
    assert.deepEqual(idsOf(fastest(deps, three)), ['quick', 'middling', 'slow']);
  });

  test('leaves those within a tenth of the best as they were drawn', () => {
    const deps = health(0.5, measured({ slow: 109, middling: 500, quick: 100 }));
    assert.deepEqual(idsOf(fastest(deps, three)), ['slow', 'quick', 'middling']);
  });

  test('tries one without a figure first, and last while such a trial is under way or has failed', () => {
    const latencies = measured({ slow: 900, quick: 100 });
    assert.deepEqual(idsOf(fastest(health(0.5, latencies), three)), ['middling', 'quick', 'slow']);
    latencies.at('middling', 'wire-name', 'result').begin(0);
    assert.deepEqual(idsOf(fastest(health(0.5, latencies), three)), ['quick', 'slow', 'middling']);
    assert.deepEqual(idsOf(fastest(health(0.5, latencies, 60_000), three)), ['middling', 'quick', 'slow']);
  });

  test('a small share of requests goes by weight alone', () => {
    const latencies = measured({ slow: 900, middling: 500, quick: 100 });
    assert.deepEqual(idsOf(fastest(health(EXPLORED_SHARE - 0.001, latencies), three)), idsOf(three));
    assert.deepEqual(idsOf(fastest(health(EXPLORED_SHARE, latencies), three)), ['quick', 'middling', 'slow']);
  });

  test('a stream is not judged by how long whole answers take, and a higher priority goes first however slow', () => {
    const stream = { ...REQUEST, answer: 'stream' } as const;
    const latencies = measured({ slow: 900, quick: 100 });
    assert.deepEqual(idsOf(fastest(health(0.5, latencies), three, stream)), idsOf(three));
    const prior = [candidate('slow', { priority: 1 }), candidate('quick')];
    assert.deepEqual(idsOf(fastest(health(0.5, latencies), prior)), ['slow', 'quick']);
  });

  test('attempts of calls are timed; a task is timed by what polls it', () => {
    const latencies = new Latencies();
    const [call] = fastest(health(0.5, latencies), [candidate('up')]);
    assert.equal(call?.latency, latencies.at('up', 'wire-name', 'result'));
    const [task] = fastest(health(0.5, latencies), [candidate('up')], { ...REQUEST, answer: 'task' });
    assert.equal(task?.latency, undefined);
  });
});
