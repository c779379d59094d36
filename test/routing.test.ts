import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { OpenAiEmulator, type Script } from '../src/vendors/openai/emulator.ts';
import type { Fields } from './support/documents.ts';
import { type Answer, Gateway, type NewCaller } from './support/gateway.ts';
import { chatBody, paidCaller, spentInTheEnd, tokenModel } from './support/paid-calls.ts';
import { until } from './support/postgres.ts';

/** Takes so many seconds of the gateway's clock for each request. */
class PacedEmulator extends OpenAiEmulator {
  seconds = 0;

  protected override async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    gateway.clock.advance(this.seconds);
    await super.serve(request, response);
  }
}

const MODEL = 'talker';
const CHEAP = { input_per_k: 0.5, output_per_k: 1 };
const DEAR = { input_per_k: 0.6, output_per_k: 1 };
const BROKEN: Script = { kind: 'error', error: 'broken' };

let gateway: Gateway;
const first = new PacedEmulator();
const second = new PacedEmulator();
before(async () => {
  await Promise.all([first.start(), second.start()]);
  gateway = await Gateway.start();
});
after(async () => {
  await gateway.stop();
  await Promise.all([first.stop(), second.stop()]);
});

let caller: NewCaller;
let tests = 0;
beforeEach(async () => {
  tests++;
  caller = await paidCaller(gateway);
  for (const emulator of [first, second]) {
    emulator.requests.length = 0;
    emulator.seconds = 0;
  }
});
afterEach(() => gateway.assertBooksBalance());

/** Upstreams with names of this test's own: what was measured before says nothing of them. */
async function route(routing: string | undefined, routes: readonly [Fields, Fields] = [{}, {}]): Promise<void> {
  const [one, two] = routes;
  const upstreams = [
    { id: `first-${tests}`, vendor: 'openai', base_url: first.url },
    { id: `second-${tests}`, vendor: 'openai', base_url: second.url },
  ];
  const served = [
    { upstream: `first-${tests}`, model: 'wire-name', ...one },
    { upstream: `second-${tests}`, model: 'wire-name', ...two },
  ];
  const model = tokenModel(MODEL, [], { routes: served, ...(routing !== undefined && { routing }) });
  await gateway.putConfig({ upstreams, models: [model] });
}

function chat(more: Fields = {}): Promise<Answer> {
  return gateway.call('POST', '/v1/chat/completions', { key: caller.key, body: chatBody(MODEL, more) });
}

async function chats(count: number, more: Fields = {}): Promise<void> {
  for (let calls = 0; calls < count; calls++) assert.equal((await chat(more)).status, 200);
}

function counts(): [number, number] {
  return [first.requests.length, second.requests.length];
}

function forget(): void {
  first.requests.length = 0;
  second.requests.length = 0;
}

/** Until both have a figure: two calls as a rule, more where one of them is an exploration and is sent to the same again. */
async function askBoth(more: Fields = {}): Promise<void> {
  await until(async () => {
    await chats(1, more);
    return first.requests.length > 0 && second.requests.length > 0;
  });
  forget();
}

describe('routing: weighted', () => {
  for (const routing of [undefined, 'weighted']) {
    test(`R-516: costs and speed change nothing: ${routing ?? 'unset'}`, async () => {
      await route(routing, [{ cost: CHEAP }, { cost: DEAR }]);
      second.seconds = 5;
      await chats(40);
      // That one of them stays away by chance is two to the power of minus 39.
      assert.ok(first.requests.length > 0 && second.requests.length > 0, String(counts()));
    });
  }

  test('an unset routing is not filled in: the document is as it was written', async () => {
    await route(undefined);
    const { json } = await gateway.admin('GET', '/config');
    assert.ok(!('routing' in json.models[0]), JSON.stringify(json.models[0]));
  });
});

describe('routing: cheapest', () => {
  for (const stream of [false, true]) {
    test(`R-516: the route that costs least for the request is asked, stream: ${stream}`, async () => {
      await route('cheapest', [{ cost: DEAR }, { cost: CHEAP }]);
      await chats(12, { stream });
      assert.deepEqual(counts(), [0, 12]);
    });
  }

  test('a route without a cost comes after those that state one', async () => {
    await route('cheapest', [{}, { cost: DEAR }]);
    await chats(12);
    assert.deepEqual(counts(), [0, 12]);
  });

  test('equal costs share by weight', async () => {
    await route('cheapest', [{ cost: CHEAP }, { cost: CHEAP }]);
    await chats(40);
    assert.ok(first.requests.length > 0 && second.requests.length > 0, String(counts()));
  });

  test('R-509: when the cheapest fails the next is asked, and while its breaker is open only that', async () => {
    await route('cheapest', [{ cost: CHEAP }, { cost: DEAR }]);
    first.script(BROKEN, BROKEN, BROKEN);
    await chats(3);
    assert.deepEqual(counts(), [3, 3]);
    await chats(5);
    assert.deepEqual(counts(), [3, 8]);
  });

  test('a route that states no cost beside one that does is warned of', async () => {
    await route('cheapest', [{ cost: CHEAP }, {}]);
    const { json: document } = await gateway.admin('GET', '/config');
    const { json } = await gateway.admin('PUT', '/config', document);
    assert.deepEqual(json.warnings, ['models[0].routes[1]: states no cost, so it is asked after those that do']);
  });

  test('a model of which no route states a cost is refused, at its line', async () => {
    const text = [
      'upstreams:',
      `  - { id: up, vendor: openai, base_url: "${first.url}" }`,
      'models:',
      '  - id: m',
      '    modality: chat',
      '    owned_by: house',
      '    endpoints: [chat]',
      '    pricing: { mode: per_token, credits: { input_per_k: 1, output_per_k: 1 } }',
      '    routing: cheapest',
      '    routes: [{ upstream: up, model: x }]',
    ].join('\n');
    const raw = { key: 'admin-token-of-the-tests', headers: { 'content-type': 'application/yaml' } };
    const answer = await gateway.call('PUT', '/api/admin/config', { ...raw, raw: text });
    assert.equal(answer.status, 400, answer.text);
    assert.match(answer.text, /models\[0\]\.routing \(line 9:5\): expected a route with a cost/);
    const unknown = await gateway.call('PUT', '/api/admin/config', { ...raw, raw: text.replace('cheapest', 'cheap') });
    assert.match(unknown.text, /line 9.*weighted.*cheapest.*fastest/s);
  });
});

