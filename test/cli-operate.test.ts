import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { CommandLine } from './support/command-line.ts';
import { ADMIN_TOKEN } from './support/gateway.ts';

test('commands that operate a gateway', async (t) => {
  const shell = await CommandLine.start(t);
  const operator = { TOLLGATE_ADMIN_TOKEN: `${ADMIN_TOKEN},another`, TOLLGATE_KEY: '' };
  const succeed = (...args: string[]) => shell.succeed(args, operator);
  const json = (...args: string[]) => shell.json(args, operator);
  const run = (...args: string[]) => shell.run(args, operator);
  const account = await json('account', 'create', 'Print shop', '--email', 'press@example.com');

  await t.test('an account is made, found, suspended and resumed', async () => {
    assert.match(
      await succeed('account', 'list', '--search', 'print'),
      new RegExp(`^${account.id} +Print shop +active`, 'm'),
    );
    assert.match(await succeed('account', 'show', account.id), /^email +press@example\.com$/m);
    assert.equal((await json('account', 'suspend', account.id)).status, 'suspended');
    assert.match(await succeed('account', 'resume', account.id), /^status +active$/m);
    assert.equal((await run('account', 'show', 'acct_none')).code, 5);
  });

  await t.test('a grant with a reference is given once, and unspent credits are taken back', async () => {
    assert.match(await succeed('grant', account.id, '500', '--reference', 'invoice-17'), /gives acct_\w+ 500 credits/);
    const again = await run('grant', account.id, '500', '--reference', 'invoice-17');
    assert.equal(again.code, 6);
    assert.match(again.err, /duplicate_reference/);
    await succeed('grant', account.id, '--reason', 'too much', '--', '-100');
    assert.equal((await json('account', 'show', account.id)).balance, 400);
    assert.equal((await run('grant', account.id, 'many')).code, 2);
  });

  await t.test('a key is printed alone, works, is rolled, listed and deleted', async () => {
    const made = await run('keys', 'create', account.id, 'press', '--credit-limit', '100');
    assert.match(made.out, /^sk-tg1-\w+\n$/);
    assert.match(made.err, /shown this once/);
    const key = await shell.json(['keys', 'show'], { TOLLGATE_KEY: made.out.trim() });
    assert.deepEqual([key.name, key.credit_limit], ['press', 100]);
    const rolled = await json('keys', 'roll', key.id, '--overlap', '60');
    assert.equal(rolled.replaces.id, key.id);
    assert.match(await succeed('keys', 'list', account.id), new RegExp(`^${rolled.id} +press +live`, 'm'));
    await succeed('keys', 'delete', rolled.id);
    assert.equal((await shell.run(['credits'], { TOLLGATE_KEY: rolled.key })).code, 3);
  });

  await t.test('an upstream is tested, disabled, enabled and reset', async () => {
    assert.match(await succeed('upstream', 'list'), /^sandbox +sandbox +yes +closed/m);
    assert.match(await succeed('upstream', 'test', 'sandbox'), /^ok: /);
    assert.match(await succeed('upstream', 'disable', 'sandbox'), /^sandbox +sandbox +no/m);
    assert.equal((await json('upstream', 'enable', 'sandbox')).enabled, true);
    assert.equal((await json('upstream', 'reset', 'sandbox')).health.state, 'closed');
    assert.equal((await run('upstream', 'test', 'none')).code, 5);
  });

  await t.test('a configuration is shown, applied, listed and reverted, and a bad one changes nothing', async () => {
    const before = await succeed('config', 'show');
    assert.match(before, /^upstreams:$/m);
    const { models } = await json('config', 'show');
    writeFileSync(join(shell.folder, 'gate.yaml'), before.replace(/base: 10\b/, 'base: 11'));
    assert.match(await succeed('config', 'apply', 'gate.yaml'), /^Version \d+ is in force\.\n.*11/s);
    const [newest, older] = (await json('config', 'versions')).data;
    assert.match(await succeed('config', 'versions'), new RegExp(`^${newest.version} +20`, 'm'));
    await succeed('config', 'revert', String(older.version));
    assert.deepEqual((await json('config', 'show')).models, models);
    writeFileSync(join(shell.folder, 'bad.yaml'), 'upstreams: []\nmodles: []\n');
    const bad = await run('config', 'apply', 'bad.yaml');
    assert.equal(bad.code, 6);
    assert.match(bad.err, /modles/);
    assert.equal((await run('config', 'apply', 'none.yaml')).code, 1);
  });

  await t.test('an app is registered, listed and removed', async () => {
    const id = (await succeed('oauth', 'create', 'CLI', '--device')).trim();
    assert.match(await succeed('oauth', 'list'), new RegExp(`^${id} +CLI +yes +user:`, 'm'));
    const secret = await json('oauth', 'create', 'Shop', '--redirect', 'https://shop.example/back', '--confidential');
    assert.match(secret.client_secret, /./);
    await succeed('oauth', 'delete', id);
    assert.equal((await run('oauth', 'delete', id)).code, 5);
    assert.equal((await run('oauth', 'create', 'Neither')).code, 2);
  });

  await t.test('the books of a running gateway are checked', async () => {
    assert.match(await succeed('books', 'check'), /Everything balances\.\n$/);
    assert.equal((await json('books', 'check', '--full')).balanced, true);
  });

  await t.test('a stored admin token is enough, and a key does not stand in for it', async () => {
    const { code, err } = await shell.run(['account', 'list'], { TOLLGATE_DATA: 'nowhere' });
    assert.equal(code, 3);
    assert.match(err, /tollgate login --admin/);
  });
});
