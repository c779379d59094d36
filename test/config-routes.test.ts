import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, afterEach, before, test } from 'node:test';
import { pino } from 'pino';
import { CONFIG_BODY_BYTES_MAX, CONFIG_INLINE_CHARS_MAX, CONFIG_LOCATED_CHARS_MAX } from '../src/limits.ts';
import { type Fields, imageModel, keyed, sandbox, type WrittenDocument } from './support/documents.ts';
import { ADMIN_TOKEN, type Answer, Gateway } from './support/gateway.ts';
import { dump, keysInForce, ROOT_SECRET } from './support/stored-secrets.ts';

const MASK = '********';
const VERSIONS = '/config/versions';
const settings = { TOLLGATE_SECRET: ROOT_SECRET };
const environment = { UPSTREAM_KEY: 'key-from-the-environment', TOLLGATE_SECRET: ROOT_SECRET, SPACED: 'two words' };

let gateway: Gateway;
const logged: string[] = [];

before(async () => {
  const log = pino({ level: 'trace' }, { write: (line) => void logged.push(line) });
  gateway = await Gateway.start({ settings, environment, log });
});
afterEach(() => gateway.assertBooksBalance());
after(() => gateway.stop());

function put(document: unknown, at: Gateway = gateway): Promise<Answer> {
  return at.admin('PUT', '/config', document);
}

function putText(raw: string | Buffer, contentType?: string): Promise<Answer> {
  const headers = contentType === undefined ? {} : { 'content-type': contentType };
  return gateway.call('PUT', '/api/admin/config', { key: ADMIN_TOKEN, raw, headers });
}

async function inForce(at: Gateway = gateway): Promise<WrittenDocument> {
  return (await at.admin('GET', '/config')).json;
}

async function newestVersion(): Promise<{ version: number }> {
  return (await gateway.admin('GET', `${VERSIONS}?limit=1`)).json.data[0];
}

function documentOf(upstreams: readonly Fields[], ...models: Fields[]): WrittenDocument {
  return { upstreams, models };
}

/** A document that nothing before it was equal to. */
function fresh(name: string): WrittenDocument {
  return documentOf([sandbox('home')], imageModel(`fresh/${name}`, ['home']));
}

function idsIn({ models }: WrittenDocument): unknown[] {
  return models.map(({ id }) => id);
}

function reference(variable: string): string {
  return `\${${variable}}`;
}

function assertRefused(answer: Answer, ...problems: string[]): void {
  assert.equal(answer.status, 400);
  assert.equal(answer.json.error.code, 'invalid_config');
  for (const problem of problems) assert.ok(answer.json.error.message.includes(problem), answer.json.error.message);
}

const CONTENT_TYPES = ['application/yaml', 'application/x-yaml', 'text/yaml', 'text/plain; charset=utf-8', undefined];

for (const [index, type] of CONTENT_TYPES.entries()) {
  test(`a configuration is taken as YAML, sent as ${type ?? 'nothing in particular'}`, async () => {
    const yaml = `# as an operator writes it
upstreams:
  - { id: home, vendor: sandbox }
models:
  - id: yaml/${index}
    modality: image
    owned_by: studio
    endpoints: [images]
    pricing: { mode: per_image, credits: { base: 40 } }
    routes: [{ upstream: home, model: wire-name }]
`;
    const answer = await putText(yaml, type);
    assert.equal(answer.status, 200, answer.text);
    const asYaml = await inForce();
    assert.deepEqual(idsIn(asYaml), [`yaml/${index}`]);
    const asJson = await put(documentOf([sandbox('home')], imageModel(`yaml/${index}`, ['home'])));
    assert.deepEqual(asJson.json, { object: 'config', version: answer.json.version, changes: [], warnings: [] });
  });
}

