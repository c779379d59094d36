import assert from 'node:assert/strict';
import { after, afterEach, before, describe, type TestContext, test } from 'node:test';
import { newApiKey } from '../src/accounts/api-key.ts';
import { openDb } from '../src/db/index.ts';
import { ERROR_TABLE, type ErrorCode, errorHeaders, errorType } from '../src/errors.ts';
import { createDatabase, silentLog } from './support/database.ts';
import { DatabaseLink } from './support/database-link.ts';
import { imageModel, sandbox } from './support/documents.ts';
import { ADMIN_TOKEN, type Answer, Gateway } from './support/gateway.ts';
import { captureLog } from './support/leaks.ts';
import { until } from './support/postgres.ts';
import { RawConnection, requestText, sendRaw } from './support/raw-http.ts';
import { longCatalogue, UnreadRequest } from './support/unread.ts';

let gateway: Gateway;
before(async () => {
  gateway = await Gateway.start();
});
after(() => gateway.stop());
afterEach(() => gateway.assertBooksBalance());

const OPERATOR = `Authorization: Bearer ${ADMIN_TOKEN}`;
const CODES = Object.keys(ERROR_TABLE) as ErrorCode[];

function refused(answer: Answer, status: number, code: string): void {
  assert.deepEqual([answer.status, answer.json?.error.code], [status, code], answer.text);
}

function newAccount(raw: string | Buffer, headers: Record<string, string> = {}): Promise<Answer> {
  return gateway.call('POST', '/api/admin/accounts', { key: ADMIN_TOKEN, raw, headers });
}

/** One way to each refusal that a request can get today. */
const FAULTS: Record<string, () => Promise<Answer>> = {
  missing_token: () => gateway.call('GET', '/v1/models'),
  invalid_api_key: () => gateway.call('GET', '/v1/models', { key: newApiKey() }),
  key_disabled: async () => {
    const { key, keyId } = await gateway.newCaller();
    await gateway.admin('PATCH', `/keys/${keyId}`, { disabled: true });
    return gateway.call('GET', '/v1/models', { key });
  },
  key_expired: async () => {
    const expires_at = Math.floor(gateway.clock.nowMs() / 1000) + 60;
    const { key } = await gateway.newCaller({ key: { expires_at } });
    gateway.clock.advance(60);
    return gateway.call('GET', '/v1/models', { key });
  },
  account_disabled: async () => {
    const { key, accountId } = await gateway.newCaller();
    await gateway.admin('PATCH', `/accounts/${accountId}`, { status: 'suspended' });
    return gateway.call('GET', '/v1/models', { key });
  },
  rate_limited: async () => {
    const { key } = await gateway.newCaller({ key: { rpm: 1 } });
    await gateway.call('GET', '/v1/models', { key });
    return gateway.call('GET', '/v1/models', { key });
  },
  model_not_found: async () => {
    const { key } = await gateway.newCaller();
    return gateway.call('GET', '/v1/models/no/such/model', { key });
  },
  not_found: () => gateway.call('GET', '/nothing-here'),
  malformed_request: () => gateway.call('GET', '/v1/models/%zz'),
  headers_too_large: () => sendRaw(gateway.url, requestText('GET /healthz', [`X-Long: ${'x'.repeat(33_000)}`])),
  body_too_large: () => newAccount(JSON.stringify({ name: 'x'.repeat(1_100_000) })),
  unsupported_content_encoding: () => newAccount('{}', { 'content-encoding': 'gzip' }),
  unsupported_content_type: () => newAccount('name=x', { 'content-type': 'application/x-www-form-urlencoded' }),
  invalid_json: () => newAccount('{"name":'),
  invalid_parameter: () => newAccount('{"name":3}'),
  invalid_config: () => gateway.admin('PUT', '/config', { upstreams: 1 }),
  account_not_found: () => gateway.admin('GET', '/accounts/acct_none'),
  key_not_found: () => gateway.admin('DELETE', '/keys/key_none'),
  upstream_not_found: () => gateway.admin('PATCH', '/upstreams/none', { enabled: true }),
  client_not_found: () => gateway.admin('DELETE', '/oauth/clients/client_none'),
  duplicate_email: async () => {
    const account = { name: 'x', email: `${Math.random()}@example.com` };
    await gateway.admin('POST', '/accounts', account);
    return gateway.admin('POST', '/accounts', account);
  },
  duplicate_reference: async () => {
    const { accountId } = await gateway.newCaller();
    const grant = { credits: 1, reference: `pay-${accountId}` };
    await gateway.admin('POST', `/accounts/${accountId}/grants`, grant);
    return gateway.admin('POST', `/accounts/${accountId}/grants`, grant);
  },
};

