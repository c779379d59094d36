import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { ADMIN_TOKEN, type Answer, type CallOptions, Gateway } from './support/gateway.ts';
import { dumpOf, OF_DUTIES } from './support/leaks.ts';

let gateway: Gateway;
let account: string;
let key: string;
before(async () => {
  gateway = await Gateway.start();
  ({ accountId: account, keyId: key } = await gateway.newCaller());
});
after(() => gateway.stop());
afterEach(() => gateway.assertBooksBalance());

/** Everything that an operator can change. */
function everything(): Promise<string> {
  return dumpOf(gateway.database, OF_DUTIES);
}

async function changesNothing(work: () => Promise<void>): Promise<void> {
  const before = await everything();
  await work();
  assert.equal(await everything(), before);
}

function refused(answer: Answer, status: number, code: string, note = ''): void {
  assert.deepEqual([answer.status, answer.json.error?.code], [status, code], `${note} ${answer.text}`);
}

/** A body that each of these routes takes; the tests below spoil one field of it. */
const GOOD = {
  account: { name: 'Test', email: null, password: null, groups: null },
  change: { name: 'Test', status: 'active', groups: ['default'], limits: { rpm: 1, concurrency: 1 } },
  grant: { credits: 1, expires_at: null, source: 'gift', reference: null },
  key: { name: 'Test', groups: null, rpm: null, concurrency: null, credit_limit: null, expires_at: null },
  keyChange: { name: 'Test', disabled: false },
  client: { name: 'App', redirect_uris: ['https://app.example/'], scopes: ['user:jobs'], confidential: false },
};
type Kind = keyof typeof GOOD;

function routeOf(kind: Kind): readonly [method: string, path: string] {
  switch (kind) {
    case 'account':
      return ['POST', '/accounts'];
    case 'change':
      return ['PATCH', `/accounts/${account}`];
    case 'grant':
      return ['POST', `/accounts/${account}/grants`];
    case 'key':
      return ['POST', `/accounts/${account}/keys`];
    case 'keyChange':
      return ['PATCH', `/keys/${key}`];
    case 'client':
      return ['POST', '/oauth/clients'];
  }
}

const send = (kind: Kind, body: unknown) => gateway.admin(...routeOf(kind), body);

const BAD_NAMES = [5, true, [], {}, '', '   ', 'x'.repeat(201), 'a\0b', 'a\nb', '\ud800', 'a\u202eb'];
const BAD_GROUPS = ['default', [], ['UPPER'], [''], [5], ['-first'], ['x'.repeat(64)], numbered(51)];
const BAD_RATES = [0, -1, 1.5, '60', true, 1_000_001];
const BAD_MOMENTS = [-1, 1.5, '2030-01-01', true, 32_503_680_001];
const BAD_URIS = [
  'app.example',
  'ftp://app.example/',
  'http://app.example/',
  'http://localhost.app.example/',
  'http://127.0.0.1.app.example/',
  'https://user@app.example/',
  'https://:password@app.example/',
  'https://app.example/#part',
  'https://app.example/#',
  ' https://app.example/',
  'https://app.example/\n',
  'https://app.exa\tmple/',
  'https://app.example/\0',
  'https:app.example/',
  'https:\\\\app.example\\',
  'https://ápp.example/',
  `https://app.example/${'x'.repeat(2000)}`,
];

