import assert from 'node:assert/strict';
import { test } from 'node:test';
import { languageCode } from './languages.ts';

const CASES: readonly [told: string, code: string | undefined][] = [
  ['english', 'en'],
  ['English', 'en'],
  [' german\n', 'de'],
  ['haitian creole', 'ht'],
  ['mandarin', 'zh'],
  ['cantonese', 'yue'],
  ['lao', 'lo'],
  ['thai', 'th'],
  ['en', 'en'],
  ['EN', 'en'],
  ['pt-BR', 'pt'],
  ['zh_hant_tw', 'zh'],
  ['haw', 'haw'],
  ['jw', 'jv'],
  ['eng', 'en'],
  ['deu', 'de'],
  ['tl', 'tl'],
  ['und', undefined],
  ['klingonese', undefined],
  ['', undefined],
];
for (const [told, code] of CASES) {
  test(`${JSON.stringify(told)} is ${code}`, () => assert.equal(languageCode(told), code));
}
