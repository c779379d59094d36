import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkPassword, hashPassword } from './password.ts';

const CHEAP = { memoryKib: 64, passes: 1, parallelism: 1 };

test('a password opens its own verifier and no other does', async () => {
  const verifier = await hashPassword('correct horse battery');
  assert.match(verifier, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  assert.deepEqual(await checkPassword('correct horse battery', verifier), { matches: true, isOutdated: false });
  assert.deepEqual(await checkPassword('correct horse Battery', verifier), { matches: false, isOutdated: false });
});

test('two verifiers of one password differ, and both open', async () => {
  const [one, other] = await Promise.all([hashPassword('same', CHEAP), hashPassword('same', CHEAP)]);
  assert.notEqual(one, other);
  for (const verifier of [one, other]) assert.equal((await checkPassword('same', verifier)).matches, true);
});

test('a verifier that was made at another cost still opens, and is told to be outdated', async () => {
  const verifier = await hashPassword('old enough', CHEAP);
  assert.deepEqual(await checkPassword('old enough', verifier), { matches: true, isOutdated: true });
});

// The vector of the reference implementation's own test: version 19, 64 MiB, two passes, one lane.
test('a verifier of the reference implementation opens', async () => {
  const verifier = '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc';
  assert.deepEqual(await checkPassword('password', verifier), { matches: true, isOutdated: true });
});

test('forms of one letter are the same password', async () => {
  const verifier = await hashPassword('caf\u00e9', CHEAP);
  assert.equal((await checkPassword('cafe\u0301', verifier)).matches, true);
});

for (const verifier of [
  null,
  '',
  'plain',
  '$argon2i$v=19$m=64,t=1,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc',
]) {
  test(`nothing opens ${JSON.stringify(verifier)}`, async () => {
    assert.deepEqual(await checkPassword('', verifier), { matches: false, isOutdated: false });
  });
}
