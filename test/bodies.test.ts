import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { ADMIN_TOKEN, type Answer, Gateway } from './support/gateway.ts';
import { requestText, sendRaw } from './support/raw-http.ts';

let gateway: Gateway;
before(async () => {
  gateway = await Gateway.start();
});
after(() => gateway.stop());
afterEach(() => gateway.assertBooksBalance());

function refused(answer: Answer, status: number, code: string): void {
  assert.deepEqual([answer.status, answer.json?.error.code], [status, code], answer.text);
}

function newAccount(raw: string | Buffer, headers: Record<string, string> = {}): Promise<Answer> {
  return gateway.call('POST', '/api/admin/accounts', { key: ADMIN_TOKEN, raw, headers });
}

describe('content', () => {
  for (const text of [
    '',
    ' ',
    '{',
    '{"name":"x"',
    "{'name':'x'}",
    '{"name":"x"}}',
    '{"name":"x",}',
    'name',
    '\u0000',
  ]) {
    test(`R-076: ${JSON.stringify(text)} is not JSON`, async () => {
      refused(await newAccount(text), 400, 'invalid_json');
    });
  }

  for (const text of ['[]', '[{"name":"x"}]', 'null', 'true', '3', '"name"']) {
    test(`R-077: ${text} is JSON but no object`, async () => {
      const { key } = await gateway.newCaller();
      refused(await newAccount(text), 400, 'invalid_json');
      refused(await gateway.call('POST', '/v1/estimate', { key, raw: text }), 400, 'invalid_json');
    });
  }

  for (const body of [{ name: 3 }, { name: ['x'] }, { name: 'x', email: 3 }, { name: 'x', groups: 'default' }, {}]) {
    test(`R-078: ${JSON.stringify(body)} has a field of the wrong type`, async () => {
      refused(await newAccount(JSON.stringify(body)), 400, 'invalid_parameter');
    });
  }

  test('R-079: a body without a content type is taken for JSON', async () => {
    const answer = await sendRaw(
      gateway.url,
      requestText('POST /api/admin/accounts', [`Authorization: Bearer ${ADMIN_TOKEN}`], '{"name":"untyped"}'),
    );
    assert.deepEqual([answer.status, answer.json.name], [200, 'untyped']);
  });

  for (const type of [
    'application/json',
    'APPLICATION/JSON',
    'application/json; charset=utf-8',
    'application/a+json',
  ]) {
    test(`R-079: ${type} is JSON`, async () => {
      assert.equal((await newAccount('{"name":"typed"}', { 'content-type': type })).status, 200);
    });
  }

  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'json',
    ';;',
  ]) {
    test(`R-079: ${type} is not JSON, whatever the body looks like`, async () => {
      refused(await newAccount('{"name":"typed"}', { 'content-type': type }), 400, 'unsupported_content_type');
    });
  }
});