/** The requirement that gives a code its meaning, where one does. */
const NUMBERS: Record<string, string> = {
  missing_token: 'R-052',
  invalid_api_key: 'R-053',
  key_disabled: 'R-054',
  key_expired: 'R-055',
  account_disabled: 'R-056',
  not_found: 'R-070',
  body_too_large: 'R-072',
};

/** The field at fault, where one is. */
const FIELDS: Record<string, string> = {
  duplicate_email: 'email',
  invalid_parameter: 'name',
  model_not_found: 'model',
};

describe('the envelope', () => {
  for (const [code, provoke] of Object.entries(FAULTS)) {
    const numbers = ['R-030, R-031, R-033', NUMBERS[code] ?? []].flat().join(', ');
    test(`${numbers}: ${code} is told in the envelope and nothing beside it`, async () => {
      const [status, type] = [ERROR_TABLE[code as ErrorCode][0], errorType(code as ErrorCode)];
      const answer = await provoke();
      const { message } = answer.json.error;
      assert.deepEqual(answer.json, { error: { message, type, code, param: FIELDS[code] ?? null } });
      assert.deepEqual([answer.status, typeof message, message === ''], [status, 'string', false]);
      assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8');
    });

    test(`R-041, R-042: ${code} has the headers that go with it and none about rates`, async () => {
      const { headers, status } = await provoke();
      assert.equal(headers['www-authenticate'], status === 401 ? 'Bearer' : undefined);
      for (const name of ['retry-after', 'x-should-retry']) {
        assert.equal(headers[name], errorHeaders(code as ErrorCode)[name], name);
      }
      assert.deepEqual(
        Object.keys(headers).filter((name) => name.startsWith('x-ratelimit-')),
        [],
      );
    });
  }

  test('R-032, R-033: every code is lower snake case and has one of the nine types', () => {
    const types =
      'invalid_request_error authentication_error permission_error not_found_error rate_limit_error ' +
      'insufficient_quota upstream_error timeout_error server_error';
    for (const code of CODES) {
      assert.match(code, /^[a-z]+(_[a-z]+)*$/);
      assert.ok(types.split(' ').includes(errorType(code)), code);
    }
  });

  test('R-038, R-039: the type follows from the status', () => {
    const typeOf: Record<number, string> = {
      400: 'invalid_request_error',
      401: 'authentication_error',
      402: 'insufficient_quota',
      403: 'permission_error',
      404: 'not_found_error',
      408: 'timeout_error',
      409: 'invalid_request_error',
      410: 'not_found_error',
      413: 'invalid_request_error',
      425: 'invalid_request_error',
      429: 'rate_limit_error',
      431: 'invalid_request_error',
      499: 'timeout_error',
      500: 'server_error',
      502: 'upstream_error',
      503: 'server_error',
      504: 'timeout_error',
    };
    for (const code of CODES.filter((each) => (each as string) !== 'no_available_provider')) {
      assert.equal(errorType(code), typeOf[ERROR_TABLE[code][0]], code);
    }
  });

  for (const path of ['/v1/x', '/v1', '/v1beta', '/api/hub/public/x', '/api/hub/public/models/x', '/healthz/x']) {
    test(`R-036: ${path} is refused in the envelope`, async () => {
      const { json, status } = await gateway.call('POST', path, { body: {} });
      assert.deepEqual([status, Object.keys(json), json.error.code], [404, ['error'], 'not_found']);
    });
  }
});