/** Values that a field cannot take, with the name under which the refusal must speak of it. */
const BAD_VALUES: readonly (readonly [Kind, field: string, values: readonly unknown[], named?: string])[] = [
  ['account', 'name', [undefined, null, ...BAD_NAMES]],
  ['account', 'email', [5, '', 'nobody', 'a@b', 'a b@example.com', `${'x'.repeat(250)}@example.com`]],
  ['account', 'password', [5, '', '123456789', 'x'.repeat(257)]],
  ['account', 'groups', BAD_GROUPS],
  ['change', 'name', BAD_NAMES],
  ['change', 'status', [5, '', 'Active', 'deleted']],
  ['change', 'groups', BAD_GROUPS],
  ['change', 'limits', [5, 'none', []]],
  ['change', 'limits', BAD_RATES.map((rpm) => ({ rpm })), 'limits.rpm'],
  ['change', 'limits', [0, 1.5, '5', 100_001].map((concurrency) => ({ concurrency })), 'limits.concurrency'],
  ['grant', 'credits', [undefined, null, '1', true, 0, 1e-7, 0.1234567, 1_000_000_000.000001, 1e300]],
  ['grant', 'credits', [-1], 'reason'],
  ['grant', 'expires_at', [...BAD_MOMENTS, 0, 1]],
  ['grant', 'source', BAD_NAMES],
  ['grant', 'reference', [5, '', 'x'.repeat(201), 'a\0b', '\ud800', 'a\nb']],
  ['key', 'name', [undefined, null, ...BAD_NAMES]],
  ['key', 'groups', BAD_GROUPS],
  ['key', 'rpm', BAD_RATES],
  ['key', 'concurrency', [0, 1.5, '5', 100_001]],
  ['key', 'credit_limit', ['1', -1, 1e-7, 1_000_000_000.000001]],
  ['key', 'credit_limit_reset', ['', 'year', 5]],
  ['key', 'expires_at', BAD_MOMENTS],
  ['keyChange', 'name', BAD_NAMES],
  ['keyChange', 'disabled', ['yes', 0, 1]],
  ['keyChange', 'rpm', BAD_RATES],
  ['keyChange', 'expires_at', BAD_MOMENTS],
  ['client', 'name', [undefined, ...BAD_NAMES]],
  ['client', 'redirect_uris', [undefined, 'https://app.example/', [], [5], ...BAD_URIS.map((uri) => [uri])]],
  ['client', 'redirect_uris', [numbered(21).map((name) => `https://${name}.example/`)]],
  ['client', 'scopes', [undefined, 'user:jobs', [], ['user:everything'], [5]]],
  ['client', 'confidential', ['yes', 1]],
];

function numbered(count: number): string[] {
  return Array.from({ length: count }, (_, number) => `g${number}`);
}

for (const [kind, field, values, named = field] of BAD_VALUES) {
  test(`${kind}: a ${named} that it cannot take is refused by name, and nothing changes`, async () => {
    await changesNothing(async () => {
      for (const value of values) {
        const answer = await send(kind, { ...GOOD[kind], [field]: value });
        const note = JSON.stringify(value)?.slice(0, 100);
        refused(answer, 400, 'invalid_parameter', note);
        assert.ok(answer.json.error.message.startsWith(`"${named}`), `${note}: ${answer.text}`);
      }
    });
  });
}

/** The last values that a field still takes. */
const LIMITS: readonly (readonly [Kind, field: string, values: readonly unknown[]])[] = [
  ['account', 'name', ['x', 'x'.repeat(200), 'Zoë 💳']],
  ['account', 'email', [`${'x'.repeat(60)}@${'y'.repeat(60)}.example`]],
  ['account', 'password', ['1234567890', 'x'.repeat(256)]],
  ['account', 'groups', [['x'.repeat(63)], ['0_-'], numbered(50)]],
  ['change', 'limits', [{ rpm: 1 }, { rpm: 1_000_000 }, { concurrency: 1 }, { concurrency: 100_000 }, {}]],
  ['grant', 'credits', [0.000001, 1_000_000_000]],
  ['grant', 'reference', ['x', 'x'.repeat(200), ' x']],
  ['grant', 'expires_at', [32_503_680_000]],
  ['key', 'rpm', [1, 1_000_000]],
  ['key', 'concurrency', [1, 100_000]],
  ['key', 'credit_limit', [0, 0.000001, 1_000_000_000]],
  ['key', 'expires_at', [0, 32_503_680_000]],
  ['client', 'redirect_uris', [numbered(20).map((name) => `https://${name}.example/`)]],
  ['client', 'redirect_uris', [[`https://app.example/${'x'.repeat(1980)}`]]],
  ['client', 'redirect_uris', [['http://127.0.0.1:8080/cb', 'http://[::1]/cb', 'http://localhost:1/cb?a=b']]],
];

