import assert from 'node:assert/strict';
import { test } from 'node:test';
import { diffDocuments } from './diff.ts';
import { type ConfigDocument, parseDocument } from './document.ts';
import type { VendorTerms } from './vendor-terms.ts';

type Fields = Record<string, unknown>;

const TERMS: readonly VendorTerms[] = [{ name: 'acme', address: 'origin', apiKey: 'optional' }];

function upstream(id: string, fields: Fields = {}): Fields {
  return { id, vendor: 'acme', base_url: 'https://acme.test', ...fields };
}

function model(id: string, fields: Fields = {}): Fields {
  return {
    id,
    modality: 'image',
    owned_by: 'studio',
    endpoints: ['images'],
    pricing: { mode: 'per_image', credits: { base: 40 } },
    routes: [
      { upstream: 'one', model: 'x' },
      { upstream: 'one', model: 'y' },
    ],
    ...fields,
  };
}

function documentOf(upstreams: readonly Fields[], models: readonly Fields[] = []): ConfigDocument {
  return parseDocument(JSON.stringify({ upstreams, models }), TERMS);
}

const one = upstream('one');

test('finds nothing between a document and itself', () => {
  const document = documentOf([one], [model('m')]);
  assert.deepEqual(diffDocuments(document, document), []);
});

test('finds nothing when upstreams, models and keys only change places', () => {
  const before = documentOf([one, upstream('two')], [model('a'), model('b')]);
  const after = documentOf(
    [upstream('two'), one],
    [model('b'), Object.fromEntries(Object.entries(model('a')).reverse())],
  );
  assert.deepEqual(diffDocuments(before, after), []);
});

test('finds nothing when a default is written out', () => {
  assert.deepEqual(diffDocuments(documentOf([one]), documentOf([upstream('one', { weight: 1 })])), []);
});

test('names what is added and what is gone', () => {
  const before = documentOf([one, upstream('old')], [model('m')]);
  const after = documentOf([one, upstream('new')], [model('n')]);
  assert.deepEqual(diffDocuments(before, after), ['+ upstream new', '- upstream old', '+ model n', '- model m']);
});

const CHANGES: readonly (readonly [sentence: string, fields: Fields, changes: readonly string[]])[] = [
  [
    'shows both values of a rate',
    { pricing: { mode: 'per_image', credits: { base: 42 } } },
    ['pricing.credits.base 40 → 42'],
  ],
  ['quotes a text of several words', { display_name: 'Photo 2' }, ['display_name "" → "Photo 2"']],
  [
    'shows a list of words whole',
    { endpoints: ['image_edits', 'images'] },
    ['endpoints ["images"] → ["image_edits","images"]'],
  ],
  ['shows a field that was not there', { accepts: { n_max: 4 } }, ['accepts.n_max added 4']],
  [
    'shows each change on its own line',
    { owned_by: 'house', tags: ['t'] },
    ['owned_by studio → house', 'tags [] → ["t"]'],
  ],
  [
    'takes the order of routes as meant',
    {
      routes: [
        { upstream: 'one', model: 'y' },
        { upstream: 'one', model: 'x' },
      ],
    },
    ['routes[0].model x → y', 'routes[1].model y → x'],
  ],
  [
    'shows a route that is gone',
    { routes: [{ upstream: 'one', model: 'x' }] },
    ['routes[1] removed, was {"upstream":"one","model":"y"}'],
  ],
];

for (const [sentence, fields, changes] of CHANGES) {
  test(sentence, () => {
    const lines = diffDocuments(documentOf([one], [model('m')]), documentOf([one], [model('m', fields)]));
    assert.deepEqual(
      lines,
      changes.map((change) => `~ model m: ${change}`),
    );
  });
}

const KEYS: readonly (readonly [
  sentence: string,
  before: string | undefined,
  after: string | undefined,
  change: string | undefined,
])[] = [
  ['says that a key changed and no more', 'hidden-1', 'hidden-2', 'api_key changed'],
  ['says that a key was added and no more', undefined, 'hidden-2', 'api_key added'],
  ['says that a key was removed and no more', 'hidden-1', undefined, 'api_key removed'],
  ['takes the mask as the key it stands for', 'hidden-1', '********', undefined],
  ['does not take the mask for a key that is not there', undefined, '********', 'api_key added'],
];

for (const [sentence, before, after, change] of KEYS) {
  test(sentence, () => {
    const withKey = (api_key: string | undefined) => documentOf([upstream('one', { api_key })]);
    const lines = diffDocuments(withKey(before), withKey(after));
    assert.deepEqual(lines, change === undefined ? [] : [`~ upstream one: ${change}`]);
  });
}
