import assert from 'node:assert/strict';
import { after, afterEach, before, describe, type TestContext, test } from 'node:test';
import { imageModel, keyed, sandbox } from './support/documents.ts';
import { ADMIN_TOKEN, type Answer, Gateway } from './support/gateway.ts';
import { paidCaller } from './support/paid-calls.ts';
import { newOwner, type SignedInPerson } from './support/people.ts';
import { requestText, sendRaw } from './support/raw-http.ts';

let gateway: Gateway;
let key: string;
let person: SignedInPerson;
before(async () => {
  gateway = await Gateway.start();
  ({ key } = await gateway.newCaller({ key: { rpm: 1_000_000 } }));
  person = await newOwner(gateway);
});
after(() => gateway.stop());
afterEach(() => gateway.assertBooksBalance());

const PRICE_LIST = '/api/hub/public/models';
const GENERATED = /^req_[A-Za-z0-9_-]{20,}$/;

function bearer(token: string): string {
  return `Authorization: Bearer ${token}`;
}

function refused(answer: Answer, status: number, code: string): void {
  assert.deepEqual([answer.status, answer.json?.error.code], [status, code], answer.text);
}

/** Every documented path with its methods; parameters filled with a name of nothing. */
async function documentedPaths(): Promise<{ path: string; methods: string[] }[]> {
  const { json } = await gateway.call('GET', '/openapi.json');
  return Object.entries(json.paths as Record<string, object>).map(([path, methods]) => ({
    path: path.replace(/\{\w+\}/g, 'none'),
    methods: Object.keys(methods).map((method) => method.toUpperCase()),
  }));
}

function keyFor(path: string): string {
  return path.startsWith('/api/admin') ? ADMIN_TOKEN : key;
}

/** The header that opens this path. */
function proofFor(path: string): string {
  return path.startsWith('/api/console') ? `Cookie: ${person.headers.cookie}` : bearer(keyFor(path));
}

