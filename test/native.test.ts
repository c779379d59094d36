import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { GeminiEmulator } from '../src/vendors/gemini/emulator.ts';
import { type Answer, type CallOptions, Gateway } from './support/gateway.ts';
import { HELLO, hash, MARKER, MODELS, nativeDocument, post, UPSTREAM_KEY } from './support/native.ts';
import { moneyOf, paidCaller } from './support/paid-calls.ts';
import { RawConnection } from './support/raw-http.ts';

const BYTES_MAX = 32 * 1024 * 1024;
const COOLED_SECONDS = 3600;

const emulator = new GeminiEmulator({ apiKey: UPSTREAM_KEY, models: Object.values(MODELS), marker: MARKER });
let gateway: Gateway;
before(async () => {
  await emulator.start();
  gateway = await Gateway.start();
  await gateway.putConfig(nativeDocument(emulator));
});
after(async () => {
  await gateway.stop();
  await emulator.stop();
});
afterEach(() => gateway.assertBooksBalance());

function refused(answer: Answer, status: number, code: string): void {
  assert.deepEqual([answer.status, answer.json?.error.code], [status, code], answer.text);
}

/** To `/v1beta/models/…`, held to the contract. */
function send(key: string, target: string, options: CallOptions = {}): Promise<Answer> {
  return gateway.call('POST', `/v1beta/models/${target}`, { key, raw: HELLO, ...options });
}

const lastPath = () => emulator.requests.at(-1)?.path;
const wirePath = (model: string, action: string) => `/v1beta/models/${model}:${action}`;