describe('statuses', () => {
  const statusOf: Record<string, number> = {
    missing_token: 401,
    invalid_api_key: 401,
    key_disabled: 401,
    key_expired: 401,
    account_disabled: 401,
    no_account: 401,
    not_signed_in: 401,
    sign_in_refused: 401,
    insufficient_credits: 402,
    insufficient_scope: 403,
    foreign_origin: 403,
    insufficient_role: 403,
    csrf_refused: 403,
    sign_up_closed: 403,
    // A link carries its own permission, which can be missing or over.
    invalid_link: 403,
    not_found: 404,
    model_not_found: 404,
    no_capable_provider: 404,
    idempotency_conflict: 409,
    body_too_large: 413,
    admission_in_progress: 425,
    rate_limited: 429,
    too_many_concurrent_requests: 429,
    media_open_job_capacity: 429,
    request_canceled: 499,
    internal_error: 500,
    identity_unavailable: 503,
    precheck_failed: 503,
    no_available_provider: 503,
    request_timeout: 504,
    job_timeout: 504,
  };

  test('R-047, R-048, R-049: a code has the status of its meaning, and these statuses have no other meaning', () => {
    for (const code of CODES) {
      const [status] = ERROR_TABLE[code];
      const isTaken = [401, 402, 403, 425, 499, 500, 504].includes(status);
      if (isTaken || Object.hasOwn(statusOf, code)) assert.equal(statusOf[code], status, code);
    }
  });

  test('R-050, R-051: no route of the public contract documents a status outside the list', async () => {
    const allowed = '200 202 206 302 304 400 401 402 403 404 409 413 416 425 429 499 500 502 503 504'.split(' ');
    const { json } = await gateway.call('GET', '/openapi.json');
    const paths = Object.entries(json.paths as Record<string, Record<string, { responses: object }>>);
    for (const [path, operations] of paths) {
      for (const { responses } of Object.values(operations)) {
        const outside = Object.keys(responses).filter((status) => !allowed.includes(status));
        assert.deepEqual(path.includes('/audio/transcriptions/{') ? [] : outside, [], path);
      }
    }
  });

  test('R-062: what is over the rate is told to come back in a minute', async () => {
    const answer = await FAULTS.rate_limited?.();
    assert.deepEqual([answer?.status, answer?.headers['retry-after']], [429, '60']);
  });

  test('R-063: what is over the concurrency is told to come back in a second', async () => {
    await gateway.putConfig(longCatalogue());
    const { key } = await gateway.newCaller({ key: { concurrency: 1 } });
    const running = await UnreadRequest.send(gateway, key);
    const answer = await gateway.call('GET', '/v1/models/none', { key });
    running.drop();
    refused(answer, 429, 'too_many_concurrent_requests');
    assert.equal(answer.headers['retry-after'], '1');
  });

  test('R-065: a model is not found where the key does not reach it', async () => {
    await gateway.putConfig({
      upstreams: [sandbox('far', { groups: ['far'] })],
      models: [imageModel('far/away', ['far'])],
    });
    const [near, far] = [await gateway.newCaller(), await gateway.newCaller({ groups: ['far'] })];
    refused(await gateway.call('GET', '/v1/models/far/away', { key: near.key }), 404, 'model_not_found');
    assert.equal((await gateway.call('GET', '/v1/models/far/away', { key: far.key })).status, 200);
  });

  for (const fault of ['duplicate_email', 'duplicate_reference']) {
    test(`${fault} is not worth a second try, and says so`, async () => {
      assert.equal((await FAULTS[fault]?.())?.headers['x-should-retry'], 'false');
    });
  }

  test('R-043: whether a second try is worth it follows from the status', () => {
    const worth: Record<number, string> = {
      402: 'false',
      409: 'false',
      425: 'true',
      429: 'true',
      502: 'true',
      503: 'true',
      504: 'true',
    };
    for (const code of CODES) assert.equal(errorHeaders(code)['x-should-retry'], worth[ERROR_TABLE[code][0]], code);
  });
});