describe('addresses', () => {
  for (const host of ['api.example.com', 'gateway.internal:8443', '[2001:db8::1]:80', 'LOCALHOST']) {
    test(`R-001: nothing changes behind the host name ${host}`, async () => {
      const own = await gateway.call('GET', '/v1/models', { key });
      const text = `GET /v1/models HTTP/1.1\r\nHost: ${host}\r\nX-Forwarded-Host: ${host}\r\n${bearer(key)}\r\n\r\n`;
      const answer = await sendRaw(gateway.url, text);
      assert.deepEqual([answer.status, answer.text], [200, own.text]);
    });
  }

  test('R-024: a path begins with its version, and only the price list, the probes, signed links, the operator and MCP have none', async () => {
    for (const { path } of await documentedPaths()) {
      assert.match(
        path,
        /^\/(v1|v1beta|openai\/v1|api\/admin|api\/console|media)\/|^\/(api\/hub\/public\/models|healthz|livez|readyz|openapi\.json|mcp)$/,
      );
    }
  });

  for (const path of ['/models', '/v2/models', '/v1beta/v1/models', '/v1/healthz', `/v1${PRICE_LIST}`, '/V1/models']) {
    test(`R-014, R-024, R-070: ${path} is nowhere`, async () => {
      refused(await gateway.call('GET', path, { key }), 404, 'not_found');
    });
  }

  for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY', 'PURGE']) {
    test(`R-014, R-070: ${method} of an unknown path is not found`, async () => {
      const answer = await sendRaw(gateway.url, requestText(`${method} /v1/nothing-here`, [bearer(key)]));
      refused(answer, 404, 'not_found');
    });
  }

  test('R-016: a known path with a method it does not have is not found, and nothing tells which it has', async () => {
    for (const { path, methods } of await documentedPaths()) {
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'QUERY']) {
        // What clients of MCP expect is another status.
        if (methods.includes(method) || path === '/mcp') continue;
        const answer = await sendRaw(gateway.url, requestText(`${method} ${path}`, [bearer(keyFor(path))]));
        // GET /v1/models/{model} takes every path below it, and so does its alias.
        if (method === 'GET' && /^(\/openai)?\/v1\/models/.test(path)) continue;
        refused(answer, 404, 'not_found');
        assert.equal(answer.headers.allow, undefined, `${method} ${path}`);
      }
    }
  });

  for (const line of [
    'POST /v1/jobs/job_1/cancel',
    'DELETE /v1/jobs/job_1',
    'POST /v1/videos/job_1/cancel',
    'DELETE /v1/videos/job_1',
    'GET /v1beta/models/some:generateContent',
    'DELETE /v1beta/models/some:generateContent',
  ]) {
    test(`R-015: ${line} is a plain 404`, async () => {
      const answer = await sendRaw(gateway.url, requestText(line, [bearer(key)]));
      refused(answer, 404, 'not_found');
      assert.equal(answer.headers.allow, undefined);
    });
  }

  test('R-017: an unknown path is not found with a key, with a wrong one and with none', async () => {
    for (const headers of [{}, { authorization: `Bearer ${key}` }, { authorization: 'Bearer wrong' }]) {
      refused(await gateway.call('GET', '/v1/nothing-here', { headers }), 404, 'not_found');
    }
  });

  test('R-017: a known path asks for a credential', async () => {
    refused(await gateway.call('GET', '/v1/models'), 401, 'missing_token');
    refused(await gateway.call('GET', '/v1/models/none'), 401, 'missing_token');
  });

  test('R-018: no path is found with a slash behind it', async () => {
    for (const { path, methods } of await documentedPaths()) {
      // Behind /v1/models/{model} and in a signed link a slash belongs to the name.
      if (path.endsWith('/models/none') || path === '/media/none') continue;
      const [method = ''] = methods;
      const answer = await sendRaw(gateway.url, requestText(`${method} ${path}/`, [proofFor(path)], '{}'));
      assert.deepEqual([answer.status, answer.json.error.type], [404, 'not_found_error'], `${method} ${path}/`);
    }
    refused(await sendRaw(gateway.url, requestText('GET /v1/models/', [bearer(key)])), 404, 'not_found');
  });

  for (const path of ['/healthz', PRICE_LIST]) {
    test(`R-019: HEAD ${path} is GET without the body`, async () => {
      const get = await gateway.call('GET', path);
      const head = await sendRaw(gateway.url, requestText(`HEAD ${path}`), { head: true });
      assert.equal(head.status, 200);
      for (const name of ['content-type', 'content-length', 'cache-control', 'etag', 'access-control-allow-origin']) {
        assert.equal(head.headers[name], get.headers[name], name);
      }
    });
  }

  test('R-019: HEAD / without a key answers, since clients try an address before they ask', async () => {
    const answer = await sendRaw(gateway.url, requestText('HEAD /'), { head: true });
    assert.deepEqual([answer.status, answer.text], [200, '']);
    assert.match(answer.headers['x-request-id'] ?? '', /^req_/);
  });

  test('R-019: HEAD of an unchanged price list is 304', async () => {
    const { etag = '' } = (await gateway.call('GET', PRICE_LIST)).headers;
    const answer = await gateway.call('HEAD', PRICE_LIST, { headers: { 'if-none-match': etag } });
    assert.equal(answer.status, 304);
  });

  test('R-019: HEAD of everything else is not found', async () => {
    const answering = ['/healthz', PRICE_LIST, '/media/none'];
    const others = (await documentedPaths()).filter(({ path }) => !answering.includes(path));
    for (const { path } of others) {
      const text = requestText(`HEAD ${path}`, [bearer(keyFor(path))]);
      assert.equal((await sendRaw(gateway.url, text, { head: true })).status, 404, path);
    }
  });

  test('R-025: unknown query parameters are ignored', async () => {
    const plain = await gateway.call('GET', '/v1/models', { key });
    const odd = await gateway.call('GET', '/v1/models?limit=x&limit=y&foo[bar]=1&__proto__=2&%zz&=&verbose', { key });
    assert.deepEqual([odd.status, odd.text], [200, plain.text]);
  });
});