describe('bodies', () => {
  const ODD_BODIES = [
    ['odd whitespace', '\r\n\t { "contents" :\n[ {"parts":[{"text":"Hi"}]\t} ] }  \n\n'],
    ['duplicate keys', '{"contents":[],"contents":[{"parts":[{"text":"a"}]}]}'],
    [
      'numbers that no double holds',
      '{"contents":[{"parts":[{"text":"a"}]}],"generationConfig":{"seed":12345678901234567890,"topP":1.0,"topK":1E2}}',
    ],
    ['keys in an odd order', '{"generationConfig":{"topK":1},"contents":[{"parts":[{"text":"a"}],"role":"user"}]}'],
    ['escapes and other scripts', '{"contents":[{"parts":[{"text":"\\u00e4 ä \\/ / \\ud83d\\ude00 😀 שלום"}]}]}'],
  ] as const;
  for (const [what, body] of ODD_BODIES) {
    for (const action of ['generateContent', 'countTokens', 'streamGenerateContent']) {
      test(`R-452: ${what} reach the upstream byte for byte through ${action}`, async () => {
        const { key } = await paidCaller(gateway);
        const before = emulator.requests.length;
        await post(gateway, key, `native:${action}`, { body });
        const received = emulator.requests[before]?.bytes ?? assert.fail('nothing was sent');
        assert.deepEqual([hash(received), received.toString('utf8')], [hash(body), body]);
      });
    }
  }

  const ANSWER =
    '{"usageMetadata":{"promptTokenCount":1,"promptTokenCount":7},\n\n "big":12345678901234567890, "x":1.0}\n';
  for (const [action, type] of [
    ['generateContent', 'application/json; charset=UTF-8'],
    ['countTokens', 'application/json;odd="Yes"'],
  ] as const) {
    test(`R-453: a success of ${action} comes back as its bytes, with its content type`, async () => {
      const { key } = await paidCaller(gateway);
      emulator.script({ kind: 'raw', contentType: type, body: ANSWER });
      const answer = await post(gateway, key, `native:${action}`);
      assert.deepEqual([answer.status, answer.headers['content-type']], [200, type]);
      assert.deepEqual([hash(answer.bytes), answer.text], [hash(ANSWER), ANSWER]);
    });
  }

  test('R-454: a success body may name the upstream’s version, and headers may not', async () => {
    const { key } = await paidCaller(gateway);
    const { json, headers } = await send(key, 'native:generateContent');
    assert.equal(json.modelVersion, `version-${MARKER}`);
    assert.doesNotMatch(JSON.stringify(headers), new RegExp(MARKER));
  });

  test('R-454: an error names nothing of the upstream', async () => {
    const { key } = await paidCaller(gateway);
    for (const error of ['invalid', 'rate', 'unavailable'] as const) {
      emulator.script({ kind: 'error', error });
      // What passes is asked once more.
      if (error === 'unavailable') emulator.script({ kind: 'error', error });
      const answer = await send(key, 'native:generateContent');
      assert.ok(answer.status >= 400);
      const told = answer.text + JSON.stringify(answer.headers);
      assert.doesNotMatch(told, new RegExp(`${MARKER}|gemini|google|wire-native|_ARGUMENT|RESOURCE`, 'i'));
      gateway.clock.advance(COOLED_SECONDS);
    }
    // The probe that closes the breaker: until then requests pass one at a time.
    assert.equal((await send(key, 'native:generateContent')).status, 200);
  });

  for (const raw of [
    '',
    '[]',
    '[{"contents":[]}]',
    'null',
    '3',
    '"x"',
    '{',
    '{"contents":[]}x',
    '\ufeff{}',
    "{'a':1}",
  ]) {
    test(`R-451: the body ${JSON.stringify(raw)} is no JSON object`, async () => {
      const { key } = await paidCaller(gateway);
      const before = emulator.requests.length;
      for (const action of ['generateContent', 'streamGenerateContent', 'countTokens']) {
        refused(await send(key, `native:${action}`, { raw }), 400, 'bad_request_body');
      }
      assert.equal(emulator.requests.length, before);
    });
  }

  test('R-451: nor is a large one that only begins like one, and others that come with it are read', async () => {
    const { key } = await paidCaller(gateway);
    const [broken, whole] = [`{"contents":"${'a'.repeat(1_000_000)}`, bodyOf(1_000_000)];
    const answers = await Promise.all(
      [broken, whole, `[${whole}]`, whole].map((raw) => send(key, 'native:countTokens', { raw })),
    );
    assert.deepEqual(
      answers.map(({ status, json }) => [status, json.error?.code]),
      [
        [400, 'bad_request_body'],
        [200, undefined],
        [400, 'bad_request_body'],
        [200, undefined],
      ],
    );
    assert.equal(hash(emulator.requests.at(-1)?.bytes ?? ''), hash(whole));
  });

  test('R-451: bytes that are no UTF-8 are no JSON object', async () => {
    const { key } = await paidCaller(gateway);
    const raw = Buffer.from('{"contents":[{"parts":[{"text":"\xe4"}]}]}', 'latin1');
    refused(await send(key, 'native:generateContent', { raw }), 400, 'bad_request_body');
  });

  for (const config of [
    '{"maxOutputTokens":"64"}',
    '{"maxOutputTokens":10000000,"candidateCount":8}',
    '{"topK":null}',
  ]) {
    test(`R-452: what is odd in the configuration ${config} is for the upstream to judge`, async () => {
      const { key } = await paidCaller(gateway, 1_000_000);
      const raw = `{"contents":[{"parts":[{"text":"Hi"}]}],"generationConfig":${config}}`;
      assert.equal((await send(key, 'native:generateContent', { raw })).status, 200);
      assert.equal(emulator.requests.at(-1)?.bytes.toString('utf8'), raw);
    });
  }

  /** A request of exactly this many bytes. */
  const bodyOf = (bytes: number) => HELLO.replace('Hi', 'x'.repeat(bytes - HELLO.length + 2));

  test('R-468: a body of 32 MiB is taken, and reaches the upstream whole', async () => {
    const { key } = await paidCaller(gateway);
    const body = bodyOf(BYTES_MAX);
    assert.equal((await send(key, 'native:countTokens', { raw: body })).status, 200);
    assert.equal(hash(emulator.requests.at(-1)?.bytes ?? ''), hash(body));
  });

  test('R-468: a body that is announced with one byte more is refused', async () => {
    const { key } = await paidCaller(gateway);
    refused(await send(key, 'native:generateContent', { raw: bodyOf(BYTES_MAX + 1) }), 413, 'request_too_large');
  });

  for (const [bytes, status, code] of [
    [BYTES_MAX, 200, undefined],
    [BYTES_MAX + 1, 413, 'request_too_large'],
  ] as const) {
    test(`R-468: a body of ${bytes} bytes in pieces that announce no length gets ${status}`, async () => {
      const { key } = await paidCaller(gateway);
      const body = Buffer.from(bodyOf(bytes));
      using connection = await RawConnection.open(gateway.url);
      const head = [`POST ${wirePath('native', 'countTokens')} HTTP/1.1`, 'Host: gateway.test', `X-Api-Key: ${key}`];
      await connection.send(`${[...head, 'Transfer-Encoding: chunked'].join('\r\n')}\r\n\r\n`);
      await connection.send(
        Buffer.concat([Buffer.from(`${bytes.toString(16)}\r\n`), body, Buffer.from('\r\n0\r\n\r\n')]),
      );
      const answer = await connection.answer();
      assert.deepEqual([answer.status, answer.json.error?.code], [status, code]);
    });
  }
});