test('the example that is shipped can be applied as it is', async () => {
  const text = readFileSync(new URL('../tollgate.example.yaml', import.meta.url), 'utf8');
  const answer = await putText(
    text.replaceAll(/\$\{\w+\}/g, () => reference('UPSTREAM_KEY')),
    'application/yaml',
  );
  assert.equal(answer.status, 200, answer.text);
});

test('what GET shows can be put back and changes nothing', async () => {
  await gateway.putConfig(documentOf([keyed('u', 'a-literal-key')], imageModel('back', ['u'])));
  const { json } = await put(await inForce());
  assert.deepEqual(json.changes, []);
  assert.deepEqual(await keysInForce(gateway.database), { u: 'a-literal-key' });
});

test('a content type that no configuration has is refused', async () => {
  const answer = await putText('upstreams: []\nmodels: []', 'application/xml');
  assert.equal(answer.json.error.code, 'unsupported_content_type');
});

const BAD_BODIES: readonly (readonly [told: string, body: string | Buffer, code: string])[] = [
  ['nothing', '', 'invalid_config'],
  ['a list', '[]', 'invalid_config'],
  ['half a JSON object', '{"upstreams": [', 'invalid_config'],
  ['two documents', 'upstreams: []\nmodels: []\n---\nupstreams: []\nmodels: []', 'invalid_config'],
  ['a key given twice', '{"upstreams": [], "models": [], "models": []}', 'invalid_config'],
  ['brackets without end', '['.repeat(100_000), 'invalid_config'],
  ['aliases of aliases', aliasBomb(), 'invalid_config'],
  ['bytes that are no UTF-8', Buffer.from([0x22, 0xff, 0xfe, 0x22]), 'invalid_json'],
  ['a NUL', 'upstreams: []\nmodels: ["\0"]', 'invalid_config'],
];

function aliasBomb(): string {
  const lines = Array.from({ length: 20 }, (_, level) => `a${level + 1}: &a${level + 1} [*a${level}, *a${level}]`);
  return `a0: &a0 [x]\n${lines.join('\n')}`;
}

for (const [told, body, code] of BAD_BODIES) {
  test(`a body of ${told} is refused and changes nothing`, async () => {
    const before = [await inForce(), (await newestVersion()).version];
    const answer = await putText(body, 'application/yaml');
    assert.equal(answer.status, 400);
    assert.equal(answer.json.error.code, code);
    assert.deepEqual([await inForce(), (await newestVersion()).version], before);
  });
}

test('a document is applied whole or not at all: every problem is told at once, each with its path and line', async () => {
  await gateway.putConfig(documentOf([sandbox('home')], imageModel('standing', ['home'])));
  const { version } = await newestVersion();
  const answer = await putText(
    JSON.stringify(
      documentOf(
        [sandbox('home'), sandbox('home'), { id: 'far', vendor: 'nobody' }, keyed('bad key', 'k')],
        imageModel('good', ['home']),
        imageModel('good', ['home']),
        imageModel('lost', ['hoem'], { modality: 'smell' }),
        imageModel('dear', ['home'], { pricing: { mode: 'per_image', credits: { base: -1 } } }),
      ),
      null,
      1,
    ),
  );
  assertRefused(
    answer,
    'upstreams[1].id (line',
    'upstreams[2].vendor (line',
    'upstreams[3].id (line',
    'models[1].id (line',
    'models[2].modality (line',
    'models[2].routes[0].upstream (line',
    'models[3].pricing.credits.base (line',
  );
  assert.deepEqual(idsIn(await inForce()), ['standing']);
  assert.equal((await newestVersion()).version, version);
  const { key } = await gateway.newCaller();
  assert.equal((await gateway.call('GET', '/v1/models/standing', { key })).status, 200);
  assert.equal((await gateway.call('GET', '/v1/models/good', { key })).status, 404);
});

test('two models of one name are refused and both places are named', async () => {
  const twice = documentOf([sandbox('home')], imageModel('same', ['home']), imageModel('same', ['home']));
  assertRefused(await put(twice), 'models[1].id', 'models[0]');
});