describe('request ids', () => {
  const printable = Array.from({ length: 94 }, (_, at) => String.fromCharCode(0x21 + at)).join('');

  for (const [what, id] of [
    ['one character', 'x'],
    ['128 characters', 'i'.repeat(128)],
    ['every printable character', printable],
    ['spaces inside', 'two words  more'],
    ['an encoded line break', '%0d%0aInjected:%20yes\\r\\n'],
  ] as const) {
    test(`R-004, R-009: an id of ${what} comes back unchanged`, async () => {
      const answer = await sendRaw(gateway.url, requestText('GET /healthz', [`X-Request-Id: ${id}`]));
      assert.equal(answer.headers['x-request-id'], id);
    });
  }

  test('R-005: an id of 129 characters is not adopted', async () => {
    const answer = await gateway.call('GET', '/healthz', { headers: { 'x-request-id': 'i'.repeat(129) } });
    assert.match(answer.headers['x-request-id'] ?? '', GENERATED);
  });

  for (const [what, lines] of [
    ['a carriage return', 'X-Request-Id: a\rInjected: yes\r\n'],
    ['a line feed', 'X-Request-Id: a\nInjected: yes\r\n'],
    ['a folded line', 'X-Request-Id: a\r\n Injected: yes\r\n'],
    ['a NUL', 'X-Request-Id: a\0b\r\n'],
  ] as const) {
    test(`R-006: an id with ${what} is not adopted and splits nothing`, async () => {
      const answer = await sendRaw(gateway.url, `GET /healthz HTTP/1.1\r\nHost: gateway.test\r\n${lines}\r\n`);
      assert.match(answer.headers['x-request-id'] ?? '', GENERATED);
      assert.equal(answer.headers.injected, undefined);
    });
  }

  for (const [what, id] of [
    ['nothing', ''],
    ['only spaces', '   '],
    ['a tab', 'a\tb'],
    ['a byte beyond ASCII', 'caf\xe9'],
    ['two bytes of UTF-8', 'caf\xc3\xa9'],
  ] as const) {
    test(`R-007: an id of ${what} is not adopted`, async () => {
      const text = requestText('GET /healthz', [`X-Request-Id: ${id}`]);
      const answer = await sendRaw(gateway.url, Buffer.from(text, 'latin1'));
      assert.deepEqual([answer.status, GENERATED.test(answer.headers['x-request-id'] ?? '')], [200, true]);
    });
  }

  test('R-008: ids are made anew by each process on the same data', async (t) => {
    const second = await Gateway.start({ database: gateway.database });
    t.after(() => second.stop());
    const ids = new Set<string>();
    for (let round = 0; round < 50; round++) {
      for (const { url } of [gateway, second]) {
        const { headers } = await sendRaw(url, requestText('GET /nothing-here'));
        assert.match(headers['x-request-id'] ?? '', GENERATED);
        ids.add(headers['x-request-id'] ?? '');
      }
    }
    assert.equal(ids.size, 100);
  });

  const answers: [name: string, line: string, headers: readonly string[], status: number][] = [
    ['success', 'GET /openapi.json', [], 200],
    ['probe', 'GET /healthz', [], 200],
    ['price list', `GET ${PRICE_LIST}`, [], 200],
    ['unchanged price list', `GET ${PRICE_LIST}`, ['If-None-Match: *'], 304],
    ['missing credential', 'GET /v1/models', [], 401],
    ['unknown route', 'GET /nothing-here', [], 404],
    ['unknown method', 'PROPFIND /v1/models', [], 404],
    ['malformed escape', 'GET /v1/models/%zz', [], 400],
    ['overlong parameter', `GET /api/admin/accounts/${'a'.repeat(2049)}`, [], 400],
    ['second host', 'GET /healthz', ['Host: other.test'], 400],
    ['unacceptable target', 'OPTIONS *', [], 400],
    ['too large a body', 'POST /api/admin/accounts', ['Content-Length: 1048577'], 413],
  ];
  for (const [name, line, headers, status] of answers) {
    test(`R-003: an answer of the kind "${name}" carries the id`, async () => {
      const answer = await sendRaw(gateway.url, requestText(line, ['X-Request-Id: my-own-id', ...headers]));
      assert.deepEqual([answer.status, answer.headers['x-request-id']], [status, 'my-own-id']);
    });
  }
});

