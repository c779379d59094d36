import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const textOf = (file: string) => readFileSync(file, 'utf8');

test('each word of the glossary is found in the file that it names', () => {
  const rows = [...textOf('docs/glossary.md').matchAll(/^\| ([^|]+) \| [^|]+ \| `([^`]+)` \|$/gm)];
  const words = rows.map(([, word = '']) => word);
  assert.ok(words.length > 100);
  assert.deepEqual([...new Set(words)], words, 'each word has one meaning');
  const faults = rows.filter(([, word = '', file = '']) => !existsSync(file) || !usesWord(textOf(file), word));
  assert.deepEqual(
    faults.map(([row]) => row),
    [],
  );
});

/** As words of a text, or as part of a name. */
function usesWord(text: string, term: string): boolean {
  const words = term.replace(/ \(.*\)$/, '').split(/[^A-Za-z]+/);
  const camelCase = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  return new RegExp(`\\b${words.join('[\\s*_-]*')}`, 'i').test(text) || text.includes(camelCase);
}