test('a body of exactly 8 MiB is read and one byte more is refused, however it is sent', async () => {
  const text = JSON.stringify(fresh('8-mib'));
  const full = text + ' '.repeat(CONFIG_BODY_BYTES_MAX - text.length);
  assert.equal((await putText(full, 'application/json')).status, 200);
  const { version } = await newestVersion();
  const declared = await putText(`${full} `, 'application/json');
  assert.deepEqual([declared.status, declared.json.error.code], [413, 'body_too_large']);
  const chunked = await fetch(`${gateway.url}/api/admin/config`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
    body: new Blob([`${full} `]).stream(),
    duplex: 'half',
  });
  assert.equal(chunked.status, 413);
  assert.equal((await newestVersion()).version, version);
});

test('a document that is parsed in a thread is applied as a small one is, and refused with the same lines', async () => {
  const models = Array.from({ length: 200 }, (_, at) => imageModel(`many/${at}`, ['home']));
  const large = documentOf([sandbox('home')], ...models);
  assert.ok(JSON.stringify(large).length > CONFIG_INLINE_CHARS_MAX);
  assert.equal((await put(large)).status, 200);
  assert.deepEqual(idsIn(await inForce()), idsIn(large));
  const { version } = await newestVersion();
  const text = JSON.stringify({ ...large, extra: true }, null, 1);
  assertRefused(await putText(text, 'application/json'), 'extra', `line ${text.split('\n').length - 1}:2`);
  const unset = documentOf([sandbox('home'), keyed('away', reference('UNSET'))], ...models);
  assert.ok(JSON.stringify(unset).length > CONFIG_LOCATED_CHARS_MAX);
  assertRefused(await put(unset), 'upstreams[1].api_key', 'UNSET');
  const middle = JSON.stringify({ ...unset, models: models.slice(0, 20) }, null, 1);
  assert.ok(middle.length > CONFIG_INLINE_CHARS_MAX && middle.length <= CONFIG_LOCATED_CHARS_MAX);
  const line = middle.split('\n').findIndex((text) => text.includes('UNSET')) + 1;
  assertRefused(await putText(middle, 'application/json'), 'upstreams[1].api_key', `line ${line}:`);
  const both = await Promise.all([put({ ...large, a: 1 }), put({ ...large, b: 1 })]);
  for (const [at, name] of ['a', 'b'].entries()) assertRefused(both[at] as Answer, `${name} `);
  assert.equal((await newestVersion()).version, version);
});

test('every version that was in force is kept, newest first, with who applied it, when and what', async () => {
  const [one, two] = [fresh('history-1'), fresh('history-2')];
  const first = (await put(one)).json.version;
  gateway.clock.advance(100);
  const second = (await put(two)).json.version;
  const { data, has_more } = (await gateway.admin('GET', `${VERSIONS}?limit=2`)).json;
  assert.equal(has_more, true);
  assert.deepEqual(
    data.map(({ version, source, actor, change_count }: Fields) => [version, source, actor, change_count]),
    [
      [second, 'operator', 'operator', 2],
      [first, 'operator', 'operator', data[1].change_count],
    ],
  );
  for (const [place, id] of ['fresh/history-2', 'fresh/history-1'].entries()) {
    const { document, ...rest } = (await gateway.admin('GET', `${VERSIONS}/${data[place].version}`)).json;
    assert.deepEqual([idsIn(document), rest], [[id], data[place]]);
  }
  assert.equal(data[0].applied_at - data[1].applied_at, 100);
  const next = (await gateway.admin('GET', `${VERSIONS}?limit=1&after=${second}`)).json.data;
  assert.deepEqual(next, [data[1]]);
  const beforeAll = (await gateway.admin('GET', `${VERSIONS}?after=1`)).json;
  assert.deepEqual([beforeAll.data, beforeAll.has_more], [[], false]);
});