describe('answers', () => {
  test('R-002: every body is JSON and says so', async () => {
    for (const [path, credential] of [
      ['/v1/models', key],
      ['/v1/models/none', key],
      ['/v1/models', 'wrong'],
      [PRICE_LIST, ''],
      ['/healthz', ''],
      ['/nothing-here', ''],
      ['/api/admin/accounts', ADMIN_TOKEN],
    ] as const) {
      const answer = await gateway.call('GET', path, { key: credential });
      assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8', path);
      assert.equal(typeof answer.json, 'object', path);
    }
  });

  test('R-010, R-011: nothing that a caller can read names the upstream, its address, its secret or its model', async () => {
    const upstream = keyed('marker-id', 'marker-secret', { base_url: 'https://marker-host.test' });
    const model = imageModel('studio/quiet', ['marker-id']);
    await gateway.putConfig({
      upstreams: [upstream],
      models: [{ ...model, routes: [{ upstream: 'marker-id', model: 'marker-model' }] }],
    });
    assert.equal((await gateway.call('GET', '/v1/models/studio/quiet', { key })).status, 200);
    for (const path of [
      '/v1/models',
      '/v1/models/studio/quiet',
      '/v1/models/quieter',
      PRICE_LIST,
      '/healthz',
      '/openapi.json',
    ]) {
      const { headers, text } = await gateway.call('GET', path, { key });
      assert.doesNotMatch(JSON.stringify(headers) + text, /marker|anthropic/i, path);
    }
  });

  test('R-013: disabling an upstream takes its models off both lists at once, and enabling brings them back', async () => {
    await gateway.putConfig({
      upstreams: [sandbox('left'), sandbox('right')],
      models: [imageModel('only/left', ['left']), imageModel('both/sides', ['left', 'right'])],
    });
    const names = async () => {
      const own = (await gateway.call('GET', '/v1/models', { key })).json.data.map(({ id }: { id: string }) => id);
      const open = (await gateway.call('GET', PRICE_LIST)).json.data.map(({ name }: { name: string }) => name);
      assert.deepEqual(own.toSorted(), open.toSorted());
      return own.toSorted();
    };
    assert.deepEqual(await names(), ['both/sides', 'only/left']);
    await gateway.admin('PATCH', '/upstreams/left', { enabled: false });
    assert.deepEqual(await names(), ['both/sides']);
    await gateway.admin('PATCH', '/upstreams/left', { enabled: true });
    assert.deepEqual(await names(), ['both/sides', 'only/left']);
  });

  test('R-023: the fields that the contract names are all there', async () => {
    await gateway.putConfig({ upstreams: [sandbox('one')], models: [imageModel('a/b', ['one'])] });
    const card = (await gateway.call('GET', '/v1/models/a/b', { key })).json;
    const cardFields =
      'id object created owned_by modality display_name description tags endpoints pricing type created_at';
    assert.deepEqual(Object.keys(card), cardFields.split(' '));
    const list = (await gateway.call('GET', PRICE_LIST)).json;
    assert.deepEqual(Object.keys(list), ['object', 'count', 'modalities', 'updated_at', 'data']);
    assert.deepEqual(Object.keys(list.data[0]), ['name', 'modality', 'endpoints', 'pricing']);
    const health = (await gateway.call('GET', '/healthz')).json;
    assert.deepEqual([health.status, health.db], ['ok', 'ok']);
  });
});

