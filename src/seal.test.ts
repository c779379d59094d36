import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Secret } from './config.ts';
import { deriveKey, seal, unseal } from './seal.ts';

const root = new Secret('root-secret-of-this-test-0123456789');
const key = deriveKey(root, 'upstream secrets');
const text = fc.string({ unit: 'grapheme' });

test('what was sealed opens with the same key and context', () => {
  fc.assert(
    fc.property(text, text, (context, secret) => {
      assert.equal(unseal(key, context, seal(key, context, secret)), secret);
    }),
  );
});

test('it does not open with another context, so it cannot be moved to another upstream', () => {
  const sealed = seal(key, 'openai-main', 'the secret');
  for (const context of ['', 'openai', 'openai-main ', 'OPENAI-MAIN']) {
    assert.throws(() => unseal(key, context, sealed), context);
  }
});

test('it does not open with the key of another root secret or another purpose', () => {
  const sealed = seal(key, 'context', 'the secret');
  const others = [deriveKey(new Secret(`${root.reveal()}0`), 'upstream secrets'), deriveKey(root, 'config digest')];
  for (const other of others) assert.throws(() => unseal(other, 'context', sealed));
});

test('it does not open after any one byte of it was changed', () => {
  const bytes = Buffer.from(seal(key, 'context', 'the secret'), 'base64');
  for (const at of bytes.keys()) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    assert.throws(() => unseal(key, 'context', changed.toString('base64')), `byte ${at}`);
  }
});

test('it does not open when bytes are missing or too many', () => {
  const bytes = Buffer.from(seal(key, 'context', 'the secret'), 'base64');
  for (const length of bytes.keys()) {
    assert.throws(() => unseal(key, 'context', bytes.subarray(0, length).toString('base64')), `${length} bytes`);
  }
  assert.throws(() => unseal(key, 'context', Buffer.concat([bytes, Buffer.alloc(1)]).toString('base64')));
});

test('the same secret sealed twice does not look the same, and shows nothing of itself', () => {
  const sealed = Array.from({ length: 1000 }, () => seal(key, 'context', 'the secret'));
  assert.equal(new Set(sealed.map((each) => each.slice(0, 16))).size, sealed.length);
  for (const each of sealed) assert.equal(Buffer.from(each, 'base64').includes('secret'), false);
});

test('a derived key is the same in every process and has 256 bits', () => {
  assert.deepEqual(deriveKey(new Secret(root.reveal()), 'upstream secrets'), key);
  assert.equal(key.length, 32);
});