test('a document equal to the one in force makes no version and no entry in the audit', async () => {
  const document = fresh('equal');
  const { version } = (await put(document)).json;
  const audited = (await gateway.admin('GET', '/audit?limit=1')).json.data[0].id;
  assert.deepEqual((await put(document)).json, { object: 'config', version, changes: [], warnings: [] });
  assert.equal((await gateway.admin('GET', '/audit?limit=1')).json.data[0].id, audited);
});

test('the answer and the audit name every change, and never a key', async () => {
  await gateway.putConfig(documentOf([keyed('u', 'first-hidden'), sandbox('v')], imageModel('told', ['u'])));
  const changed = documentOf(
    [keyed('u', 'second-hidden'), sandbox('w')],
    imageModel('told', ['u', 'w'], { tags: ['x'] }),
  );
  const answer = await put(changed);
  const expected = [
    '+ upstream w',
    '- upstream v',
    '~ model told: tags [] → ["x"]',
    '~ model told: routes[1] added {"upstream":"w","model":"wire-name"}',
    '~ upstream u: api_key changed',
  ];
  assert.deepEqual(answer.json.changes, expected);
  const [entry] = (await gateway.admin('GET', '/audit?limit=1')).json.data;
  assert.equal(entry.action, 'config.apply');
  assert.equal(entry.request_id, answer.headers['x-request-id']);
  assert.deepEqual(entry.detail.changes, expected);
});

test('R-164: a ladder on which a longer prompt becomes cheaper is put in force, with a warning in answer and log', async () => {
  const pricing = {
    mode: 'per_token',
    credits: { input_per_k: 2, output_per_k: 8, cached_per_k: 1 },
    token_tiers: [
      { min_prompt_tokens: 100, input_per_k: 4 },
      { min_prompt_tokens: 200, input_per_k: 0 },
    ],
  };
  const model = imageModel('chat/falling', ['home'], { modality: 'chat', endpoints: ['chat'], pricing });
  const { status, json } = await put(documentOf([sandbox('home')], model));
  assert.deepEqual(
    [status, json.warnings],
    [
      200,
      [
        'models[0].pricing.token_tiers[1].input_per_k: comes to 2, less than 4 below this rung: a longer prompt becomes cheaper',
      ],
    ],
  );
  assert.ok(logged.some((line) => line.includes('"level":40') && line.includes(json.warnings[0])));
});

test('a key in place of another is a change, although both are masked', async () => {
  const withKey = (key: string) => documentOf([keyed('rotated', key)]);
  const { version } = (await put(withKey('one-key'))).json;
  const { json } = await put(withKey('another-key'));
  assert.deepEqual(json, {
    object: 'config',
    version: version + 1,
    changes: ['~ upstream rotated: api_key changed'],
    warnings: [],
  });
  assert.deepEqual(await keysInForce(gateway.database), { rotated: 'another-key' });
});

test('a mask keeps the key in force while other fields change', async () => {
  await gateway.putConfig(documentOf([keyed('u', 'kept-key')]));
  const answer = await put(documentOf([keyed('u', MASK, { priority: 5, base_url: 'HTTPS://Upstream.test:443/' })]));
  assert.deepEqual(answer.json.changes, ['~ upstream u: priority 0 → 5']);
  assert.deepEqual(await keysInForce(gateway.database), { u: 'kept-key' });
});

const REDIRECTIONS: readonly (readonly [told: string, upstream: Fields])[] = [
  ['another address', keyed('u', MASK, { base_url: 'https://elsewhere.test' })],
  ['another port', keyed('u', MASK, { base_url: 'https://upstream.test:8443' })],
  ['plain http', keyed('u', MASK, { base_url: 'http://upstream.test' })],
  ['another vendor', keyed('u', MASK, { vendor: 'gemini' })],
  ['an upstream of another name', keyed('u2', MASK)],
];