describe('values', () => {
  test('R-026: null in an optional field of a new thing counts as absent', async () => {
    const account = await gateway.admin('POST', '/accounts', { name: 'n', email: null, password: null, groups: null });
    assert.deepEqual([account.status, account.json.groups], [200, ['default']]);
    const grant = { credits: 1, source: null, reference: null, expires_at: null };
    const granted = await gateway.admin('POST', `/accounts/${account.json.id}/grants`, grant);
    assert.deepEqual([granted.status, granted.json.source], [200, 'operator']);
    const client = { name: 'n', redirect_uris: ['https://app.test/'], scopes: ['user:jobs'], confidential: null };
    assert.equal((await gateway.admin('POST', '/oauth/clients', client)).json.confidential, false);
  });

  test('R-026: null in a change leaves things as they are', async () => {
    const { accountId, keyId } = await gateway.newCaller();
    const account = await gateway.admin('GET', `/accounts/${accountId}`);
    const nulls = { name: null, status: null, groups: null, limits: null };
    const changed = await gateway.admin('PATCH', `/accounts/${accountId}`, nulls);
    assert.deepEqual([changed.status, changed.json], [200, account.json]);
    const kept = await gateway.admin('PATCH', `/keys/${keyId}`, { name: null, disabled: null });
    assert.deepEqual([kept.status, kept.json.name, kept.json.disabled], [200, 'test', false]);
  });

  for (const [written, status] of [
    ['3.0', 200],
    ['3e0', 200],
    ['3.5', 400],
    ['"3"', 400],
    ['true', 400],
    ['[3]', 400],
  ] as const) {
    test(`R-026: ${written} is ${status === 200 ? 'the integer 3' : 'no integer'}`, async () => {
      const { keyId } = await gateway.newCaller();
      const answer = await gateway.call('PATCH', `/api/admin/keys/${keyId}`, {
        key: ADMIN_TOKEN,
        raw: `{"rpm":${written}}`,
      });
      assert.equal(answer.status, status, answer.text);
      if (status === 200) assert.equal(answer.json.rpm, 3);
      else refused(answer, 400, 'invalid_parameter');
    });
  }
});

