import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { ADMIN_TOKEN, type Answer, Gateway } from './support/gateway.ts';
import { RawConnection, requestText, sendRaw } from './support/raw-http.ts';

let gateway: Gateway;
before(async () => {
  gateway = await Gateway.start();
});
after(() => gateway.stop());
afterEach(() => gateway.assertBooksBalance());

const MIB = 1024 * 1024;
const OPERATOR = `Authorization: Bearer ${ADMIN_TOKEN}`;
const CHUNKED = 'Transfer-Encoding: chunked';
const NEW_ACCOUNT = 'POST /api/admin/accounts';

function refused(answer: Answer, status: number, code: string): void {
  assert.deepEqual([answer.status, answer.json?.error.code], [status, code], answer.text);
}

/** A request that makes an account of this name. */
function making(name: string, headers: readonly string[] = []): string {
  return requestText(NEW_ACCOUNT, [OPERATOR, ...headers], JSON.stringify({ name }));
}

function newAccount(raw: string | Buffer): Promise<Answer> {
  return gateway.call('POST', '/api/admin/accounts', { key: ADMIN_TOKEN, raw });
}

let names = 0;
function newName(): string {
  return `edge-${++names}`;
}

async function isMade(name: string): Promise<boolean> {
  const { json } = await gateway.admin('GET', '/accounts?limit=100');
  return json.data.some((account: { name: string }) => account.name === name);
}