describe('encodings', () => {
  const PRICE_LIST = '/api/hub/public/models';
  let key: string;
  before(async () => {
    ({ key } = await gateway.newCaller({ key: { rpm: 1_000_000 } }));
  });

  for (const [accepted, encoding] of [
    ['gzip', 'gzip'],
    ['br', 'br'],
    ['gzip, deflate, br, zstd', 'br'],
    ['GZIP', 'gzip'],
    ['br;q=0, gzip;q=0.5', 'gzip'],
    ['gzip;q=0', null],
    ['br; q=0.000', null],
    ['identity', null],
    ['deflate', null],
    ['x-gzip-not, brr', null],
  ] as const) {
    test(`R-029: "${accepted}" is answered with ${encoding ?? 'no encoding'}`, async () => {
      for (const path of ['/v1/models', PRICE_LIST]) {
        const plain = await gateway.call('GET', path, { key });
        const headers = { 'accept-encoding': accepted, authorization: `Bearer ${key}` };
        const encoded = await fetch(gateway.url + path, { headers });
        assert.equal(encoded.headers.get('content-encoding'), encoding);
        assert.match(encoded.headers.get('vary') ?? '', /accept-encoding/);
        assert.equal(await encoded.text(), plain.text);
      }
    });
  }

  test('R-029: who asks for no encoding gets none', async () => {
    for (const path of ['/v1/models', PRICE_LIST, '/openapi.json', '/healthz']) {
      assert.equal((await gateway.call('GET', path, { key })).headers['content-encoding'], undefined);
    }
  });

  for (const encoding of ['gzip', 'br', 'deflate', 'gzip, identity', 'x']) {
    test(`R-028: a body in the encoding ${encoding} is refused`, async () => {
      const options = { key: ADMIN_TOKEN, headers: { 'content-encoding': encoding }, body: { name: 'encoded' } };
      refused(await gateway.call('POST', '/api/admin/accounts', options), 400, 'unsupported_content_encoding');
    });
  }

  for (const encoding of ['identity', 'Identity']) {
    test(`R-028: a body in the encoding ${encoding} is taken as it is`, async () => {
      const options = { key: ADMIN_TOKEN, headers: { 'content-encoding': encoding }, body: { name: 'plain' } };
      assert.equal((await gateway.call('POST', '/api/admin/accounts', options)).status, 200);
    });
  }
});