describe('other origins', () => {
  const origin = 'https://app.example.com';
  const PREFLIGHT = [`Origin: ${origin}`, 'Access-Control-Request-Method: POST'];

  async function startOpen(t: TestContext): Promise<Gateway> {
    const open = await Gateway.start({ settings: { TOLLGATE_CORS_ORIGINS: `${origin}, http://localhost:3000` } });
    t.after(() => open.stop());
    return open;
  }

  function accessHeaders({ headers }: Answer): Record<string, string> {
    return Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('access-control-')));
  }

  test('R-020: no page of another origin may read anything by default', async () => {
    for (const [path, credential] of [
      ['/v1/models', key],
      ['/v1/models', 'wrong'],
      ['/healthz', ''],
      ['/api/admin/accounts', ADMIN_TOKEN],
    ] as const) {
      assert.deepEqual(accessHeaders(await gateway.call('GET', path, { key: credential, headers: { origin } })), {});
    }
    const preflight = await sendRaw(gateway.url, requestText('OPTIONS /v1/models', PREFLIGHT));
    refused(preflight, 404, 'not_found');
    assert.deepEqual(accessHeaders(preflight), {});
  });

  test('R-020: every page may read the price list, without credentials', async () => {
    for (const headers of [{}, { origin }, { origin, cookie: 'session=1' }]) {
      const answer = await gateway.call('GET', PRICE_LIST, { headers });
      assert.deepEqual(accessHeaders(answer), { 'access-control-allow-origin': '*' });
    }
  });

  test('R-020: pages of a listed origin may read answers and errors of the API', async (t) => {
    const open = await startOpen(t);
    const caller = await open.newCaller();
    for (const [credential, status] of [
      [caller.key, 200],
      ['wrong', 401],
    ] as const) {
      const answer = await open.call('GET', '/v1/models', { key: credential, headers: { origin } });
      assert.deepEqual([answer.status, answer.headers['access-control-allow-origin']], [status, origin]);
      assert.equal(answer.headers['access-control-allow-credentials'], undefined);
      assert.match(answer.headers.vary ?? '', /\borigin\b/);
    }
    const missing = await open.call('GET', '/v1/nothing-here', { headers: { origin } });
    assert.equal(missing.headers['access-control-allow-origin'], origin);
  });

  test('R-020: pages of a listed origin may read a stream as well, and no others may', async (t) => {
    const open = await startOpen(t);
    const caller = await paidCaller(open);
    const words = [{ role: 'user', content: 'Hello' }];
    for (const [path, body] of [
      ['/v1/chat/completions', { messages: words, max_tokens: 20 }],
      ['/openai/v1/chat/completions', { messages: words, max_tokens: 20 }],
      ['/v1/responses', { input: 'Hello', max_output_tokens: 20 }],
      ['/v1/messages', { messages: words, max_tokens: 20 }],
    ] as const) {
      const sent = { key: caller.key, body: { model: 'sandbox/chat', stream: true, ...body } };
      const listed = await open.call('POST', path, { ...sent, headers: { origin } });
      assert.match(listed.headers['content-type'] ?? '', /^text\/event-stream/, listed.text);
      assert.equal(listed.headers['access-control-allow-origin'], origin, path);
      assert.match(listed.headers.vary ?? '', /\borigin\b/);
      assert.match(listed.headers['access-control-expose-headers'] ?? '', /x-request-id/i);
      const other = await open.call('POST', path, { ...sent, headers: { origin: 'https://evil.example' } });
      assert.equal(other.status, 200);
      assert.equal(other.headers['access-control-allow-origin'], undefined, path);
    }
  });

  test('R-020: an answer made for one origin is not stored for another', async (t) => {
    const open = await startOpen(t);
    const caller = await open.newCaller();
    for (const headers of [{}, { origin }, { origin: 'https://evil.example' }]) {
      const { vary = '' } = (await open.call('GET', '/v1/models', { key: caller.key, headers })).headers;
      assert.deepEqual(vary.split(', ').toSorted(), ['accept-encoding', 'origin']);
    }
  });

  test('R-020: a listed origin is told before it sends what it may send', async (t) => {
    const open = await startOpen(t);
    const lines = [...PREFLIGHT, 'Access-Control-Request-Headers: authorization, x-custom'];
    const answer = await sendRaw(open.url, requestText('OPTIONS /v1/models', lines));
    assert.equal(answer.status, 200);
    assert.equal(answer.headers['access-control-allow-origin'], origin);
    assert.equal(answer.headers['access-control-allow-headers'], 'authorization, x-custom');
    assert.match(answer.headers['access-control-allow-methods'] ?? '', /POST/);
    assert.equal(answer.headers['access-control-allow-credentials'], undefined);
  });

  for (const other of [
    'https://evil.example',
    'https://app.example.com.evil.example',
    'http://app.example.com',
    'null',
  ]) {
    test(`R-020: ${other} is not among the listed origins`, async (t) => {
      const open = await startOpen(t);
      const answer = await open.call('GET', '/v1/models', { headers: { origin: other } });
      assert.deepEqual(accessHeaders(answer), {});
      const lines = [`Origin: ${other}`, 'Access-Control-Request-Method: GET'];
      const preflight = await sendRaw(open.url, requestText('OPTIONS /v1/models', lines));
      refused(preflight, 404, 'not_found');
      assert.deepEqual(accessHeaders(preflight), {});
    });
  }

  test('R-020: no page of a listed origin may read what the operator reads', async (t) => {
    const open = await startOpen(t);
    const answer = await open.call('GET', '/api/admin/accounts', { key: ADMIN_TOKEN, headers: { origin } });
    assert.deepEqual(accessHeaders(answer), {});
  });
});