for (const [kind, field, values] of LIMITS) {
  test(`${kind}: a ${field} at the limit is taken as it is`, async () => {
    for (const value of values) {
      const answer = await send(kind, { ...GOOD[kind], [field]: value });
      assert.equal(answer.status, 200, `${JSON.stringify(value).slice(0, 100)} ${answer.text}`);
      if (field !== 'password') assertShows(answer.json[field === 'credits' ? 'amount' : field], value);
    }
  });
}

function assertShows(shown: unknown, value: unknown): void {
  if (Array.isArray(shown) && Array.isArray(value)) assert.deepEqual(new Set(shown), new Set(value));
  else if (typeof value === 'object') assert.deepEqual({ ...(shown as object), ...value }, shown);
  else assert.equal(shown, value);
}

test('a grant must expire later than now', async () => {
  const now = Math.floor(gateway.clock.nowMs() / 1000);
  const answer = await send('grant', { ...GOOD.grant, expires_at: now });
  refused(answer, 400, 'invalid_parameter');
  assert.equal((await send('grant', { ...GOOD.grant, expires_at: now + 1 })).status, 200);
});

test('a field that does not exist is refused by name, and nothing changes', async () => {
  await changesNothing(async () => {
    for (const kind of Object.keys(GOOD) as Kind[]) {
      for (const name of ['nmae', 'id', 'constructor', '__proto__']) {
        const good = JSON.stringify(GOOD[kind]);
        const raw = `${good.slice(0, -1)},${JSON.stringify(name)}:1}`;
        const [method, path] = routeOf(kind);
        const answer = await gateway.call(method, `/api/admin${path}`, { key: ADMIN_TOKEN, raw });
        refused(answer, 400, 'invalid_parameter', `${kind} ${name}`);
        assert.ok(answer.json.error.message.includes(`"${name}"`), answer.text);
        assert.equal(answer.json.error.param, name);
      }
    }
  });
});

test('every route of the operator that takes a body names all fields that it does not know', async () => {
  const { json } = await gateway.call('GET', '/openapi.json');
  const operations = Object.entries(json.paths as Record<string, Record<string, { requestBody?: object }>>)
    .filter(([path]) => path.startsWith('/api/admin/'))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { requestBody }]) => ({ path, method, requestBody })),
    )
    .filter(({ requestBody }) => requestBody !== undefined);
  assert.ok(operations.length >= 8);
  for (const { path, method } of operations) {
    const url = path.replace(/\{\w+\}/g, 'acct_none');
    const answer = await gateway.call(method.toUpperCase(), url, {
      key: ADMIN_TOKEN,
      body: { first_one: 1, second_one: 2 },
    });
    // A check tells what is wrong with a document, and is no refusal.
    const status = path.endsWith('/config/check') ? 200 : 400;
    assert.equal(answer.status, status, `${method} ${path} ${answer.text}`);
    assert.match(answer.text, /first_one.*second_one/, `${method} ${path}`);
  }
});

test('fields that are not known are told together, each with the one that was probably meant', async () => {
  const told = async (body: object) => (await send('account', body)).json.error;
  const { message, param } = await told({ nmae: 'x', eMail: 'x@example.com', colour: 'red' });
  assert.equal(message, 'Not known here: "nmae" (did you mean "name"?), "eMail" (did you mean "email"?), "colour".');
  assert.equal(param, 'nmae');
  const many = await told({ name: 'x', ...Object.fromEntries(numbered(12).map((name) => [name, 1])) });
  assert.match(many.message, /^Not known here: "g0", .*"g9" and 2 more\.$/);
  const hostile = await told({ name: 'x', ['a\nb"'.repeat(1000)]: 1 });
  assert.deepEqual([hostile.param, /\n/.test(hostile.message), hostile.message.length < 200], [null, false, true]);
});