describe('addresses', () => {
  for (const [number, target, model, action] of [
    ['R-455', 'ns/a:b:generateContent', 'ns/a:b', 'generateContent'],
    ['R-455', 'ns%2Fa:b:countTokens', 'ns/a:b', 'countTokens'],
    ['R-455', 'a:b:streamGenerateContent', 'a:b', 'streamGenerateContent'],
    ['R-456', 'a%3AgenerateContent', 'a', 'generateContent'],
    ['R-456', 'a%3acountTokens', 'a', 'countTokens'],
    ['R-456', 'ns%2Fa%3Ab%3AgenerateContent', 'ns/a:b', 'generateContent'],
    ['R-457', 'a%3Ab:countTokens', 'a:b', 'countTokens'],
    ['R-457', 'ns/a%3Ab:generateContent', 'ns/a:b', 'generateContent'],
  ] as const) {
    test(`${number}: ${target} addresses the model ${model} and the action ${action}`, async () => {
      const { key } = await paidCaller(gateway);
      const answer = await post(gateway, key, target);
      assert.equal(answer.status, 200, answer.text);
      assert.equal(lastPath()?.split('?')[0], wirePath(MODELS[model], action));
    });
  }

  test('R-457: an encoded colon stays in the model when a literal one follows', async () => {
    const { key } = await paidCaller(gateway);
    refused(await send(key, 'a%3AgenerateContent:countTokens'), 404, 'model_not_found');
  });

  test('the stable version in the place of v1beta is the same', async () => {
    const { key } = await paidCaller(gateway);
    const stable = (target: string) => gateway.call('POST', `/v1/models/${target}`, { key, raw: HELLO });
    const answer = await stable('ns/a%3Ab:generateContent?alt=json');
    assert.equal(answer.status, 200, answer.text);
    assert.equal(lastPath()?.split('?')[0], wirePath(MODELS['ns/a:b'], 'generateContent'));
    refused(await stable('native:embedContent'), 404, 'unsupported_action');
  });

  test('R-017: under the stable version a path without an action is no route, with and without a credential', async () => {
    const { key } = await paidCaller(gateway);
    for (const target of ['native', 'ns/a', ':countTokens', 'native?alt=a:b']) {
      for (const caller of [{ key }, {}]) {
        refused(await gateway.call('POST', `/v1/models/${target}`, { ...caller, raw: HELLO }), 404, 'not_found');
      }
    }
    refused(await gateway.call('POST', '/v1/models/native:', { key, raw: HELLO }), 404, 'unknown_route');
    refused(await gateway.call('POST', '/v1/models/native%3AcountTokens', { raw: HELLO }), 401, 'missing_token');
  });

  for (const method of ['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
    test(`R-458: ${method} is not routed`, async () => {
      const { key } = await paidCaller(gateway);
      const before = emulator.requests.length;
      const answer = await gateway.call(method, '/v1beta/models/native:generateContent', { key });
      assert.equal(answer.status, 404, answer.text);
      assert.equal((await gateway.call(method, '/v1beta/models', { key })).status, 404);
      assert.equal(emulator.requests.length, before);
    });
  }

  const OTHER_ACTIONS = ['embedContent', 'batchEmbedContents', 'batchGenerateContent', 'predict', 'predictLongRunning'];
  for (const action of [...OTHER_ACTIONS, 'upload', 'GenerateContent', 'generatecontent', 'constructor']) {
    test(`R-464: the action ${action} is not supported`, async () => {
      const { key } = await paidCaller(gateway);
      refused(await send(key, `native:${action}`), 404, 'unsupported_action');
      refused(await send(key, `no-such-model:${action}`), 404, 'unsupported_action');
    });
  }

  for (const path of [
    'models',
    'models/',
    'models/native',
    'models/:countTokens',
    'models/native:',
    'files',
    'x/native:countTokens',
  ]) {
    test(`R-465: /v1beta/${path} is no route`, async () => {
      const { key } = await paidCaller(gateway);
      refused(await gateway.call('POST', `/v1beta/${path}`, { key, raw: HELLO }), 404, 'unknown_route');
    });
  }

  test('R-150, R-466: a model is usable here only when its card lists native', async () => {
    const { key } = await paidCaller(gateway);
    const { json } = await gateway.call('GET', '/v1/models', { key });
    const cards: { id: string; endpoints: string[] }[] = json.data;
    assert.ok(cards.some((card) => card.id === 'chat-only'));
    for (const { id, endpoints } of cards) {
      const answer = await send(key, `${id}:countTokens`);
      if (endpoints.includes('native')) assert.equal(answer.status, 200, id);
      else refused(answer, 404, 'model_not_found');
    }
    refused(await send(key, 'no-such-model:countTokens'), 404, 'model_not_found');
  });
});

describe('credentials', () => {
  test('R-082: every call needs one, whatever it addresses', async () => {
    for (const target of ['native:countTokens', 'none:countTokens', 'native:embed', 'native', '']) {
      const { status, text, headers } = await post(gateway, '', target);
      assert.deepEqual([status, JSON.parse(text).error.code], [401, 'missing_token'], target);
      assert.equal(headers['www-authenticate'], 'Bearer');
    }
  });

  for (const place of ['authorization', 'x-api-key', 'x-partner-api-key', 'x-goog-api-key', 'api-key', 'key']) {
    test(`R-105: a key in ${place} is taken, and does not go upstream`, async () => {
      const { key } = await paidCaller(gateway);
      const value = place === 'authorization' ? `Bearer ${key}` : key;
      const [query, headers] = place === 'key' ? [`?key=${key}`, {}] : ['', { [place]: value }];
      const path = `/v1beta/models/native:generateContent${query}`;
      assert.equal((await gateway.call('POST', path, { raw: HELLO, headers })).status, 200);
      const { headers: sent, path: asked } = emulator.requests.at(-1) ?? assert.fail('nothing was sent');
      assert.equal(sent['x-goog-api-key'], UPSTREAM_KEY);
      assert.ok(!JSON.stringify([asked, sent]).includes(key));
    });
  }
});

describe('queries', () => {
  for (const [given, passed] of [
    ['b=2&a=1&b=3&b=2', 'b=2&a=1&b=3&b=2'],
    ['key=K&b=2&api_key=x&a=1&apikey=y&b=3&access_token=z', 'b=2&a=1&b=3'],
    ['key=K&key=K2&monkey=1&keys=2&api_keys=3', 'monkey=1&keys=2&api_keys=3'],
    ['%6Bey=K&a=1&ap%69_key=x', 'a=1'],
    ['a=%2F%20%3D+x&b=&c&d==&%61=1', 'a=%2F%20%3D+x&b=&c&d==&%61=1'],
    ['alt=json&a=1', 'alt=json&a=1'],
    ['a=1&alt=sse', 'a=1&alt=json'],
    ['%61lt=&a=1', 'alt=json&a=1'],
    ['key=K', ''],
  ] as const) {
    test(`R-467: ?${given} goes up as ?${passed}`, async () => {
      const { key } = await paidCaller(gateway);
      const headers = { authorization: `Bearer ${key}` };
      const answer = await post(gateway, key, `native:generateContent?${given}`, { headers });
      assert.equal(answer.status, 200, answer.text);
      const path = wirePath(MODELS.native, 'generateContent');
      assert.equal(lastPath(), passed === '' ? path : `${path}?${passed}`);
    });
  }

  for (const [given, passed] of [
    ['a=1&key=K&a=2', 'a=1&a=2&alt=sse'],
    ['alt=sse&a=1&a=2', 'alt=sse&a=1&a=2'],
    ['a=1&alt=json&a=2', 'a=1&alt=sse&a=2'],
  ] as const) {
    test(`R-467: ?${given} of a stream goes up as ?${passed}, since events are what is read`, async () => {
      const { key } = await paidCaller(gateway);
      const headers = { authorization: `Bearer ${key}` };
      const answer = await post(gateway, key, `native:streamGenerateContent?${given}`, { headers });
      assert.equal(answer.status, 200, answer.text);
      assert.equal(lastPath(), `${wirePath(MODELS.native, 'streamGenerateContent')}?${passed}`);
    });
  }
});

describe('queries that change the form of an answer', () => {
  const FORMS = ['alt=media', 'alt=proto', '$alt=proto', 'callback=x', 'fields=a', 'a=1&$fields=a&fields=b&a=1'];
  for (const query of FORMS) {
    test(`R-453, R-467: ?${query} goes up, and what comes of it comes back as it is`, async () => {
      const caller = await paidCaller(gateway, 10);
      const body = 'x({"candidates": []})';
      emulator.script({ kind: 'raw', contentType: 'text/javascript', body });
      const answer = await post(gateway, caller.key, `native:generateContent?${query}`);
      assert.deepEqual([answer.status, answer.headers['content-type'], answer.text], [200, 'text/javascript', body]);
      assert.equal(lastPath(), `${wirePath(MODELS.native, 'generateContent')}?${query}`);
      const { spent, reserved } = await moneyOf(gateway, caller);
      assert.ok(spent > 0 && reserved === 0, 'it is charged by what was counted here');
    });
  }

  test('R-467: a stream in another form than events is the caller’s fault, and the upstream stays in use', async () => {
    const caller = await paidCaller(gateway, 10);
    emulator.script({ kind: 'raw', contentType: 'application/x-protobuf', body: 'x' });
    const refusal = await post(gateway, caller.key, 'native:streamGenerateContent?$alt=proto');
    assert.deepEqual([refusal.status, JSON.parse(refusal.text).error.code], [400, 'upstream_rejected']);
    assert.deepEqual(await moneyOf(gateway, caller), { available: 10, reserved: 0, spent: 0 });
    assert.equal((await post(gateway, caller.key, 'native:streamGenerateContent')).status, 200);
  });

  test('R-467: frames that tell only what was asked for are passed on, and are whole', async () => {
    const { key } = await paidCaller(gateway, 10);
    emulator.script({ kind: 'frames', frames: ['data: {"modelVersion":"m"}\r\n\r\n', 'data: x()\r\n\r\n'] });
    const answer = await post(gateway, key, 'native:streamGenerateContent?fields=modelVersion');
    assert.equal(answer.text, 'data: {"modelVersion":"m"}\r\n\r\ndata: x()\r\n\r\n');
    assert.equal(lastPath(), `${wirePath(MODELS.native, 'streamGenerateContent')}?fields=modelVersion&alt=sse`);
  });
});

describe('headers', () => {
  const SENT = {
    'content-type': 'application/json; charset=UTF-8',
    accept: 'application/json;q=0.9, */*',
    'user-agent': 'caller/1',
    cookie: 'a=1',
    'x-goog-api-client': 'x',
    'x-goog-user-project': 'x',
    'x-forwarded-for': '192.0.2.1',
    'x-custom': 'x',
    'x-request-id': 'req-of-the-caller',
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  };

  for (const action of ['generateContent', 'streamGenerateContent', 'countTokens']) {
    test(`R-473: of the caller’s headers ${action} passes on Content-Type and Accept alone`, async () => {
      const { key } = await paidCaller(gateway);
      assert.equal((await send(key, `native:${action}`, { headers: SENT })).status, 200);
      const { host: _, connection: __, 'content-length': ___, ...rest } = emulator.requests.at(-1)?.headers ?? {};
      assert.deepEqual(rest, {
        'content-type': SENT['content-type'],
        accept: SENT.accept,
        'x-goog-api-key': UPSTREAM_KEY,
      });
    });

    test(`R-473: of the upstream’s headers ${action} hands back Content-Type alone`, async () => {
      const { key } = await paidCaller(gateway);
      const { headers } = await send(key, `native:${action}`);
      const upstreams = action === 'streamGenerateContent' ? 'text/event-stream' : 'application/json; charset=UTF-8';
      assert.equal(headers['content-type'], upstreams);
      assert.equal(headers.server, undefined);
      assert.doesNotMatch(JSON.stringify(headers), new RegExp(MARKER));
    });
  }
});

describe('answers and money', () => {
  test('R-459: generateContent answers one JSON document', async () => {
    const { key } = await paidCaller(gateway);
    emulator.script({ kind: 'answer', text: 'Good day.' });
    const { status, headers, json } = await send(key, 'native:generateContent');
    assert.equal(status, 200);
    assert.match(headers['content-type'] ?? '', /^application\/json\b/);
    assert.equal(json.candidates[0].content.parts[0].text, 'Good day.');
  });

  test('R-463: countTokens answers one document and leaves no trace in the ledger', async () => {
    const caller = await paidCaller(gateway, 5);
    const { json } = await send(caller.key, 'native:countTokens');
    assert.equal(json.totalTokens, 7);
    assert.deepEqual(await moneyOf(gateway, caller), { available: 5, reserved: 0, spent: 0 });
    const entries = await gateway.call('GET', '/v1/credits/transactions', { key: caller.key });
    assert.deepEqual(
      entries.json.data.map(({ type }: { type: string }) => type),
      ['grant'],
    );
  });

  test('R-463: countTokens is open to whoever has no credits, and generateContent is not', async () => {
    const { key } = await gateway.newCaller();
    assert.equal((await send(key, 'native:countTokens')).status, 200);
    refused(await send(key, 'native:generateContent'), 402, 'insufficient_credits');
  });

  test('R-471: the upstream’s counts of prompt, cached, candidates and thoughts are what is paid', async () => {
    const caller = await paidCaller(gateway, 10);
    const counts = { promptTokenCount: 100, cachedContentTokenCount: 60, candidatesTokenCount: 5 };
    emulator.script({ kind: 'answer', usageMetadata: { ...counts, thoughtsTokenCount: 20, totalTokenCount: 125 } });
    const answer = await send(caller.key, 'native:generateContent');
    const credits = (40 * 1 + 60 * 0.25 + 5 * 4 + 20 * 8) / 1000;
    assert.equal(answer.headers['x-credits-charged'], String(credits));
    assert.deepEqual(await moneyOf(gateway, caller), { available: 10 - credits, reserved: 0, spent: credits });
    const record = await gateway.call('GET', `/v1/requests/${answer.headers['x-request-id']}`, { key: caller.key });
    const tokens = { input_tokens: 40, cached_tokens: 60, output_tokens: 5, reasoning_tokens: 20 };
    assert.deepEqual([record.json.usage, record.json.credits], [{ ...tokens, requests: 1 }, credits]);
  });

  test('R-471: an answer without counts is counted here, and its record says so', async () => {
    const caller = await paidCaller(gateway);
    emulator.script({ kind: 'raw', body: '{"candidates":[{"content":{"parts":[{"text":"Good day"}]}}]}' });
    const answer = await send(caller.key, 'native:generateContent');
    const { json } = await gateway.call('GET', `/v1/requests/${answer.headers['x-request-id']}`, { key: caller.key });
    assert.equal(json.usage.estimated, true);
    assert.ok(json.usage.input_tokens > 0 && json.usage.output_tokens > 0);
    assert.equal((await moneyOf(gateway, caller)).spent, json.credits);
  });

  test('a call that fails costs nothing', async () => {
    const caller = await paidCaller(gateway, 10);
    emulator.script({ kind: 'error', error: 'unavailable' }, { kind: 'error', error: 'unavailable' });
    refused(await send(caller.key, 'native:generateContent'), 502, 'upstream_failed');
    gateway.clock.advance(COOLED_SECONDS);
    emulator.script({ kind: 'error', error: 'invalid' });
    refused(await send(caller.key, 'native:generateContent'), 400, 'upstream_rejected');
    assert.deepEqual(await moneyOf(gateway, caller), { available: 10, reserved: 0, spent: 0 });
  });
});