describe('routing: fastest', () => {
  for (const stream of [false, true]) {
    test(`R-516: the faster one is asked, and both are measured for it, stream: ${stream}`, async () => {
      await route('fastest');
      first.seconds = 3;
      await askBoth({ stream });
      await chats(60, { stream });
      // A fortieth is expected to go to the slow one; a third of them is out of the reach of chance.
      assert.ok(first.requests.length < 20, String(counts()));
      const { data } = (await gateway.admin('GET', '/upstreams')).json;
      const { latency } = data[0].upstream_models[0];
      const [measured, other] = stream ? ['first_piece_ms', 'result_ms'] : ['result_ms', 'first_piece_ms'];
      assert.deepEqual([latency[measured], latency[other]], [3_000, null]);
    });
  }

  test('a slow upstream that has recovered is found out by exploration and gets its share back', async () => {
    await route('fastest');
    first.seconds = 3;
    await askBoth();
    first.seconds = 0;
    second.seconds = 0.5;
    await until(async () => {
      await chats(1);
      return first.requests.length > 0;
    });
    gateway.clock.advance(600);
    forget();
    await until(async () => {
      await chats(1);
      return first.requests.length > 0;
    });
    forget();
    await chats(60);
    assert.ok(second.requests.length < 20, String(counts()));
  });

  test('one that answers with faults at once is no faster for that', async () => {
    await route('fastest');
    second.seconds = 2;
    await askBoth();
    first.script(BROKEN, BROKEN, BROKEN);
    await chats(3);
    assert.equal(second.requests.length, 3);
  });

  test('one that takes long to fail is slow, although it never answers', async () => {
    await route('fastest');
    second.seconds = 1;
    await askBoth();
    first.seconds = 30;
    first.script(BROKEN);
    await until(async () => {
      await chats(1);
      return first.requests.length > 0;
    });
    forget();
    await chats(40);
    assert.ok(first.requests.length < 14, String(counts()));
  });

  test('jobs are timed from the submission to the result', async () => {
    const pictures = {
      modality: 'image',
      endpoints: ['images'],
      pricing: { mode: 'per_image', credits: { base: 1 } },
      accepts: { sizes: ['1024x1024'] },
    };
    const upstreams = [first, second].map(({ url }, place) => ({
      id: `${place}-${tests}`,
      vendor: 'openai',
      base_url: url,
    }));
    const routes = upstreams.map(({ id }) => ({ upstream: id, model: 'gpt-image-1' }));
    const model = tokenModel('painter', [], { ...pictures, routes, routing: 'fastest', max_output_tokens: undefined });
    await gateway.putConfig({ upstreams, models: [model] });
    first.seconds = 9;
    for (let jobs = 0; jobs < 20; jobs++) {
      const body = { model: 'painter', prompt: 'a gate', size: '1024x1024' };
      const { json, text } = await gateway.call('POST', '/v1/images/generations', { key: caller.key, body });
      await until(async () => {
        gateway.clock.advance(0.1);
        return (await gateway.call('GET', `/v1/jobs/${json.id}`, { key: caller.key })).json.status === 'succeeded';
      }).catch((error: unknown) => Promise.reject(new Error(text, { cause: error })));
    }
    const submissions = [first, second].map(
      ({ requests }) => requests.filter(({ method }) => method === 'POST').length,
    );
    assert.ok((submissions[0] ?? 0) >= 1 && (submissions[0] ?? 0) < 10, String(submissions));
  });
});

test('no caller is told how a model is routed, nor a route’s cost', async () => {
  await route('cheapest', [{ cost: CHEAP }, { cost: DEAR }]);
  await chats(1);
  const { key } = caller;
  for (const path of [
    '/v1/models',
    '/v1/models/talker',
    '/api/hub/public/models',
    '/v1/usage',
    '/v1/credits/transactions',
  ]) {
    const { status, text, headers } = await gateway.call('GET', path, { key });
    assert.equal(status, 200, `${path}: ${text}`);
    const told = `${text} ${JSON.stringify(headers)}`;
    assert.doesNotMatch(told, /routing|cheapest|"cost"|margin|first-|second-/, path);
  }
  assert.ok((await spentInTheEnd(gateway, caller)) > 0);
});