const BAD_BODIES: readonly (readonly [what: string, status: number, code: string, options: CallOptions])[] = [
  ['nothing', 400, 'invalid_json', {}],
  ['an array', 400, 'invalid_json', { raw: '[]' }],
  ['a text', 400, 'invalid_json', { raw: '"name"' }],
  ['null', 400, 'invalid_json', { raw: 'null' }],
  ['half an object', 400, 'invalid_json', { raw: '{"name":' }],
  ['two objects', 400, 'invalid_json', { raw: '{"name":"a"}{}' }],
  ['bytes that are no UTF-8', 400, 'invalid_json', { raw: Buffer.from('{"name":"\xff"}', 'latin1') }],
  ['a form', 400, 'unsupported_content_type', typed('application/x-www-form-urlencoded', 'name=Test')],
  ['a text type', 400, 'unsupported_content_type', typed('text/plain', '{"name":"Test"}')],
  ['no type at all', 400, 'unsupported_content_type', typed('json', '{"name":"Test"}')],
  [
    'a compressed body',
    400,
    'unsupported_content_encoding',
    { raw: gzipSync('{"name":"Test"}'), headers: { 'content-encoding': 'gzip' } },
  ],
];

function typed(type: string, raw: string): CallOptions {
  return { raw, headers: { 'content-type': type } };
}

for (const [what, status, code, options] of BAD_BODIES) {
  test(`${what} in the place of a JSON object is refused, and nothing changes`, async () => {
    await changesNothing(async () => {
      for (const kind of Object.keys(GOOD) as Kind[]) {
        const [method, path] = routeOf(kind);
        refused(await gateway.call(method, `/api/admin${path}`, { key: ADMIN_TOKEN, ...options }), status, code, kind);
      }
    });
  });
}

test('a body of exactly one mebibyte is taken, and one byte more is refused', async () => {
  const body = (bytes: number) => '{"name":"Large"}'.padEnd(bytes, ' ');
  const post = (raw: string) => gateway.call('POST', '/api/admin/accounts', { key: ADMIN_TOKEN, raw });
  assert.equal((await post(body(1_048_576))).status, 200);
  await changesNothing(async () => refused(await post(body(1_048_577)), 413, 'body_too_large'));
});

test('a small body where none belongs is not looked at, and a large one is refused', async () => {
  const remove = (id: string, raw: string) =>
    gateway.call('DELETE', `/api/admin/keys/${id}`, { key: ADMIN_TOKEN, raw });
  await changesNothing(async () => refused(await remove(key, ' '.repeat(65_537)), 413, 'body_too_large'));
  const { keyId } = await gateway.newCaller();
  assert.equal((await remove(keyId, '{}'.padEnd(65_536))).status, 200);
});

const NO_IDS = [
  'none',
  'acct_none',
  'key_none',
  'client_none',
  '%00',
  "'%20or%201=1--",
  '%F0%9F%92%B3',
  'x'.repeat(500),
];

const ROUTES_OF_IDS: readonly (readonly [method: string, path: string, code: string, body?: object])[] = [
  ['GET', '/accounts/{id}', 'account_not_found'],
  ['PATCH', '/accounts/{id}', 'account_not_found', GOOD.change],
  ['POST', '/accounts/{id}/grants', 'account_not_found', GOOD.grant],
  ['GET', '/accounts/{id}/grants', 'account_not_found'],
  ['GET', '/accounts/{id}/members', 'account_not_found'],
  ['GET', '/accounts/{id}/invitations', 'account_not_found'],
  ['GET', '/accounts/{id}/ledger', 'account_not_found'],
  ['POST', '/accounts/{id}/keys', 'account_not_found', GOOD.key],
  ['GET', '/accounts/{id}/keys', 'account_not_found'],
  ['GET', '/jobs/{id}', 'job_not_found'],
  ['GET', '/jobs/{id}/request', 'job_not_found'],
  ['PATCH', '/keys/{id}', 'key_not_found', GOOD.keyChange],
  ['DELETE', '/keys/{id}', 'key_not_found'],
  ['DELETE', '/oauth/clients/{id}', 'client_not_found'],
];

for (const [method, path, code, body] of ROUTES_OF_IDS) {
  test(`${method} ${path} answers 404 to an id of nothing, and nothing changes`, async () => {
    const strange = path.startsWith('/accounts') ? key : account;
    await changesNothing(async () => {
      for (const id of [...NO_IDS, strange]) {
        refused(await gateway.admin(method, path.replace('{id}', id), body), 404, code, id);
      }
    });
  });
}