for (const [told, upstream] of REDIRECTIONS) {
  test(`a masked key is not carried to ${told}`, async () => {
    await gateway.putConfig(documentOf([keyed('u', 'kept-key'), keyed('other', 'its-own')]));
    assertRefused(await put(documentOf([keyed('other', MASK), upstream])), 'upstreams[1].api_key');
    assert.deepEqual(await keysInForce(gateway.database), { u: 'kept-key', other: 'its-own' });
  });
}

test('a reference takes a key from the environment and is shown as written', async () => {
  await gateway.putConfig(documentOf([keyed('u', reference('UPSTREAM_KEY'))]));
  assert.deepEqual(await keysInForce(gateway.database), { u: 'key-from-the-environment' });
  assert.equal((await inForce()).upstreams[0]?.api_key, reference('UPSTREAM_KEY'));
});

const BAD_REFERENCES: readonly (readonly [api_key: string, problem: string])[] = [
  [reference('NOT_SET'), 'NOT_SET is not set'],
  [reference('TOLLGATE_SECRET'), 'TOLLGATE_SECRET is the gateway'],
  [reference('SPACED'), 'SPACED holds more than'],
  [`x${reference('UPSTREAM_KEY')}`, 'a reference must be the whole value'],
];

for (const [api_key, problem] of BAD_REFERENCES) {
  test(`a key of ${api_key} is refused where it stands`, async () => {
    const answer = await put(documentOf([sandbox('home'), keyed('u', api_key)]));
    assertRefused(answer, 'upstreams[1].api_key', problem);
    for (const value of Object.values(environment)) assert.ok(!answer.text.includes(value));
  });
}

const SECRET = 'sk-planted-Secret-0123456789';

test('a key is sealed in the database: no table holds it in any form', async () => {
  await gateway.putConfig(documentOf([keyed('literal', SECRET), keyed('named', reference('UPSTREAM_KEY'))]));
  assert.deepEqual(await keysInForce(gateway.database), { literal: SECRET, named: environment.UPSTREAM_KEY });
  const rows = await dump(gateway.database);
  assert.ok(rows.includes(reference('UPSTREAM_KEY')), 'the dump holds the document');
  for (const secret of [SECRET, environment.UPSTREAM_KEY, ROOT_SECRET, ADMIN_TOKEN]) {
    for (const encoding of ['utf8', 'hex', 'base64', 'base64url'] as const) {
      const form = Buffer.from(secret).toString(encoding).replace(/=+$/, '');
      assert.ok(!rows.toLowerCase().includes(form.toLowerCase()), `${encoding} of ${secret}`);
    }
  }
});

test('a key is returned by no route and written to no log', async () => {
  const document = documentOf([keyed('u', SECRET, { enabled: false })], imageModel('m', ['u']));
  const answers = [
    await put(document),
    await put(documentOf([keyed('u', SECRET, { wieght: 1 })])),
    await put(documentOf([{ ...keyed('u', SECRET), api_key: [SECRET] }])),
    await put(documentOf([keyed('u', `${SECRET} with a space`)])),
    await putText(`upstreams: [{ id: u, api_key: ${SECRET}`, 'application/yaml'),
    await putText(`upstreams: []\nmodels: []\n"${SECRET}": &${SECRET} *${SECRET}`, 'application/yaml'),
    await gateway.admin('PATCH', '/upstreams/u', { enabled: true }),
    await gateway.admin('PATCH', '/upstreams/u', { enabled: true, api_key: SECRET }),
  ];
  for (const path of ['/config', VERSIONS, '/upstreams', '/audit', '/accounts', '/books']) {
    answers.push(await gateway.admin('GET', path));
  }
  for (const { text, headers } of answers) assert.ok(!(text + JSON.stringify(headers)).includes(SECRET), text);
  assert.equal((await inForce()).upstreams[0]?.api_key, MASK);
  assert.equal((await gateway.admin('GET', '/upstreams')).json.data[0].has_secret, true);
  assert.ok(logged.length > 0 && !logged.some((line) => line.includes(SECRET)));
});
