import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConfigDocument, ConfigUpstream } from './document.ts';
import { parseDocument } from './document.ts';
import { DocumentError } from './problems.ts';
import { type DocumentInForce, MASKED_KEY, maskDocument, resolveSecrets } from './secrets.ts';
import type { VendorTerms } from './vendor-terms.ts';

const TERMS: readonly VendorTerms[] = [
  {
    name: 'acme',
    address: 'origin',
    apiKey: 'optional',
    dialects: { other: [] },
    credentials: { other: { apiKey: 'required', settings: {} } },
  },
  { name: 'other', address: 'origin', apiKey: 'optional' },
];

function documentOf(...upstreams: readonly Partial<ConfigUpstream>[]): ConfigDocument {
  const written = upstreams.map((fields) => ({ id: 'a', vendor: 'acme', base_url: 'https://acme.test', ...fields }));
  return parseDocument(JSON.stringify({ upstreams: written, models: [] }), TERMS);
}

function reference(variable: string): string {
  return `\${${variable}}`;
}

function refusals(...given: Parameters<typeof resolveSecrets>): readonly string[] {
  try {
    resolveSecrets(...given);
  } catch (error) {
    assert.ok(error instanceof DocumentError, `expected DocumentError, got ${String(error)}`);
    return error.problems.map(({ path, problem }) => `${path}: ${problem}`);
  }
  return [];
}

const inForce: DocumentInForce = {
  document: documentOf({ api_key: MASKED_KEY }, { id: 'keyless' }),
  secrets: new Map([['a', 'kept-key']]),
};

test('takes a key as written, one from the environment, and none', () => {
  const document = documentOf({ api_key: 'literal' }, { id: 'b', api_key: reference('ACME_KEY') }, { id: 'c' });
  const { secrets } = resolveSecrets(document, { ACME_KEY: 'from-outside' });
  assert.deepEqual(
    [...secrets],
    [
      ['a', 'literal'],
      ['b', 'from-outside'],
    ],
  );
});

test('reads no reference inside a key that came from the environment', () => {
  const document = documentOf({ api_key: reference('ONE') });
  assert.equal(resolveSecrets(document, { ONE: reference('TWO'), TWO: 'x' }).secrets.get('a'), reference('TWO'));
});

test('names every variable that is not set or empty', () => {
  const document = documentOf({ api_key: reference('ONE') }, { id: 'b', api_key: reference('TWO') });
  assert.deepEqual(refusals(document, { TWO: '' }), [
    'upstreams[0].api_key: the environment variable ONE is not set',
    'upstreams[1].api_key: the environment variable TWO is not set',
  ]);
});

test('does not take what every object has for a variable', () => {
  for (const name of ['constructor', '__proto__', 'toString']) {
    assert.match(refusals(documentOf({ api_key: reference(name) }), {})[0] ?? '', /is not set/);
  }
});

test('refuses a variable whose value no header can carry, without showing it', () => {
  const [problem = ''] = refusals(documentOf({ api_key: reference('KEY') }), { KEY: 'hidden\nX-Other: 1' });
  assert.match(problem, /KEY holds more than printable ASCII/);
  assert.doesNotMatch(problem, /hidden/);
});

const OWN = [
  'TOLLGATE_SECRET',
  'TOLLGATE_ADMIN_TOKEN',
  'tollgate_secret',
  'DATABASE_URL',
  'DATABASE_URL_FILE',
  'REDIS_URL',
  'AWS_SECRET_ACCESS_KEY',
  'PGPASSWORD',
];

for (const name of OWN) {
  test(`never sends the gateway's own ${name} to an upstream`, () => {
    const [problem = ''] = refusals(documentOf({ api_key: reference(name) }), { [name]: 'hidden' });
    assert.match(problem, /is the gateway's own/);
    assert.doesNotMatch(problem, /hidden/);
  });
}

test('keeps the key in force for the mask', () => {
  assert.equal(resolveSecrets(documentOf({ api_key: MASKED_KEY }), {}, inForce).secrets.get('a'), 'kept-key');
});

test('keeps the key in force when only other fields change', () => {
  const document = documentOf({ api_key: MASKED_KEY, priority: 9, base_url: 'HTTPS://acme.test/' });
  assert.equal(resolveSecrets(document, {}, inForce).secrets.get('a'), 'kept-key');
});

test('replaces the key in force by a new one, also at a new address', () => {
  const document = documentOf({ api_key: 'new-key', base_url: 'https://elsewhere.test' });
  assert.equal(resolveSecrets(document, {}, inForce).secrets.get('a'), 'new-key');
});

const REDIRECTED: readonly (readonly [sentence: string, fields: Partial<ConfigUpstream>])[] = [
  ['does not carry a kept key to another address', { base_url: 'https://evil.test' }],
  ['does not carry a kept key to another port', { base_url: 'https://acme.test:8443' }],
  ['does not carry a kept key over plain http', { base_url: 'http://acme.test' }],
  ['does not carry a kept key to another vendor', { vendor: 'other' }],
  ['does not carry a kept key to the hosts of another dialect', { dialect: 'other' }],
  ['does not carry a kept key to the token server of another credential', { credential: { kind: 'other' } }],
];

for (const [sentence, fields] of REDIRECTED) {
  test(sentence, () => {
    const [problem = ''] = refusals(documentOf({ api_key: MASKED_KEY, ...fields }), {}, inForce);
    assert.match(
      problem,
      /upstreams\[0\]\.api_key: a key is kept only with the same vendor, base_url, dialect and credential/,
    );
    assert.doesNotMatch(problem, /kept-key/);
  });
}

test('refuses the mask where no key is in force', () => {
  const cases = [
    refusals(documentOf({ api_key: MASKED_KEY }), {}),
    refusals(documentOf({ id: 'new', api_key: MASKED_KEY }), {}, inForce),
    refusals(documentOf({ id: 'keyless', api_key: MASKED_KEY }), {}, inForce),
  ];
  for (const [problem = ''] of cases) assert.match(problem, /no key of upstream \S+ is in force/);
});

test('masks keys and leaves references and keyless upstreams as written', () => {
  const document = documentOf({ api_key: 'literal' }, { id: 'b', api_key: reference('KEY') }, { id: 'c' });
  const masked = maskDocument(document);
  assert.deepEqual(
    masked.upstreams.map(({ api_key }) => api_key),
    [MASKED_KEY, reference('KEY'), undefined],
  );
  assert.doesNotMatch(JSON.stringify(masked), /literal/);
  assert.equal(document.upstreams[0]?.api_key, 'literal');
});

test('gives back from a masked document what the document gave', () => {
  const document = documentOf({ api_key: 'literal' }, { id: 'b', api_key: reference('KEY') });
  const env = { KEY: 'x' };
  const { secrets } = resolveSecrets(document, env);
  const masked = maskDocument(document);
  assert.deepEqual(resolveSecrets(masked, env, { document: masked, secrets }).secrets, secrets);
});