describe('what the parser refuses', () => {
  for (const [what, text, status = 400] of [
    ['no request at all', 'hello\r\n\r\n'],
    ['a request of HTTP/0.9', 'GET /healthz\r\n\r\n'],
    ['a request of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['the greeting of TLS', '\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03'],
    ['an unknown method', requestText('FETCH /healthz')],
    ['a method in lower case', requestText('get /healthz')],
    ['a space in the target', requestText('GET /health z')],
    ['a byte beyond ASCII in the target', requestText('GET /v1/models/\xe9')],
    ['a header without a colon', requestText('GET /healthz', ['X-Broken'])],
    ['a space before the colon', requestText('GET /healthz', ['X-Broken : 1'])],
    ['a folded header', requestText('GET /healthz', ['X-Broken: 1\r\n 2'])],
    ['line feeds alone', 'GET /healthz HTTP/1.1\nHost: gateway.test\n\n'],
    ['two lengths', requestText(NEW_ACCOUNT, [OPERATOR, 'Content-Length: 3'], '{}')],
    ['a length and chunks', requestText(NEW_ACCOUNT, [OPERATOR, 'Content-Length: 5', CHUNKED]) + '0\r\n\r\n'],
    ['chunks and a length', requestText(NEW_ACCOUNT, [OPERATOR, CHUNKED, 'Content-Length: 5']) + '0\r\n\r\n'],
    ['a negative length', requestText(NEW_ACCOUNT, [OPERATOR, 'Content-Length: -1'])],
    ['a length with a sign', requestText(NEW_ACCOUNT, [OPERATOR, 'Content-Length: +2']) + '{}'],
    ['an endless length', requestText(NEW_ACCOUNT, [OPERATOR, `Content-Length: ${'9'.repeat(30)}`])],
    ['an unknown transfer', requestText(NEW_ACCOUNT, [OPERATOR, 'Transfer-Encoding: xchunked']) + '0\r\n\r\n'],
    ['chunks that are not last', requestText(NEW_ACCOUNT, [OPERATOR, `${CHUNKED}, identity`]) + '0\r\n\r\n'],
    ['a chunk of no size', requestText(NEW_ACCOUNT, [OPERATOR, CHUNKED]) + 'zz\r\n{}\r\n0\r\n\r\n'],
    ['one header of 33 KiB', requestText('GET /healthz', [`X-Long: ${'x'.repeat(33 * 1024)}`]), 431],
    ['33 KiB of headers', requestText('GET /healthz', Array(4224).fill('X-A: 12')), 431],
    ['a target of 33 KiB', requestText(`GET /${'x'.repeat(33 * 1024)}`), 431],
  ] as [string, string, number?][]) {
    test(`R-021: ${what} is answered in the envelope with an id, and the connection ends`, async () => {
      using connection = await RawConnection.open(gateway.url);
      await connection.send(Buffer.from(text, 'latin1'));
      const answer = await connection.answer();
      refused(answer, status, status === 431 ? 'headers_too_large' : 'malformed_request');
      assert.match(answer.headers['x-request-id'] ?? '', /^req_\w{20,}$/);
      assert.equal(answer.headers.connection, 'close');
      assert.equal(await connection.end(), '');
    });
  }

  test('R-021: headers just below 32 KiB are taken', async () => {
    const answer = await sendRaw(gateway.url, requestText('GET /healthz', [`X-Long: ${'x'.repeat(32_000)}`]));
    assert.equal(answer.status, 200);
  });

  for (const text of [`GET /healthz HTTP/1.1\r\nX-Long: ${'x'.repeat(MIB)}`, `nonsense\r\n${'x'.repeat(MIB)}`]) {
    test(`R-021: who goes on sending after ${text.slice(0, 8)} can still read the refusal`, async () => {
      using connection = await RawConnection.open(gateway.url);
      for (let sent = 0; sent < 16; sent++) await connection.send(text);
      assert.ok([400, 431].includes((await connection.answer()).status));
      assert.equal(await connection.end(), '');
    });
  }

  test('R-021: requests before the one that cannot be read get their own answers first', async () => {
    const name = newName();
    using connection = await RawConnection.open(gateway.url);
    await connection.send(`${making(name)}${requestText('GET /nothing-here')}nonsense\r\n\r\n`);
    assert.equal((await connection.answer()).json.name, name);
    refused(await connection.answer(), 404, 'not_found');
    refused(await connection.answer(), 400, 'malformed_request');
    assert.equal(await connection.end(), '');
  });

  test('what comes after a request that ends the connection neither runs nor disturbs its answer', async () => {
    const [name, later] = [newName(), newName()];
    using connection = await RawConnection.open(gateway.url);
    await connection.send(making(name, ['Connection: close']) + making(later));
    assert.equal((await connection.answer()).json.name, name);
    assert.equal(await connection.end(), '');
    assert.equal(await isMade(later), false);
  });
});

describe('targets and hosts', () => {
  for (const [what, head, status] of [
    ['one host', 'GET /healthz HTTP/1.1\r\nHost: gateway.test', 200],
    ['two hosts', 'GET /healthz HTTP/1.1\r\nHost: gateway.test\r\nHost: other.test', 400],
    ['the same host twice', 'GET /healthz HTTP/1.1\r\nHost: gateway.test\r\nhost: gateway.test', 400],
    ['no host', 'GET /healthz HTTP/1.1\r\nX-Host: gateway.test', 400],
    ['a full address of the same host', 'GET http://gateway.test/healthz HTTP/1.1\r\nHost: gateway.test', 200],
    ['the same host in other letters', 'GET HTTP://Gateway.Test/healthz HTTP/1.1\r\nHost: gateway.test', 200],
    ['the same host and port', 'GET http://gateway.test:80/healthz HTTP/1.1\r\nHost: gateway.test:80', 200],
    ['a full address of another host', 'GET http://other.test/healthz HTTP/1.1\r\nHost: gateway.test', 400],
    ['another port', 'GET http://gateway.test:81/healthz HTTP/1.1\r\nHost: gateway.test', 400],
    ['a user at the same host', 'GET http://user@gateway.test/healthz HTTP/1.1\r\nHost: gateway.test', 400],
    ['another scheme', 'GET ftp://gateway.test/healthz HTTP/1.1\r\nHost: gateway.test', 400],
    ['a full address with dots', 'GET http://gateway.test/v1/../healthz HTTP/1.1\r\nHost: gateway.test', 404],
    ['a path with dots', 'GET /v1/../healthz HTTP/1.1\r\nHost: gateway.test', 404],
    ['two slashes', 'GET //healthz HTTP/1.1\r\nHost: gateway.test', 404],
    ['an asterisk', 'OPTIONS * HTTP/1.1\r\nHost: gateway.test', 400],
    ['a tunnel', 'CONNECT gateway.test:443 HTTP/1.1\r\nHost: gateway.test:443', 404],
  ] as const) {
    test(`R-022: ${what} is answered with ${status}`, async () => {
      const answer = await sendRaw(gateway.url, `${head}\r\n\r\n`);
      assert.equal(answer.status, status, answer.text);
      if (status === 400) refused(answer, 400, 'malformed_request');
    });
  }

  for (const [what, text] of [
    ['two hosts', requestText('GET /healthz', ['Host: other.test'])],
    ['an asterisk', requestText('OPTIONS *')],
    ['a tunnel', requestText('CONNECT gateway.test:443')],
  ] as const) {
    test(`R-022: nothing that comes behind ${what} is run`, async () => {
      const name = newName();
      using connection = await RawConnection.open(gateway.url);
      await connection.send(text + making(name));
      assert.ok((await connection.answer()).status >= 400);
      assert.equal(await connection.end(), '');
      assert.equal(await isMade(name), false);
    });
  }

  for (const path of ['/v1/models/%', '/v1/models/%z', '/v1/models/%c0%af', '/v1/models/%ed%a0%80', '/%ff']) {
    test(`a path with the malformed escape ${path} is refused`, async () => {
      refused(await sendRaw(gateway.url, requestText(`GET ${path}`)), 400, 'malformed_request');
    });
  }

  test('an upgrade that nobody offers is not made', async () => {
    const headers = ['Connection: Upgrade', 'Upgrade: websocket'];
    const answer = await sendRaw(gateway.url, requestText('GET /healthz', headers));
    assert.deepEqual([answer.status, answer.headers.upgrade], [200, undefined]);
  });
});

describe('connections', () => {
  test('requests sent at once are answered in their order', async () => {
    const all = [newName(), newName(), newName()];
    using connection = await RawConnection.open(gateway.url);
    await connection.send(all.map((name) => making(name, [`X-Request-Id: ${name}`])).join(''));
    for (const name of all) {
      const { headers, json } = await connection.answer();
      assert.deepEqual([headers['x-request-id'], json.name], [name, name]);
    }
  });

  test('an answer to HEAD has no body that the next answer could be mistaken for', async () => {
    using connection = await RawConnection.open(gateway.url);
    const lines = ['HEAD /healthz', 'HEAD /nothing-here', 'GET /healthz'];
    await connection.send(lines.map((line) => requestText(line)).join(''));
    assert.equal((await connection.answer({ head: true })).status, 200);
    assert.equal((await connection.answer({ head: true })).status, 404);
    assert.equal((await connection.answer()).json.status, 'ok');
  });

  for (const [line, status] of [
    ['GET /healthz', 200],
    ['GET /v1/models', 401],
    ['POST /nothing-here', 404],
    [NEW_ACCOUNT, 401],
  ] as const) {
    test(`the body of ${line} that nobody reads is not taken for the next request`, async () => {
      const name = newName();
      using connection = await RawConnection.open(gateway.url);
      await connection.send(requestText(line, [], making(name)) + requestText('GET /healthz'));
      assert.equal((await connection.answer()).status, status);
      assert.equal((await connection.answer()).json.status, 'ok');
      assert.equal(await isMade(name), false);
    });
  }

  test('a body in pieces of one byte is one body', async () => {
    const name = newName();
    const pieces = [...JSON.stringify({ name })].map((char) => `1\r\n${char}\r\n`);
    using connection = await RawConnection.open(gateway.url);
    for (const piece of [requestText(NEW_ACCOUNT, [OPERATOR, CHUNKED]), ...pieces, '0\r\n\r\n']) {
      await connection.send(piece);
    }
    assert.equal((await connection.answer()).json.name, name);
  });

  for (const [what, headers, part] of [
    ['shorter than its length', ['Content-Length: 100'], (body: string) => body],
    ['cut inside a chunk', [CHUNKED], (body: string) => `ff\r\n${body}`],
    ['without a last chunk', [CHUNKED], (body: string) => `${body.length.toString(16)}\r\n${body}\r\n`],
  ] as const) {
    test(`a body ${what} does nothing`, async () => {
      const name = newName();
      using connection = await RawConnection.open(gateway.url);
      await connection.send(requestText(NEW_ACCOUNT, [OPERATOR, ...headers]) + part(JSON.stringify({ name })));
      connection.finish();
      refused(await connection.answer(), 400, 'malformed_request');
      assert.equal(await connection.end(), '');
      assert.equal(await isMade(name), false);
    });
  }
});

describe('sizes', () => {
  const roomIn = (bytes: number, name: string) => JSON.stringify({ name }).padEnd(bytes, ' ');
  const chunks = (body: string) => `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  const chunked = (body: string) => requestText(NEW_ACCOUNT, [OPERATOR, CHUNKED]) + chunks(body);

  test('R-072: a body of exactly 1 MiB is taken', async () => {
    assert.equal((await newAccount(roomIn(MIB, newName()))).status, 200);
    assert.equal((await sendRaw(gateway.url, chunked(roomIn(MIB, newName())))).status, 200);
  });

  test('R-072: a body of one byte more is refused, with a length and in chunks', async () => {
    const name = newName();
    refused(await newAccount(roomIn(MIB + 1, name)), 413, 'body_too_large');
    refused(await sendRaw(gateway.url, chunked(roomIn(MIB + 1, name))), 413, 'body_too_large');
    assert.equal(await isMade(name), false);
  });

  test('R-072: a configuration may have 8 MiB and not a byte more', async () => {
    const { text } = await gateway.admin('GET', '/config');
    const put = (raw: string) => gateway.call('PUT', '/api/admin/config', { key: ADMIN_TOKEN, raw });
    const padding = 8 * MIB - Buffer.byteLength(text);
    assert.equal((await put(text + ' '.repeat(padding))).status, 200);
    refused(await put(text + ' '.repeat(padding + 1)), 413, 'body_too_large');
  });

  test('R-080: a length over the cap is refused before any of the body has come', async () => {
    const answer = await sendRaw(gateway.url, requestText(NEW_ACCOUNT, [OPERATOR, `Content-Length: ${MIB + 1}`]));
    refused(answer, 413, 'body_too_large');
  });

  test('R-080: chunks over the cap are refused while more are still promised', async () => {
    const promise = `${(1024 * MIB).toString(16)}\r\n`;
    const text = requestText(NEW_ACCOUNT, [OPERATOR, CHUNKED]) + promise + 'x'.repeat(MIB + 1);
    refused(await sendRaw(gateway.url, text), 413, 'body_too_large');
  });

  for (const [how, header, prefix] of [
    ['with a length', `Content-Length: ${64 * MIB}`, ''],
    ['in chunks', CHUNKED, `${(64 * MIB).toString(16)}\r\n`],
  ] as const) {
    test(`R-080, R-081: who goes on sending ${how} can still read the refusal`, async () => {
      using connection = await RawConnection.open(gateway.url);
      await connection.send(requestText(NEW_ACCOUNT, [OPERATOR, header]) + prefix);
      for (let sent = 0; sent < 16; sent++) await connection.send('x'.repeat(MIB));
      const answer = await connection.answer();
      refused(answer, 413, 'body_too_large');
      assert.equal(answer.headers.connection, 'close');
      assert.equal(await connection.end(), '');
    });
  }

  for (const [how, header, before] of [
    ['with a length', `Content-Length: ${MIB + 1}`, 'x'.repeat(MIB + 1)],
    ['with a length and not sent', `Content-Length: ${MIB + 1}`, ''],
    ['in chunks', CHUNKED, chunks('x'.repeat(MIB + 1))],
  ] as const) {
    test(`R-081: what follows a body over its cap ${how} is never run`, async () => {
      const name = newName();
      using connection = await RawConnection.open(gateway.url);
      await connection.send(requestText(NEW_ACCOUNT, [OPERATOR, header]) + before + making(name));
      refused(await connection.answer(), 413, 'body_too_large');
      assert.equal(await connection.end(), '');
      assert.equal(await isMade(name), false);
    });
  }

  test('R-080: who asks before sending is told to go on, and then is answered', async () => {
    const [name, headers] = [newName(), [OPERATOR, 'Expect: 100-continue']];
    const text = making(name, headers.slice(1));
    const bodyAt = text.indexOf('{');
    using connection = await RawConnection.open(gateway.url);
    await connection.send(text.slice(0, bodyAt));
    assert.equal((await connection.answer()).status, 100);
    await connection.send(text.slice(bodyAt));
    assert.equal((await connection.answer()).json.name, name);
  });

  for (const [what, headers, status] of [
    ['is too large', [OPERATOR, `Content-Length: ${MIB + 1}`], 413],
    ['comes from nobody', ['Content-Length: 2'], 401],
    ['is compressed', [OPERATOR, 'Content-Encoding: gzip', 'Content-Length: 2'], 400],
  ] as const) {
    test(`R-080: who asks before sending what ${what} is refused at once`, async () => {
      const text = requestText(NEW_ACCOUNT, ['Expect: 100-continue', ...headers]);
      assert.equal((await sendRaw(gateway.url, text)).status, status);
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
    'x'.repeat(MIB - 1000),
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
    assert.ok(answer.status < 500, `${method} ${path} ${JSON.stringify(body)?.slice(0, 100)}: ${answer.text}`);
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

  for (const name of TEXTS.slice(0, 5)) {
    test(`R-027: the name ${JSON.stringify(name)} is refused, not changed`, async () => {
      refused(await newAccount(JSON.stringify({ name })), 400, 'invalid_parameter');
    });
  }
});
