import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parse } from 'yaml';
import { applyEdits, type Edit, editsFor } from './edit-text.ts';
import { unifiedDiff } from './unified-diff.ts';

const RUNGS = [{ min_prompt_tokens: '200000', input_per_k: '6' }];

const LAYOUTS: readonly (readonly [told: string, before: string, after: string])[] = [
  [
    'a map in one line, with a comment behind it',
    'models:\n  - pricing:\n      mode: per_token\n      credits: { a: 1,  b: 2 }   # mine\n    routes: []\n',
    'models:\n  - pricing:\n      mode: per_token\n      credits: { a: 7,  b: 2, c: 0.5 }   # mine\n      token_tiers: [{ min_prompt_tokens: 200000, input_per_k: 6 }]\n    routes: []\n',
  ],
  [
    'a map of lines, with comments between them',
    'models:\n- pricing:\n    credits:\n      # first\n      a: 1 # one\n      b: 2 # two\n    mode: per_token # three\n  routes: []\n',
    'models:\n- pricing:\n    credits:\n      # first\n      a: 7 # one\n      b: 2 # two\n      c: 0.5\n    mode: per_token # three\n    token_tiers: [{ min_prompt_tokens: 200000, input_per_k: 6 }]\n  routes: []\n',
  ],
  [
    'JSON',
    '{"models": [{"pricing": {"mode": "per_token", "credits": {"a": 1, "b": 2}}}]}',
    '{"models": [{"pricing": {"mode": "per_token", "credits": {"a": 7, "b": 2, "c": 0.5}, "token_tiers": [{ "min_prompt_tokens": 200000, "input_per_k": 6 }]}}]}',
  ],
  [
    'lines that end as on Windows, the last one without an end',
    'models:\r\n  - pricing:\r\n      credits: {a: 1, b: 2}\r\n      mode: per_token',
    'models:\r\n  - pricing:\r\n      credits: {a: 7, b: 2, c: 0.5}\r\n      mode: per_token\n      token_tiers: [{ min_prompt_tokens: 200000, input_per_k: 6 }]',
  ],
  [
    'rungs in lines of their own',
    'models:\n  - pricing:\n      token_tiers:\n        - min_prompt_tokens: 1\n          input_per_k: 1\n        - min_prompt_tokens: 2\n      credits: { a: 1, b: 2 }\n',
    'models:\n  - pricing:\n      token_tiers:\n        [{ min_prompt_tokens: 200000, input_per_k: 6 }]\n      credits: { a: 7, b: 2, c: 0.5 }\n',
  ],
];

const pricing = ['models', 0, 'pricing'];
const CHANGES = [
  { path: [...pricing, 'credits', 'a'], value: '7' },
  { path: [...pricing, 'credits', 'b'], value: '2.0' },
  { path: [...pricing, 'credits', 'c'], value: '0.5' },
  { path: [...pricing, 'token_tiers'], value: RUNGS },
];

for (const [told, before, after] of LAYOUTS) {
  test(`prices are changed in their places in ${told}`, () => {
    assert.equal(applyEdits(before, editsFor(before, CHANGES)), after);
    const { credits, token_tiers } = parse(after).models[0].pricing;
    assert.deepEqual([credits, token_tiers], [{ a: 7, b: 2, c: 0.5 }, [{ min_prompt_tokens: 200000, input_per_k: 6 }]]);
  });
}

for (const before of [
  'x: &rates { a: 1, b: 2 }\nmodels:\n  - pricing: { mode: m, credits: *rates }\n',
  'x: &one 1\nmodels:\n  - pricing: { mode: m, credits: { a: *one, b: 2 } }\n',
]) {
  test(`a price that stands elsewhere is not changed: ${before.split('\n')[0]}`, () => {
    assert.throws(() => editsFor(before, CHANGES), /models\.0\.pricing\.credits\.a is not written there/);
  });
}

/** As `patch` does it. */
function patched(text: string, diff: readonly string[]): string {
  const before = text.split('\n');
  const after: string[] = [];
  let next = 0;
  for (const line of diff.slice(2)) {
    const [, from] = /^@@ -(\d+),/.exec(line) ?? [];
    if (from !== undefined) {
      after.push(...before.slice(next, Number(from) - 1));
      next = Number(from) - 1;
    } else {
      if (!line.startsWith('+')) assert.equal(before[next++], line.slice(1));
      if (!line.startsWith('-')) after.push(line.slice(1));
    }
  }
  return [...after, ...before.slice(next)].join('\n');
}

test('a diff makes the new text of the old one, and its hunks count their lines', () => {
  const texts = fc.array(fc.constantFrom('a', 'bb', 'c: 1', ''), { minLength: 1, maxLength: 60 });
  const places = fc.uniqueArray(fc.nat(), { maxLength: 6 });
  fc.assert(
    fc.property(texts, places, fc.constantFrom('x', '\n  new: 1', ''), (lines, offsets, replacement) => {
      const text = lines.join('\n');
      const starts = [...new Set(offsets.map((offset) => offset % (text.length + 1)))].sort(
        (left, right) => left - right,
      );
      // Replaces one character, and puts something in between where that would be a line feed.
      const edits: Edit[] = starts.map((start) => {
        const isLetter = start < text.length && text[start] !== '\n' && !replacement.startsWith('\n');
        return { start, end: isLetter ? start + 1 : start, text: replacement };
      });
      const diff = unifiedDiff('file', text, edits);
      assert.equal(patched(text, diff), applyEdits(text, edits));
      for (const [at, line] of diff.entries()) {
        const [, , before, , after] = /^@@ -(\d+),(\d+) \+(\d+),(\d+) @@$/.exec(line) ?? [];
        if (before === undefined) continue;
        const rest = diff.slice(at + 1);
        const end = rest.findIndex((other) => other.startsWith('@@'));
        const body = end < 0 ? rest : rest.slice(0, end);
        assert.equal(body.filter((other) => !other.startsWith('+')).length, Number(before));
        assert.equal(body.filter((other) => !other.startsWith('-')).length, Number(after));
      }
    }),
    { numRuns: 1000 },
  );
});