describe('JSON', () => {
  const nested = (levels: number) => `{"name":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;

  test('JSON of 64 levels is read, and found wrong for its field', async () => {
    refused(await newAccount(nested(64)), 400, 'invalid_parameter');
  });

  for (const [what, text] of [
    ['of 65 levels', nested(65)],
    ['of 100 000 levels', nested(100_000)],
    ['of 100 000 objects', '{"a":'.repeat(100_000)],
    ['of 100 000 brackets that nothing closes', '['.repeat(100_000)],
  ] as const) {
    test(`R-050: JSON ${what} is refused`, async () => {
      refused(await newAccount(text), 400, 'invalid_json');
    });
  }

  test('brackets inside a text are not levels', async () => {
    assert.equal((await newAccount(JSON.stringify({ name: `${'["\\{'.repeat(50)}` }))).status, 200);
  });

  for (const [what, bytes] of [
    ['a byte that begins nothing', [0x80]],
    ['a slash in two bytes', [0xc0, 0xaf]],
    ['half of a surrogate pair', [0xed, 0xa0, 0x80]],
    ['a character that is cut off', [0xf0, 0x9f, 0x98]],
    ['a character beyond the last', [0xf5, 0x80, 0x80, 0x80]],
  ] as const) {
    test(`R-027: ${what} is not valid UTF-8 and is refused`, async () => {
      const parts = [Buffer.from('{"name":"a'), Buffer.from(bytes), Buffer.from('b"}')];
      refused(await newAccount(Buffer.concat(parts)), 400, 'invalid_json');
    });
  }

  for (const name of [
    'naïve Ünïcode',
    'שלום עולם',
    '👩‍👩‍👧‍👦 family',
    'e\u0301 combined',
    '\u{10ffff}',
    "'; drop table accounts; --",
  ]) {
    test(`R-027: the name ${name} comes back unchanged`, async () => {
      const made = await newAccount(JSON.stringify({ name }));
      assert.deepEqual([made.status, made.json.name], [200, name]);
      assert.equal((await gateway.admin('GET', `/accounts/${made.json.id}`)).json.name, name);
    });
  }
});

describe('hostile values', () => {
  const TEXTS = [
    'a\0b',
    '\ud800',
    'x\udc00y',
    '\u202egnp.exe',
    '\u2066x',
    // Longer than any field may be.
    'x'.repeat(50_000),
    '',
    '../../etc',
    '__proto__',
  ];
  const VALUES = [...TEXTS, -1, 0, 0.1, 1e308, 2 ** 53, true, [], {}, [null], ['a\0b'], { a: { b: 1 } }];
  /** What a request needs besides the hostile field to get past its checks. */
  const NEEDED: Record<string, object> = {
    '/api/admin/accounts': { name: 'x' },
    '/api/admin/accounts/{account_id}/keys': { name: 'x' },
    '/api/admin/accounts/{account_id}/grants': { credits: 1 },
    '/api/admin/oauth/clients': { name: 'x', redirect_uris: ['https://a.test/'], scopes: ['user:jobs'] },
  };

  interface Operation {
    readonly parameters: readonly { readonly name: string; readonly in: string }[];
    readonly requestBody?: { readonly content: Record<string, { readonly schema?: { readonly properties?: object } }> };
  }

  async function operations(): Promise<{ method: string; path: string; operation: Operation }[]> {
    const { json } = await gateway.call('GET', '/openapi.json');
    return Object.entries(json.paths as Record<string, Record<string, Operation>>).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
    );
  }

  async function assertHandled(method: string, path: string, body?: unknown): Promise<void> {
    const key = path.startsWith('/api/admin') ? ADMIN_TOKEN : (await caller).key;
    const answer = await gateway.call(method, path, { key, body });
    if (answer.status < 500) return;
    assert.fail(`${method} ${path} ${JSON.stringify(body)?.slice(0, 100)}: ${answer.text}`);
  }

  let caller: ReturnType<Gateway['newCaller']>;
  before(() => {
    caller = gateway.newCaller({ key: { rpm: 1_000_000 } });
  });

  test('R-027, R-050: no text in a path or a query of any route is a fault of ours', async () => {
    const texts = ['%00', 'a%00b', '%f0%9f%98%80', '%ed%a0%80', 'x'.repeat(2049), '..%2f', "'--", '-1', '1e999'];
    for (const { method, path, operation } of await operations()) {
      const queries = operation.parameters.filter((parameter) => parameter.in === 'query');
      const plain = path.replace(/\{\w+\}/g, 'none');
      for (const text of texts) {
        if (path.includes('{')) await assertHandled(method, path.replace(/\{\w+\}/g, text), {});
        for (const { name } of queries) await assertHandled(method, `${plain}?${name}=${text}&${name}=2`);
        for (const { name } of queries) await assertHandled(method, `${plain}?${name}=${text}`);
      }
    }
  });

  test('R-027, R-050: no value in a field of any route is a fault of ours', async () => {
    const { accountId, keyId } = await gateway.newCaller();
    for (const { method, path, operation } of await operations()) {
      const fields = Object.keys(operation.requestBody?.content['application/json']?.schema?.properties ?? {});
      const filled = path
        .replace('{account_id}', accountId)
        .replace('{key_id}', keyId)
        .replace(/\{\w+\}/, 'none');
      for (const field of fields) {
        for (const value of VALUES) await assertHandled(method, filled, { ...NEEDED[path], [field]: value });
      }
    }
  });

  test('R-027, R-050: no value in a field of an estimate is a fault of ours', async () => {
    const needed = { prompt: 'x', input: 'x', messages: [{ role: 'user', content: 'x' }], seconds: 1 };
    const fields = 'prompt input messages seconds duration n size quality resolution max_tokens generate_audio extra';
    const { json } = await gateway.call('GET', '/v1/models', { key: (await caller).key });
    for (const { id, endpoints } of json.data as { id: string; endpoints: string[] }[]) {
      const body = { ...needed, model: id, endpoint: endpoints[0] };
      for (const field of fields.split(' ')) {
        for (const value of VALUES) await assertHandled('POST', '/v1/estimate', { ...body, [field]: value });
      }
    }
  });

  for (const [what, name] of [
    ['a NUL', 'a\0b'],
    ['the first half of a pair', '\ud800'],
    ['the second half of a pair', 'x\udc00y'],
    ['an override of direction', '\u202egnp.exe'],
    ['an isolate of direction', '\u2066x'],
    ['a line break', 'a\nb'],
    ['201 characters', 'x'.repeat(201)],
  ] as const) {
    test(`R-027: a name with ${what} is refused, not changed`, async () => {
      refused(await newAccount(JSON.stringify({ name })), 400, 'invalid_parameter');
    });
  }
});
