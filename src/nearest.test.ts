import assert from 'node:assert/strict';
import { test } from 'node:test';
import { didYouMean, nearest } from './nearest.ts';

const KNOWN = ['name', 'email', 'password', 'groups', 'n', 'vendor/model-1'];

for (const [word, found] of [
  ['nmae', 'name'],
  ['nam', 'name'],
  ['names', 'name'],
  ['NAME', 'name'],
  ['pasword', 'password'],
  ['pawsord', 'password'],
  ['passwrods', 'password'],
  ['vendor/Model-2', 'vendor/model-1'],
  ['mane', undefined],
  ['m', undefined],
  ['passs', undefined],
  ['', undefined],
  ['x'.repeat(1_000_000), undefined],
] as const) {
  test(`"${word.slice(0, 20)}" was ${found === undefined ? 'nothing that is known' : `meant as "${found}"`}`, () => {
    assert.equal(nearest(word, KNOWN), found);
  });
}

test('the closest of several is meant', () => {
  assert.equal(didYouMean('model-12', ['model-3', 'model-1', 'model-123']), '. Did you mean "model-1"?');
  assert.equal(didYouMean('other', ['model']), '');
});
