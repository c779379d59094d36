import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, afterEach, before, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'yaml';
import { BUILT_IN_CATALOGUE } from '../src/configuration/index.ts';
import { COMPARED_CALLS_MAX } from '../src/limits.ts';
import { type Fields, imageModel, keyed, type WrittenDocument } from './support/documents.ts';
import { ADMIN_TOKEN, type Answer, Gateway } from './support/gateway.ts';
import { newOperator } from './support/people.ts';
import { keysInForce, ROOT_SECRET } from './support/stored-secrets.ts';

const settings = { TOLLGATE_SECRET: ROOT_SECRET };
const environment: Record<string, string> = { UPSTREAM_KEY: 'key-from-the-environment' };
const REFERENCE = `\${UPSTREAM_KEY}`;

let gateway: Gateway;
before(async () => {
  gateway = await Gateway.start({ settings, environment });
});
afterEach(() => gateway.assertBooksBalance());
after(() => gateway.stop());

const inForce = async (at = gateway): Promise<WrittenDocument> => (await at.admin('GET', '/config')).json;
const lastAudit = async () => (await gateway.admin('GET', '/audit?limit=1')).json.data[0];
const newest = async () => (await gateway.admin('GET', '/config/versions?limit=1')).json.data[0];

function text(method: string, path: string, raw: string): Promise<Answer> {
  const headers = { 'content-type': 'application/yaml' };
  return gateway.call(method, `/api/admin${path}`, { key: ADMIN_TOKEN, raw, headers });
}

/** Puts a document in force and gives its version. */
async function put(document: unknown): Promise<number> {
  const answer = await gateway.admin('PUT', '/config', document);
  assert.equal(answer.status, 200, answer.text);
  return answer.json.version;
}

function refused(answer: Answer, status: number, code: string): void {
  assert.deepEqual([answer.status, answer.json.error?.code], [status, code], answer.text);
}

for (const [name, document] of [
  ['built-in catalogue', BUILT_IN_CATALOGUE],
  ['example', readFileSync(new URL('../tollgate.example.yaml', import.meta.url), 'utf8')],
] as const) {
  test(`R-524: the ${name} is shown as YAML that is the same document, and shorter than its JSON`, async () => {
    await put(parse(document.replaceAll(/\$\{\w+\}/g, () => REFERENCE)));
    const yaml = await gateway.admin('GET', '/config?format=yaml');
    assert.match(yaml.headers['content-type'] ?? '', /^application\/yaml/);
    const json = await inForce();
    assert.ok(yaml.text.length < JSON.stringify(json, null, 2).length);
    const version = (await newest()).version;
    const back = await text('PUT', '/config', yaml.text);
    assert.deepEqual(back.json, { object: 'config', version, changes: [], warnings: [] }, back.text);
    assert.deepEqual(await inForce(), json);
    const old = await gateway.call('GET', `/api/admin/config/versions/${version}?format=yaml`, { key: ADMIN_TOKEN });
    assert.equal(old.text, yaml.text);
  });
}

test('R-524: the schema of the document is what checks it: it takes the built-in one, and names fields and vendors', async () => {
  const { json: schema } = await gateway.admin('GET', '/config/schema');
  const check = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);
  const document = parse(BUILT_IN_CATALOGUE);
  const isValid = (value: unknown): boolean => check(value);
  assert.ok(isValid(document), JSON.stringify(check.errors));
  const [model] = document.models;
  assert.ok(!isValid({ ...document, models: [{ ...model, modality: 'smell' }] }));
  assert.ok(!isValid({ ...document, models: [{ ...model, colour: 'red' }] }));
  assert.ok(!isValid({ ...document, upstreams: [{ id: 'a', vendor: 'nobody' }] }));
  const upstream = schema.properties.upstreams.items.properties;
  assert.ok(upstream.vendor.enum.includes('sandbox'));
  for (const [field, { description }] of [
    ...Object.entries<Fields>(upstream),
    ...Object.entries<Fields>(schema.properties.models.items.properties),
  ]) {
    assert.equal(typeof description, 'string', field);
  }
});