describe('several faults', () => {
  const TOO_LARGE = 'Content-Length: 1048577';

  for (const [first, second, line, headers, status, code] of [
    ['route', 'size', 'POST /nothing-here', [TOO_LARGE], 404, 'not_found'],
    ['route', 'size', 'PUT /v1/models', [TOO_LARGE], 404, 'not_found'],
    ['route', 'content type', 'POST /nothing-here', ['Content-Type: ;;', 'Content-Length: 9'], 404, 'not_found'],
    ['size', 'credential', 'POST /api/admin/accounts', [TOO_LARGE], 413, 'body_too_large'],
    ['credential', 'encoding', 'POST /api/admin/accounts', ['Content-Encoding: gzip'], 401, 'missing_token'],
    ['credential', 'content type', 'POST /api/admin/accounts', ['Content-Type: text/css'], 401, 'missing_token'],
    ['credential', 'body', 'POST /api/admin/accounts', ['Content-Length: 9'], 401, 'missing_token'],
    [
      'content type',
      'parse',
      'POST /api/admin/accounts',
      [OPERATOR, 'Content-Type: text/css'],
      400,
      'unsupported_content_type',
    ],
  ] as const) {
    test(`R-044: ${first} is judged before ${second} (${line})`, async () => {
      // The bodies that are announced are never sent: whoever waits for them gives no answer at all.
      refused(await sendRaw(gateway.url, requestText(line, headers)), status, code);
    });
  }

  test('R-044: a body that does not parse is judged before its fields', async () => {
    refused(await newAccount('{"name":3,'), 400, 'invalid_json');
  });

  test('R-044: a wrong key is judged before everything that it asks for', async () => {
    refused(await gateway.call('GET', '/v1/models/none', { key: newApiKey() }), 401, 'invalid_api_key');
  });

  test('R-044: the state of the account is judged before the rate', async () => {
    const { key, accountId } = await gateway.newCaller({ key: { rpm: 1 } });
    await gateway.call('GET', '/v1/models', { key });
    await gateway.admin('PATCH', `/accounts/${accountId}`, { status: 'suspended' });
    refused(await gateway.call('GET', '/v1/models', { key }), 401, 'account_disabled');
  });

  test('R-044: the rate is judged before content type, body and model', async () => {
    const { key } = await gateway.newCaller({ key: { rpm: 1 } });
    await gateway.call('GET', '/v1/models', { key });
    refused(await gateway.call('GET', '/v1/models/none', { key }), 429, 'rate_limited');
    const text = requestText('POST /v1/estimate', [
      `Authorization: Bearer ${key}`,
      'Content-Type: x',
      'Content-Length: 9',
    ]);
    refused(await sendRaw(gateway.url, text), 429, 'rate_limited');
  });

  test('R-044: fields are judged before the model that they name', async () => {
    const { key } = await gateway.newCaller();
    const estimate = (body: object) => gateway.call('POST', '/v1/estimate', { key, body });
    refused(await estimate({ endpoint: 'nowhere', model: 'none' }), 400, 'invalid_parameter');
    refused(await estimate({ endpoint: 'images', model: 'none' }), 404, 'model_not_found');
  });
});

