import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { LIVE_KEYS_PER_ACCOUNT_MAX } from '../src/limits.ts';
import { type Answer, Gateway } from './support/gateway.ts';
import { newMember, newOwner, type SignedInPerson } from './support/people.ts';

let gateway: Gateway;
let owner: SignedInPerson;
before(async () => {
  gateway = await Gateway.start();
  owner = await newOwner(gateway);
});
after(() => gateway.stop());
afterEach(() => gateway.assertBooksBalance());

function refused(answer: Answer, status: number, code: string): void {
  assert.deepEqual([answer.status, answer.json.error?.code], [status, code], answer.text);
}

async function newKey(body: object = {}, person = owner): Promise<{ id: string; key: string }> {
  const made = await person.call('POST', '/keys', { name: 'made in the console', ...body });
  assert.equal(made.status, 200, made.text);
  return made.json;
}

const use = (key: string) => gateway.call('GET', '/v1/models', { key });
const keyIds = async (person: SignedInPerson): Promise<string[]> =>
  (await person.call('GET', '/keys?limit=100')).json.data.map(({ id }: { id: string }) => id);

test('R-095, R-096, R-522: a key made in the console works, is shown once, and is over when it is deleted', async () => {
  const made = await owner.call('POST', '/keys', { name: 'laptop' });
  assert.equal(made.headers['cache-control'], 'no-store');
  assert.match(made.json.key, /^sk-tg1-/);
  assert.equal((await use(made.json.key)).status, 200);
  const later = [
    await owner.call('GET', '/keys'),
    await owner.call('PATCH', `/keys/${made.json.id}`, { name: 'desk' }),
    await gateway.admin('GET', '/audit?limit=100'),
  ];
  for (const { text } of later)
    assert.ok(!text.includes(made.json.key.slice(11, 20)) && !text.includes('"key":'), text);
  assert.deepEqual((await owner.call('DELETE', `/keys/${made.json.id}`)).json, {
    id: made.json.id,
    object: 'api_key',
    deleted: true,
  });
  refused(await use(made.json.key), 401, 'invalid_api_key');
  refused(await owner.call('DELETE', `/keys/${made.json.id}`), 404, 'key_not_found');
});

test('R-096, R-097: every setting of a key is taken, shown and changed', async () => {
  const settings = {
    expires_at: Math.floor(gateway.clock.nowMs() / 1000) + 86_400,
    groups: ['default'],
    rpm: 10,
    concurrency: 3,
    credit_limit: 2.5,
    credit_limit_reset: 'week',
  };
  const { id } = await newKey({ name: 'full', ...settings });
  const [record] = (await owner.call('GET', '/keys')).json.data;
  const { prefix, created_at, ...rest } = record;
  assert.equal(prefix.length, 4);
  assert.equal(created_at, Math.floor(gateway.clock.nowMs() / 1000));
  assert.deepEqual(rest, {
    id,
    object: 'api_key',
    account_id: owner.accountId,
    name: 'full',
    last_used_at: null,
    disabled: false,
    ...settings,
    credits_used: 0,
    credit_limit_used: 0,
    lineage: null,
    warnings: [],
  });

  const changes = {
    name: 'changed',
    disabled: true,
    rpm: 11,
    concurrency: 4,
    credit_limit: 3,
    credit_limit_reset: 'day',
  };
  const changed = (await owner.call('PATCH', `/keys/${id}`, changes)).json;
  for (const [field, value] of Object.entries(changes)) assert.equal(changed[field], value, field);
  const cleared = {
    expires_at: null,
    groups: null,
    rpm: null,
    concurrency: null,
    credit_limit: null,
    credit_limit_reset: null,
  };
  const open = (await owner.call('PATCH', `/keys/${id}`, cleared)).json;
  for (const field of Object.keys(cleared)) assert.equal(open[field], null, field);
});

test('R-096: a disabled key is refused at once, and works again when it is enabled', async () => {
  const { id, key } = await newKey();
  await owner.call('PATCH', `/keys/${id}`, { disabled: true });
  refused(await use(key), 401, 'key_disabled');
  await owner.call('PATCH', `/keys/${id}`, { disabled: false });
  assert.equal((await use(key)).status, 200);
});

test('R-096: a key made with an end is refused from that moment on', async () => {
  const { key } = await newKey({ expires_at: Math.floor(gateway.clock.nowMs() / 1000) + 60 });
  gateway.clock.advance(59);
  assert.equal((await use(key)).status, 200);
  gateway.clock.advance(1);
  refused(await use(key), 401, 'key_expired');
});

for (const field of ['rpm', 'concurrency'] as const) {
  test(`the console gives a key at most the account’s ${field}, else the deployment’s`, async () => {
    const person = await newOwner(gateway);
    const { defaultRpm, defaultConcurrency } = gateway.config;
    const usual = field === 'rpm' ? defaultRpm : defaultConcurrency;
    const { id } = await newKey({ [field]: usual }, person);
    for (const [method, path] of [
      ['POST', '/keys'],
      ['PATCH', `/keys/${id}`],
    ] as const) {
      const answer = await person.call(method, path, { name: 'fast', [field]: usual + 1 });
      refused(answer, 400, 'invalid_parameter');
      assert.equal(answer.json.error.param, field);
    }
    await gateway.admin('PATCH', `/accounts/${person.accountId}`, { limits: { [field]: usual + 10 } });
    assert.equal((await person.call('PATCH', `/keys/${id}`, { [field]: usual + 10 })).json[field], usual + 10);
    refused(await person.call('PATCH', `/keys/${id}`, { [field]: usual + 11 }), 400, 'invalid_parameter');
  });
}