test('R-524: a check tells every problem with path and line, and changes nothing', async () => {
  const before = [await newest(), await lastAudit()];
  const { json } = await text(
    'POST',
    '/config/check',
    `upstreams:
  - { id: home, vendor: sandbox }
  - id: far
    vendor: anthropic
    base_url: https://upstream.test
    api_key: \${NOT_SET}
models:
  - id: m
    modality: image
    owned_by: studio
    endpoints: [images]
    pricing: { mode: per_image, credits: { base: -1 } }
    routes: [{ upstream: hoem, model: x }]
`,
  );
  assert.equal(json.valid, false);
  assert.deepEqual(
    json.problems.map(({ path, line }: Record<string, string>) => `${path} ${line}`),
    ['models[0].pricing.credits.base 12', 'models[0].routes[0].upstream 13'],
  );
  const unset = await text(
    'POST',
    '/config/check',
    `models: []\nupstreams:\n  - { id: far, vendor: anthropic, base_url: https://upstream.test, api_key: "\${NOT_SET}" }`,
  );
  assert.deepEqual(
    unset.json.problems.map(({ path, line }: Record<string, string>) => `${path} ${line}`),
    ['upstreams[0].api_key 3'],
  );
  const broken = await text('POST', '/config/check', 'upstreams: [');
  assert.equal(broken.json.problems[0].line, 1);
  assert.deepEqual([await newest(), await lastAudit()], before);
});

test('R-524: a check of a good document tells the changes that applying it then makes, and no key', async () => {
  await put({ upstreams: [keyed('u', 'first-hidden')], models: [imageModel('told', ['u'])] });
  const before = [await newest(), await lastAudit(), await inForce()];
  const next = { upstreams: [keyed('u', 'second-hidden')], models: [imageModel('told', ['u'], { tags: ['x'] })] };
  const checked = await gateway.admin('POST', '/config/check', next);
  assert.deepEqual(checked.json, {
    object: 'config_check',
    valid: true,
    problems: [],
    changes: ['~ model told: tags [] → ["x"]', '~ upstream u: api_key changed'],
    warnings: [],
  });
  assert.deepEqual([await newest(), await lastAudit(), await inForce()], before);
  assert.deepEqual((await gateway.admin('PUT', '/config', next)).json.changes, checked.json.changes);
  assert.deepEqual((await gateway.admin('POST', '/config/check', await inForce())).json.changes, []);
});

test('R-524: an earlier version is put in force again as a new one, with the keys that it had', async () => {
  const first = { upstreams: [keyed('u', 'old-key'), keyed('v', REFERENCE)], models: [imageModel('rolled', ['u'])] };
  const old = await put(first);
  const document = await inForce();
  await put({ upstreams: [keyed('u', 'new-key')], models: [] });
  environment.UPSTREAM_KEY = 'rotated-since';
  const answer = await gateway.admin('POST', `/config/versions/${old}/apply`);
  assert.equal(answer.json.version, old + 2, answer.text);
  assert.ok(
    answer.json.changes.includes('+ model rolled') && answer.json.changes.includes('~ upstream u: api_key changed'),
  );
  assert.deepEqual(await inForce(), document);
  assert.deepEqual(await keysInForce(gateway.database), { u: 'old-key', v: 'rotated-since' });
  const entry = await lastAudit();
  assert.deepEqual(
    [entry.action, entry.target, entry.detail.from_version],
    ['config.apply', `version ${old + 2}`, old],
  );
  const again = await gateway.admin('POST', `/config/versions/${old}/apply`);
  assert.deepEqual([again.json.version, again.json.changes], [old + 2, []]);
});

test('R-524: a version whose key is gone from the environment is refused, and nothing changes', async () => {
  environment.GONE_LATER = 'for-a-while';
  const old = await put({ upstreams: [keyed('w', `\${GONE_LATER}`)], models: [] });
  await put({ upstreams: [], models: [] });
  delete environment.GONE_LATER;
  const before = [await newest(), await lastAudit()];
  const answer = await gateway.admin('POST', `/config/versions/${old}/apply`);
  refused(answer, 400, 'invalid_config');
  assert.match(answer.json.error.message, /GONE_LATER is not set/);
  assert.deepEqual([await newest(), await lastAudit()], before);
});

test('R-524: a version that was sealed with a secret that is not known any more is refused in words', async (t) => {
  const old = await put({ upstreams: [keyed('sealed', 'under-the-old-secret')], models: [] });
  await put({ upstreams: [], models: [] });
  const renewed = await Gateway.start({
    settings: { TOLLGATE_SECRET: 'another-root-secret-of-the-tests-0123456789' },
    environment,
    database: gateway.database,
    clock: gateway.clock,
  });
  t.after(() => renewed.stop());
  const answer = await renewed.admin('POST', `/config/versions/${old}/apply`);
  refused(answer, 400, 'invalid_config');
  assert.match(answer.json.error.message, /sealed with another TOLLGATE_SECRET/);
});