describe('faults of this side', () => {
  test('R-035, R-071: an error of the database that is our bug is told without a word of it', async (t) => {
    const captured = captureLog();
    const broken = await Gateway.start({ log: captured.log });
    t.after(() => broken.stop());
    const { key } = await broken.newCaller();
    const db = openDb(broken.database.address, silentLog);
    await db.run('alter table api_keys rename to api_keys_gone');
    await db.close();
    for (const answer of [
      await broken.call('GET', '/v1/models', { key }),
      await broken.admin('PATCH', '/keys/key_none', { disabled: true }),
    ]) {
      refused(answer, 500, 'internal_error');
      assert.equal(answer.json.error.message, ERROR_TABLE.internal_error[1]);
      assert.doesNotMatch(JSON.stringify(answer.headers), /api_keys|relation|\.ts\b|42P01/);
    }
    assert.match(captured.text(), /relation \\"api_keys\\" does not exist/, 'the operator can see the cause');
    assert.ok(!captured.text().includes(key.slice(7)), 'and no key');
  });

  test('R-035, R-111: an address that is refused leaves its key neither in the answer nor in the log', async (t) => {
    const captured = captureLog();
    const logged = await Gateway.start({ log: captured.log });
    t.after(() => logged.stop());
    const { key } = await logged.newCaller();
    const secret = key.slice(7, 40);
    for (const text of [
      requestText(`GET /v1/models/%zz?key=${key}`),
      requestText(`GET http://other.test/v1/models?key=${key}`),
      requestText(`GET /v1/models?key=${key}`, ['Host: other.test']),
      requestText(`GET /v1/models?key=${key}`, [`X-Long: ${'x'.repeat(33_000)}`]),
      requestText(`GET /nothing-here?key=${key}`),
      requestText(`FETCH /v1/models?key=${key}`),
      requestText(`GET /v1/models/${key}`, [`Authorization: Bearer ${key}`]),
      requestText('POST /api/admin/accounts', [OPERATOR], JSON.stringify({ name: 'x', [key]: key })),
    ]) {
      const answer = await sendRaw(logged.url, text);
      assert.ok(answer.status >= 400, text);
      assert.ok(!JSON.stringify(answer).includes(secret), text);
    }
    await until(() => captured.text().includes('"route":"/api/admin/accounts"'));
    assert.ok(!captured.text().includes(secret));
  });

  test('R-048, R-069: a caller who leaves is a 499 in the log and nowhere else', async (t) => {
    const captured = captureLog();
    const logged = await Gateway.start({ log: captured.log });
    t.after(() => logged.stop());
    using leaving = await RawConnection.open(logged.url);
    const headers = [OPERATOR, 'Content-Length: 20', 'X-Request-Id: leaver'];
    await leaving.send(`${requestText('POST /api/admin/accounts', headers)}{"name":`);
    // The second request is answered after the first was admitted.
    await logged.admin('GET', '/accounts');
    leaving.reset();
    await until(() => captured.text().includes('leaver'));
    const line =
      captured
        .text()
        .split('\n')
        .find((each) => each.includes('leaver')) ?? '';
    const { status, code } = JSON.parse(line);
    assert.deepEqual([status, code], [499, 'request_canceled']);
    assert.doesNotMatch(captured.text(), /unexpected error/);
  });

  /** A gateway whose way to its database can be cut. */
  async function startLinked(t: TestContext): Promise<{ link: DatabaseLink; at: Gateway }> {
    const database = await createDatabase();
    const link = await DatabaseLink.open(database);
    const at = await Gateway.start({ database: link.database });
    t.after(async () => {
      await at.stop();
      await link.cut();
      await database.drop();
    });
    return { link, at };
  }

  test('R-058: with the directory out of reach a key gets 503, and a retry succeeds once it is back', async (t) => {
    const { link, at } = await startLinked(t);
    const { key } = await at.newCaller();
    await link.cut();
    refused(await at.call('GET', '/v1/models', { key }), 503, 'identity_unavailable');
    await link.restore();
    await until(async () => (await at.call('GET', '/v1/models', { key })).status === 200);
  });

  test('R-075: every 503 says when to come back', async (t) => {
    const { link, at } = await startLinked(t);
    const { key, accountId } = await at.newCaller();
    await link.cut();
    for (const [path, credential, code] of [
      ['/v1/models', key, 'identity_unavailable'],
      ['/api/admin/accounts', ADMIN_TOKEN, 'database_unavailable'],
      [`/api/admin/accounts/${accountId}/ledger`, ADMIN_TOKEN, 'precheck_failed'],
      ['/api/admin/books', ADMIN_TOKEN, 'precheck_failed'],
    ] as const) {
      const answer = await at.call('GET', path, { key: credential });
      refused(answer, 503, code);
      assert.equal(answer.headers['retry-after'], '1', code);
    }
    await until(async () => (await at.call('GET', '/healthz')).status === 503);
    assert.equal((await at.call('GET', '/healthz')).headers['retry-after'], '1');
    await link.restore();
  });
});
