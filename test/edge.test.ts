import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { ADMIN_TOKEN, type Answer, Gateway } from './support/gateway.ts';
import { captureLog } from './support/leaks.ts';
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

/** The log of a gateway of its own after its stop, when every request that was taken has ended and has its line. */
async function logOf(work: (url: string) => Promise<void>): Promise<string> {
  const captured = captureLog();
  const logged = await Gateway.start({ log: captured.log });
  try {
    await work(logged.url);
  } finally {
    await logged.stop();
  }
  return captured.text();
}

const BEHIND = making('behind', ['X-Request-Id: behind-it']);

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
    ['a length and chunks', `${requestText(NEW_ACCOUNT, [OPERATOR, 'Content-Length: 5', CHUNKED])}0\r\n\r\n`],
    ['chunks and a length', `${requestText(NEW_ACCOUNT, [OPERATOR, CHUNKED, 'Content-Length: 5'])}0\r\n\r\n`],
    ['a negative length', requestText(NEW_ACCOUNT, [OPERATOR, 'Content-Length: -1'])],
    ['a length with a sign', `${requestText(NEW_ACCOUNT, [OPERATOR, 'Content-Length: +2'])}{}`],
    ['an endless length', requestText(NEW_ACCOUNT, [OPERATOR, `Content-Length: ${'9'.repeat(30)}`])],
    ['an unknown transfer', `${requestText(NEW_ACCOUNT, [OPERATOR, 'Transfer-Encoding: xchunked'])}0\r\n\r\n`],
    ['chunks that are not last', `${requestText(NEW_ACCOUNT, [OPERATOR, `${CHUNKED}, identity`])}0\r\n\r\n`],
    ['a chunk of no size', `${requestText(NEW_ACCOUNT, [OPERATOR, CHUNKED])}zz\r\n{}\r\n0\r\n\r\n`],
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
    const log = await logOf(async (url) => {
      using connection = await RawConnection.open(url);
      await connection.send(making('last', ['Connection: close', 'X-Request-Id: last-one']) + BEHIND);
      assert.equal((await connection.answer()).json.name, 'last');
      assert.equal(await connection.end(), '');
    });
    assert.match(log, /last-one/);
    assert.doesNotMatch(log, /behind-it/);
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

  for (const path of [
    '/%76%31/models',
    '/v1/%6dodels',
    '/v1%2fmodels',
    '/%2fv1/models',
    '/healt%68z',
    '/%61pi/admin/accounts',
    '/api/%61dmin/accounts',
    '/api/admin/account%73',
    '/%76%31beta/models/x:generateContent',
  ]) {
    test(`R-014, R-022: ${path} is no route, because its fixed part is written in escapes`, async () => {
      for (const method of ['GET', 'POST']) {
        refused(await sendRaw(gateway.url, requestText(`${method} ${path}`, [OPERATOR], '{}')), 404, 'not_found');
      }
    });
  }

  test('R-022: a parameter of a path may be written in escapes', async () => {
    const { json } = await newAccount(JSON.stringify({ name: newName() }));
    const escaped = `%${json.id.charCodeAt(0).toString(16)}${json.id.slice(1)}`;
    const answer = await sendRaw(gateway.url, requestText(`GET /api/admin/accounts/${escaped}?a%62=1`, [OPERATOR]));
    assert.notEqual(answer.status, 404, answer.text);
    assert.equal((await gateway.admin('GET', `/accounts/${escaped}`)).json.id, json.id);
  });

  test('the log has the path of a request without a route, without its query and not at any length', async () => {
    const long = `/${'x'.repeat(300)}`;
    const log = await logOf(async (url) => {
      for (const path of [
        '/v2/models?key=sk-secret',
        '/%76%31/models?key=sk-secret',
        long,
        '/%ff',
        '/healthz?a=sk-secret',
      ]) {
        await sendRaw(url, requestText(`GET ${path}`));
      }
    });
    const lines = log.split('\n').filter((line) => line.includes('"method":"GET"'));
    const logged = lines.map((line) => JSON.parse(line)).filter(({ route }) => route !== '/openapi.json');
    assert.deepEqual(
      logged.map(({ route, path }) => [route, path]),
      [
        [null, '/v2/models'],
        [null, '/%76%31/models'],
        [null, long.slice(0, 200)],
        [null, '/%ff'],
        ['/healthz', undefined],
      ],
    );
    assert.doesNotMatch(log, /sk-secret/);
  });

  test('R-022: nothing is run that comes behind two hosts, an asterisk or a tunnel', async () => {
    const log = await logOf(async (url) => {
      for (const text of [
        requestText('GET /healthz', ['Host: other.test']),
        requestText('OPTIONS *'),
        requestText('CONNECT gateway.test:443'),
      ]) {
        using connection = await RawConnection.open(url);
        await connection.send(text + BEHIND);
        assert.ok((await connection.answer()).status >= 400);
        assert.equal(await connection.end(), '');
      }
    });
    assert.doesNotMatch(log, /behind-it/);
  });

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
  test('chunks in HTTP/1.0, which knows none, are refused and not read', async () => {
    const name = newName();
    const body = JSON.stringify({ name });
    const head = `${NEW_ACCOUNT} HTTP/1.0\r\nHost: gateway.test\r\n${OPERATOR}`;
    const chunks = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
    for (const coding of ['chunked', 'gzip, chunked', 'Chunked']) {
      using connection = await RawConnection.open(gateway.url);
      await connection.send(`${head}\r\nTransfer-Encoding: ${coding}\r\n\r\n${chunks}${BEHIND}`);
      refused(await connection.answer(), 400, 'malformed_request');
      assert.equal(await connection.end(), '');
    }
    assert.equal(await isMade(name), false);
  });

  test('HTTP/1.0 with a length is served', async () => {
    const name = newName();
    const body = JSON.stringify({ name });
    const head = `${NEW_ACCOUNT} HTTP/1.0\r\nHost: gateway.test\r\n${OPERATOR}\r\nContent-Length: ${body.length}`;
    assert.equal((await sendRaw(gateway.url, `${head}\r\n\r\n${body}`)).status, 200);
    assert.equal(await isMade(name), true);
  });

  test('a caller who ends its side after a whole request is answered, and then the connection ends', async () => {
    for (const version of ['1.1', '1.0']) {
      using connection = await RawConnection.open(gateway.url);
      const name = newName();
      await connection.send(making(name).replace('HTTP/1.1', `HTTP/${version}`));
      connection.finish();
      const { status, json } = await connection.answer();
      assert.deepEqual([status, json.name], [200, name]);
      assert.equal(await connection.end(), '');
    }
  });

  test('several requests before the caller ends its side are all answered', async () => {
    using connection = await RawConnection.open(gateway.url);
    const all = [newName(), newName(), newName()];
    await connection.send(all.map((name) => making(name)).join(''));
    connection.finish();
    for (const name of all) assert.equal((await connection.answer()).json.name, name);
    assert.equal(await connection.end(), '');
  });

  test('a caller who ends its side in the middle of a request is refused', async () => {
    for (const cut of [20, 5]) {
      using connection = await RawConnection.open(gateway.url);
      await connection.send(making(newName()).slice(0, -cut));
      connection.finish();
      refused(await connection.answer(), 400, 'malformed_request');
      assert.equal(await connection.end(), '');
    }
  });

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
    const pieces = JSON.stringify({ name })
      .split('')
      .map((char) => `1\r\n${char}\r\n`);
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

  test('R-081: what follows a body over its cap is never run', async () => {
    const log = await logOf(async (url) => {
      for (const [header, body] of [
        [`Content-Length: ${MIB + 1}`, 'x'.repeat(MIB + 1)],
        [`Content-Length: ${MIB + 1}`, ''],
        [CHUNKED, chunks('x'.repeat(MIB + 1))],
        [CHUNKED, `${(MIB + 1).toString(16)}\r\n${'x'.repeat(MIB + 1)}`],
      ] as const) {
        using connection = await RawConnection.open(url);
        const text = requestText(NEW_ACCOUNT, [OPERATOR, header, 'X-Request-Id: over-the-cap']);
        await connection.send(text + body + BEHIND);
        refused(await connection.answer(), 413, 'body_too_large');
        assert.equal(await connection.end(), '');
      }
    });
    assert.equal(log.match(/over-the-cap/g)?.length, 4);
    assert.doesNotMatch(log, /behind-it/);
  });

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