test('a version that never was is not found', async () => {
  for (const version of ['0', '999999', 'x', '-1', '1e3', '9'.repeat(30)]) {
    refused(await gateway.admin('GET', `/config/versions/${version}`), 404, 'config_version_not_found');
    refused(await gateway.admin('POST', `/config/versions/${version}/apply`), 404, 'config_version_not_found');
  }
});

test('R-524: typical calls of every model and endpoint have a price now and under the document', async () => {
  await put(parse(BUILT_IN_CATALOGUE));
  const next = parse(BUILT_IN_CATALOGUE);
  const image = next.models.find(({ id }: Fields) => id === 'sandbox/image');
  image.pricing.credits.base = 15;
  next.models = next.models.filter(({ id }: Fields) => id !== 'sandbox/music');
  const { json } = await gateway.admin('POST', '/config/estimate', { document: next });
  const endpoints = parse(BUILT_IN_CATALOGUE).models.flatMap(
    ({ id, endpoints: own }: { id: string; endpoints: string[] }) => own.map((endpoint) => `${id} ${endpoint}`),
  );
  assert.deepEqual(
    new Set(json.data.map((row: Record<string, string>) => `${row.model} ${row.endpoint}`)),
    new Set(endpoints),
  );
  for (const row of json.data) {
    const isMusic = row.model === 'sandbox/music';
    assert.ok(row.credits_now > 0, JSON.stringify(row));
    assert.equal(row.credits_then === null, isMusic, JSON.stringify(row));
    assert.equal(row.problems.length, isMusic ? 1 : 0, JSON.stringify(row));
  }
  const pictures = json.data.filter((row: Fields) => row.endpoint === 'images');
  assert.deepEqual(
    pictures.map((row: Fields) => [row.call, row.credits_now, row.credits_then, row.change]),
    [
      ['one picture', 10, 15, 5],
      ['one picture, resolution 4k, quality high', 80, 120, 40],
    ],
  );
});

test('R-524: given calls are compared as they are, a document may be text, and what is wrong with either is told', async () => {
  await put(parse(BUILT_IN_CATALOGUE));
  const calls = [
    { endpoint: 'images', model: 'sandbox/image', prompt: 'p', n: 3 },
    { endpoint: 'images', model: 'sandbox/image', prompt: 'p', n: 30 },
    { endpoint: 'images', model: 'none', prompt: 'p' },
  ];
  const compared = await gateway.admin('POST', '/config/estimate', { document: BUILT_IN_CATALOGUE, calls });
  const rows = compared.json.data;
  assert.deepEqual(
    rows.map(({ credits_now, credits_then, change }: Fields) => [credits_now, credits_then, change]),
    [
      [30, 30, 0],
      [null, null, null],
      [null, null, null],
    ],
  );
  assert.match(rows[1].problems[0], /^Now: "n"/);
  refused(await gateway.admin('POST', '/config/estimate', { document: 'upstreams: 1' }), 400, 'invalid_config');
  const many = Array.from({ length: COMPARED_CALLS_MAX + 1 }, () => calls[0]);
  const document = BUILT_IN_CATALOGUE;
  refused(await gateway.admin('POST', '/config/estimate', { document, calls: many }), 400, 'invalid_parameter');
  const most = await gateway.admin('POST', '/config/estimate', { document, calls: many.slice(1) });
  assert.equal(most.json.data.length, COMPARED_CALLS_MAX);
});

test('R-525: an auditor reads versions and the schema, and neither applies nor rolls back', async () => {
  const auditor = await newOperator(gateway, 'auditor');
  const ask = (method: string, path: string) =>
    gateway.call(method, `/api/admin${path}`, { headers: auditor.headers, ...(method === 'POST' && { body: {} }) });
  const { version } = await newest();
  assert.equal((await ask('GET', `/config/versions/${version}`)).status, 200);
  assert.equal((await ask('GET', '/config/schema')).status, 200);
  refused(await ask('POST', `/config/versions/${version}/apply`), 403, 'insufficient_role');
});