test('R-096: a key may narrow its account’s groups and not widen them', async () => {
  const person = await newOwner(gateway, { groups: ['default', 'fast'] });
  assert.deepEqual((await person.call('POST', '/keys', { name: 'a', groups: ['fast'] })).json.groups, ['fast']);
  refused(await person.call('POST', '/keys', { name: 'a', groups: ['secret'] }), 400, 'invalid_parameter');
});

for (const [what, body] of [
  ['no name', {}],
  ['a name of nothing', { name: ' ' }],
  ['an unknown field', { name: 'a', admin: true }],
  ['credits below zero', { name: 'a', credit_limit: -1 }],
  ['an unknown period', { name: 'a', credit_limit_reset: 'year' }],
] as const) {
  test(`R-096: a key with ${what} is refused, and none is made`, async () => {
    const before = await keyIds(owner);
    refused(await owner.call('POST', '/keys', body), 400, 'invalid_parameter');
    assert.deepEqual(await keyIds(owner), before);
  });
}

test('R-095: keys are listed newest first, page by page', async () => {
  const person = await newOwner(gateway);
  const made: string[] = [];
  for (let count = 0; count < 3; count++) {
    gateway.clock.advance(1);
    made.unshift((await newKey({}, person)).id);
  }
  const first = (await person.call('GET', '/keys?limit=2')).json;
  const second = (await person.call('GET', `/keys?limit=2&after=${first.data[1].id}`)).json;
  assert.deepEqual([first.has_more, second.has_more], [true, false]);
  assert.deepEqual(
    [...first.data, ...second.data].map(({ id }) => id),
    made,
  );
});

test('R-091, R-096: of twenty creations at once at forty-nine keys exactly one succeeds, and then none', async () => {
  const person = await newOwner(gateway);
  for (let count = 1; count < LIVE_KEYS_PER_ACCOUNT_MAX; count++) await newKey({}, person);
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => person.call('POST', '/keys', { name: 'the fiftieth' })),
  );
  assert.equal(answers.filter(({ status }) => status === 200).length, 1);
  for (const answer of answers) if (answer.status !== 200) refused(answer, 400, 'key_limit_reached');
  assert.equal((await keyIds(person)).length, LIVE_KEYS_PER_ACCOUNT_MAX);
  const [newest] = await keyIds(person);
  await person.call('DELETE', `/keys/${newest}`);
  assert.equal((await person.call('POST', '/keys', { name: 'in its place' })).status, 200);
});

test('R-525: a viewer sees the keys and changes none; a member makes, changes and deletes them', async () => {
  const host = await newOwner(gateway);
  const { id } = await newKey({}, host);
  const viewer = await newMember(gateway, host, 'viewer');
  const member = await newMember(gateway, host, 'member');
  assert.deepEqual(await keyIds(viewer), [id]);
  refused(await viewer.call('POST', '/keys', { name: 'a' }), 403, 'insufficient_role');
  refused(await viewer.call('PATCH', `/keys/${id}`, { disabled: true }), 403, 'insufficient_role');
  refused(await viewer.call('DELETE', `/keys/${id}`), 403, 'insufficient_role');
  const made = await newKey({}, member);
  assert.equal((await member.call('PATCH', `/keys/${id}`, { name: 'b' })).status, 200);
  assert.equal((await member.call('DELETE', `/keys/${id}`)).status, 200);
  assert.deepEqual(await keyIds(host), [made.id]);
});

test('R-525: a key of another account is not there and stays as it was', async () => {
  const [host, stranger] = [await newOwner(gateway), await newOwner(gateway)];
  const { id, key } = await newKey({}, host);
  refused(await stranger.call('PATCH', `/keys/${id}`, { disabled: true }), 404, 'key_not_found');
  refused(await stranger.call('DELETE', `/keys/${id}`), 404, 'key_not_found');
  assert.equal((await use(key)).status, 200);
  assert.deepEqual(await keyIds(stranger), []);
});

test('R-525: a change without the session’s token makes no key', async () => {
  const before = await keyIds(owner);
  const answer = await owner.call('POST', '/keys', { name: 'a' }, { headers: { 'x-csrf-token': '' } });
  refused(answer, 403, 'csrf_refused');
  assert.deepEqual(await keyIds(owner), before);
});

test('what is done with keys in the console is in the audit under the person’s name', async () => {
  const { id } = await newKey();
  await owner.call('PATCH', `/keys/${id}`, { disabled: true });
  await owner.call('DELETE', `/keys/${id}`);
  const { data } = (await gateway.admin('GET', '/audit?limit=3')).json;
  const rows = data.map(({ action, actor, target }: Record<string, string>) => `${action} ${actor} ${target}`);
  assert.deepEqual(
    rows,
    ['key.delete', 'key.update', 'key.create'].map((action) => `${action} ${owner.email} ${id}`),
  );
});

test('R-097, R-522: the account tells its groups, and the rates that its keys may have and no more', async () => {
  const { json } = await owner.call('GET', '/account');
  assert.deepEqual(
    [json.id, json.object, json.status, json.groups],
    [owner.accountId, 'account', 'active', ['default']],
  );
  for (const rate of ['rpm', 'concurrency']) {
    await newKey({ [rate]: json.limits[rate] });
    refused(
      await owner.call('POST', '/keys', { name: 'faster', [rate]: json.limits[rate] + 1 }),
      400,
      'invalid_parameter',
    );
  }
});
