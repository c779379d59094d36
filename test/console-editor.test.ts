import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { type DiffLine, diffLines, withGaps } from '../console/src/kit/line-diff.ts';
import { descriptionAt, type JsonSchema, optionsAt } from '../console/src/pages/admin/configuration/schema-options.ts';
import { placeAt } from '../console/src/pages/admin/configuration/yaml-place.ts';
import { documentJsonSchema } from '../src/configuration/index.ts';
import { vendors } from '../src/vendors/index.ts';

// What the console's editor of the configuration computes without a browser.

const SCHEMA = documentJsonSchema(vendors) as JsonSchema;

/** The cursor is at the `|`. */
function at(marked: string) {
  const offset = marked.indexOf('|');
  const text = marked.replace('|', '');
  const place = placeAt(text, offset);
  return { place, labels: place === undefined ? [] : optionsAt(SCHEMA, place, text).map(({ label }) => label) };
}

const UPSTREAMS = `upstreams:
  - id: main
    vendor: openai
    api_key: \${KEY}
  - id: "second"
    vendor: sandbox
`;

describe('completion', () => {
  const places: readonly (readonly [marked: string, path: string, isValue: boolean, word: string])[] = [
    ['ups|', '', false, 'ups'],
    ['upstreams:\n  - i|', 'upstreams.*', false, 'i'],
    ['upstreams:\n- i|', 'upstreams.*', false, 'i'],
    ['upstreams:\n  - id: main\n    ven|', 'upstreams.*', false, 'ven'],
    ['upstreams:\n  - id: main\n    vendor: op|', 'upstreams.*.vendor', true, 'op'],
    ['upstreams:\n  - id: main\n    groups: [a, b|', 'upstreams.*.groups.*', true, 'b'],
    [`${UPSTREAMS}models:\n  - id: m\n    pricing:\n      mode: per|`, 'models.*.pricing.mode', true, 'per'],
    [`${UPSTREAMS}models:\n  - id: m\n    pricing:\n      credits: { ba|`, 'models.*.pricing.credits', false, 'ba'],
    [`${UPSTREAMS}models:\n  - id: m\n    routes:\n      - { upstream: s|`, 'models.*.routes.*.upstream', true, 's'],
    [`${UPSTREAMS}models:\n  - id: m\n    endpoints:\n      - ch|`, 'models.*.endpoints.*', false, 'ch'],
    ['models:\n  - id: one\n    tags: [x]\n\n  # a second one\n  - id: two\n    mod|', 'models.*', false, 'mod'],
  ];
  for (const [marked, path, isValue, word] of places) {
    test(`finds ${path || 'the top'} in ${JSON.stringify(marked.slice(-32))}`, () => {
      const { place } = at(marked);
      assert.deepEqual([place?.path.join('.'), place?.isValue, place?.word], [path, isValue, word]);
    });
  }

  test('offers the keys that a map lacks, and not those that it has above or below', () => {
    const { labels } = at('upstreams:\n  - id: main\n    |\n    vendor: openai\n');
    assert.ok(labels.includes('base_url') && labels.includes('api_key'), labels.join());
    assert.ok(!labels.includes('id') && !labels.includes('vendor'), labels.join());
  });

  test('offers the values that the schema names, and true or false', () => {
    assert.ok(at('upstreams:\n  - vendor: |').labels.includes('openai'));
    assert.deepEqual(at('upstreams:\n  - enabled: |').labels, ['true', 'false']);
    const { labels } = at('models:\n  - endpoints: [|]');
    assert.ok(labels.includes('chat') && labels.includes('videos'), labels.join());
  });

  test('offers the upstreams of the document to a route', () => {
    const { labels } = at(`${UPSTREAMS}models:\n  - id: m\n    routes:\n      - upstream: |\n`);
    assert.deepEqual(labels, ['main', 'second']);
  });

  test('offers nothing in a comment', () => {
    assert.equal(at('upstreams: # ven|').place, undefined);
  });

  test('tells what a field is for', () => {
    assert.match(descriptionAt(SCHEMA, ['upstreams', '*', 'priority']) ?? '', /asked first/);
    assert.equal(descriptionAt(SCHEMA, ['upstreams', '*', 'none']), undefined);
  });

  test('finds a place or none wherever the cursor is in whatever text, and never throws', () => {
    const piece = fc.constantFrom('a', 'id', ':', ' ', '\n', '  ', '- ', '{', '}', '[', ']', ',', '#', '"', "'", '|');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), fc.nat(120), (pieces, offset) => {
        const text = pieces.join('');
        const place = placeAt(text, Math.min(offset, text.length));
        if (place !== undefined) optionsAt(SCHEMA, place, text);
      }),
    );
  });
});

describe('comparison', () => {
  const textOf = (lines: readonly DiffLine[], left: 'removed' | 'added') =>
    lines.flatMap((line) => (line.kind === 'same' || line.kind === left ? [line.text] : [])).join('\n');

  test('holds both texts, with their own line numbers', () => {
    const text = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 20 }).map((lines) => lines.join('\n'));
    fc.assert(
      fc.property(text, text, (before, after) => {
        const lines = diffLines(before, after);
        assert.equal(textOf(lines, 'removed'), before);
        assert.equal(textOf(lines, 'added'), after);
        for (const line of lines) {
          if ('before' in line && line.kind !== 'gap') assert.equal(before.split('\n')[line.before - 1], line.text);
          if ('after' in line) assert.equal(after.split('\n')[line.after - 1], line.text);
        }
      }),
    );
  });

  test('shows a changed line with what is around it, and leaves out the rest', () => {
    const before = Array.from({ length: 100 }, (_none, index) => `line ${index}`);
    const after = before.with(50, 'changed');
    const shown = withGaps(diffLines(before.join('\n'), after.join('\n')));
    assert.deepEqual(
      shown.map(({ kind }) => kind),
      ['gap', 'same', 'same', 'same', 'removed', 'added', 'same', 'same', 'same', 'gap'],
    );
    const hidden = shown.reduce((sum, line) => sum + (line.kind === 'gap' ? line.count : 0), 0);
    assert.equal(hidden, 93);
  });

  test('shows texts that are too long to compare as replaced, and holds them too', () => {
    const before = Array.from({ length: 3000 }, (_none, index) => `old ${index}`).join('\n');
    const after = Array.from({ length: 3000 }, (_none, index) => `new ${index}`).join('\n');
    const lines = diffLines(before, after);
    assert.equal(textOf(lines, 'removed'), before);
    assert.equal(textOf(lines, 'added'), after);
  });
});
