import assert from 'node:assert/strict';
import { after, afterEach, before, describe, type TestContext, test } from 'node:test';
import { JSON_INLINE_MAX, JSON_NAMES_MAX, JSON_VALUES_MAX, NATIVE_BODY_BYTES_MAX } from '../src/limits.ts';
import { OpenAiEmulator } from '../src/vendors/openai/emulator.ts';
import { type Answer, Gateway, type NewCaller } from './support/gateway.ts';
import { paidCaller, tokenModel } from './support/paid-calls.ts';

const CHAT = '/v1/chat/completions';
const NATIVE = '/v1beta/models/none:generateContent';

let gateway: Gateway;
let caller: NewCaller;
const upstream = new OpenAiEmulator({ apiKey: 'key-of-the-operator', isLenient: true });
before(async () => {
  await upstream.start();
  gateway = await Gateway.start();
  await gateway.putConfig({
    upstreams: [{ id: 'up', vendor: 'openai', base_url: upstream.url, api_key: 'key-of-the-operator' }],
    models: [tokenModel('talker', ['up'], { max_output_tokens: 100 })],
  });
  caller = await paidCaller(gateway);
});
after(async () => {
  await gateway.stop();
  await upstream.stop();
});
afterEach(() => gateway.assertBooksBalance());

function post(path: string, raw: string | Buffer): Promise<Answer> {
  return gateway.call('POST', path, { key: caller.key, raw });
}

function refused(answer: Answer, status: number, code: string): void {
  assert.deepEqual([answer.status, answer.json?.error.code], [status, code], answer.text);
}

/** The texts that the thread of the event loop has parsed since; each thread has a JSON of its own. */
function parsedHere(t: TestContext): () => string[] {
  const { mock } = t.mock.method(JSON, 'parse');
  return () => mock.calls.map(({ arguments: [text] }) => String(text));
}

/** A chat for a model that is not there, of so many values. */
function chatOf(values: number, model = 'none'): string {
  const rest = values - 7;
  return `{"model":"${model}","messages":[{"role":"user","content":"Hi"}],"crowd":[${Array(rest).fill('1').join()}]}`;
}

function chatOfBytes(bytes: number): string {
  const body = (pad: string) => `{"model":"none","messages":[{"role":"user","content":"Hi"}],"pad":"${pad}"}`;
  return body('x'.repeat(bytes - body('').length));
}

describe('where a body is parsed', () => {
  const pad = 'x'.repeat(JSON_INLINE_MAX.bytes);
  const ROUTES: readonly (readonly [path: string, body: object, code: string])[] = [
    [CHAT, { model: 'none', messages: [{ role: 'user', content: 'Hi' }] }, 'model_not_found'],
    ['/v1/estimate', { endpoint: 'chat', model: 'none' }, 'model_not_found'],
    ['/v1/estimate', { endpoint: 'native', model: 'none' }, 'model_not_found'],
    ['/v1/images/generations', { model: 'none', prompt: 'x' }, 'invalid_parameter'],
    ['/v1/images/edits', { model: 'none', prompt: 'x', images: ['https://a.test/a.png'] }, 'invalid_parameter'],
    ['/v1/videos', { model: 'none', prompt: 'x' }, 'invalid_parameter'],
    ['/v1/audio/speech', { model: 'none', input: 'x' }, 'invalid_parameter'],
    ['/v1/audio/music', { model: 'none', prompt: 'x' }, 'invalid_parameter'],
    ['/v1/audio/transcriptions', { model: 'none', url: 'https://a.test/a.mp3' }, 'invalid_parameter'],
    [NATIVE, { contents: [] }, 'model_not_found'],
  ];
  for (const [path, body, code] of ROUTES) {
    test(`${path} parses ${JSON.stringify(body)} with a long text in a thread`, async (t) => {
      const parsed = parsedHere(t);
      const answer = await post(path, JSON.stringify({ ...body, pad }));
      assert.equal(answer.json.error.code, code, answer.text);
      const longest = Math.max(...parsed().map(({ length }) => length));
      assert.ok(longest < JSON_INLINE_MAX.bytes, `${longest} characters were parsed here`);
    });
  }

  test('operators’ bodies are no exception', async (t) => {
    const parsed = parsedHere(t);
    const answer = await gateway.admin('POST', '/accounts', { name: pad });
    refused(answer, 400, 'invalid_parameter');
    assert.ok(parsed().every(({ length }) => length < JSON_INLINE_MAX.bytes));
  });

  test('256 KiB are parsed at once, and a byte more is not', async (t) => {
    const [most, more] = [chatOfBytes(JSON_INLINE_MAX.bytes), chatOfBytes(JSON_INLINE_MAX.bytes + 1)];
    const parsed = parsedHere(t);
    for (const body of [most, more]) refused(await post(CHAT, body), 404, 'model_not_found');
    assert.deepEqual([parsed().includes(most), parsed().includes(more)], [true, false]);
  });

  test(`${JSON_INLINE_MAX.values} values are parsed at once, and one more is not, however short`, async (t) => {
    const [most, more] = [chatOf(JSON_INLINE_MAX.values), chatOf(JSON_INLINE_MAX.values + 1)];
    const parsed = parsedHere(t);
    for (const body of [most, more]) refused(await post(CHAT, body), 404, 'model_not_found');
    assert.deepEqual([parsed().includes(most), parsed().includes(more)], [true, false]);
  });
});

describe('what is read in a thread', () => {
  const pad = `"pad":"${'é'.repeat(JSON_INLINE_MAX.bytes)}"`;
  const start = '{"model":"talker","messages":[{"role":"user","content":"Hi"}]';

  test('R-477: is forwarded as it was sent, with every number as it was written', async () => {
    const odd = '"zz":{"b":1.10,"a":[12345678901234567890,1e400,-0.0,-9000000000000000],"__proto__":{"c":1.0}}';
    const answer = await post(CHAT, `${start},${odd},${pad}}`);
    assert.equal(answer.status, 200, answer.text);
    const sent = upstream.requests.at(-1)?.bytes.toString('utf8') ?? '';
    assert.ok(sent.includes(`,${odd},${pad}`), sent.slice(0, 300));
  });

  test('many at once are each answered for what they ask', async () => {
    const kinds = Array.from({ length: 12 }, (_, at) => (['talker', 'none', ''] as const)[at % 3] ?? '');
    const answers = await Promise.all(kinds.map((model) => post(CHAT, chatOf(20_000, model))));
    const codes = { talker: undefined, none: 'model_not_found', '': 'missing_model' };
    assert.deepEqual(
      answers.map(({ json }) => json.error?.code),
      kinds.map((kind) => codes[kind]),
    );
  });

  for (const [what, text] of [
    ['no JSON', `{${pad}`],
    ['a list', `[{${pad}}]`],
    ['65 levels', `{"a":${'['.repeat(64)}${']'.repeat(64)},${pad}}`],
    ['no UTF-8', Buffer.concat([Buffer.from(`{${pad},"a":"`), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from('"}')])],
  ] as const) {
    test(`R-050, R-076, R-077: is refused if it is ${what}`, async () => {
      refused(await post(CHAT, text), 400, 'invalid_json');
      refused(await post(NATIVE, text), 400, 'bad_request_body');
    });
  }

  test('R-078: is refused if a field is of the wrong type', async () => {
    const answer = await post(CHAT, `${start},"temperature":"1",${pad}}`);
    refused(answer, 400, 'invalid_parameter');
    assert.equal(answer.json.error.param, 'temperature');
  });
});

describe('how much a body may hold', () => {
  test(`${JSON_VALUES_MAX} values pass, and one more is refused`, async () => {
    assert.equal((await post(CHAT, chatOf(JSON_VALUES_MAX, 'talker'))).status, 200);
    const answer = await post(CHAT, chatOf(JSON_VALUES_MAX + 1, 'talker'));
    refused(answer, 400, 'invalid_json');
    assert.match(answer.json.error.message, /more than 100000 values/);
  });

  test(`${JSON_NAMES_MAX} different names pass, and one more is refused`, async () => {
    const named = (count: number) =>
      `{"model":"none","messages":[{"role":"user"}]${Array.from({ length: count - 3 }, (_, at) => `,"k${at}":1`).join('')}}`;
    refused(await post(CHAT, named(JSON_NAMES_MAX)), 404, 'model_not_found');
    const answer = await post(CHAT, named(JSON_NAMES_MAX + 1));
    refused(answer, 400, 'invalid_json');
    assert.match(answer.json.error.message, /more than 3000 different names/);
  });

  test('two million small keys are refused on every kind of route', async () => {
    const body = `{${Array.from({ length: 2_000_000 }, (_, at) => `"k${at}":1`).join()}}`;
    assert.ok(body.length < NATIVE_BODY_BYTES_MAX);
    refused(await post(CHAT, body), 400, 'invalid_json');
    refused(await post('/v1/estimate', body), 400, 'invalid_json');
    refused(await post(NATIVE, body), 400, 'bad_request_body');
  });

  test('the native format has the same bounds, above the size that is read at once and below it', async () => {
    const contents = (values: number, item: string) =>
      `{"contents":[${Array(values - 2)
        .fill(item)
        .join()}]}`;
    for (const item of ['1', '12345']) {
      refused(await post(NATIVE, contents(JSON_VALUES_MAX, item)), 404, 'model_not_found');
      refused(await post(NATIVE, contents(JSON_VALUES_MAX + 1, item)), 400, 'bad_request_body');
    }
  });
});
