import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { ConfigError, type Environment, loadConfig } from './config.ts';
import { PASSWORD_CHARS_MAX, PASSWORD_CHARS_MIN } from './limits.ts';

let folder = '';
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-config-'));
});
after(() => rmSync(folder, { recursive: true }));

let files = 0;

function written(text: string): string {
  const path = join(folder, `file-${++files}`);
  writeFileSync(path, text);
  return path;
}

function problems(env: Environment): readonly string[] {
  try {
    loadConfig(env);
    return [];
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.problems;
  }
}

const operator = (password: string, email = 'root@example.com') => ({
  TOLLGATE_INIT_OPERATOR_EMAIL: email,
  TOLLGATE_INIT_OPERATOR_PASSWORD_FILE: written(password),
});

test('R-526: the first operator is an email and the first line of a file', () => {
  const { firstOperator } = loadConfig(operator('correct horse battery\nand a remark\n'));
  assert.equal(firstOperator?.email, 'root@example.com');
  assert.equal(firstOperator?.password.reveal(), 'correct horse battery');
  assert.ok(!JSON.stringify(firstOperator).includes('horse'));
});

test('the first operator’s password has as many characters as any other', () => {
  const refusal = `TOLLGATE_INIT_OPERATOR_PASSWORD_FILE must hold ${PASSWORD_CHARS_MIN} to ${PASSWORD_CHARS_MAX} characters in its first line`;
  for (const length of [PASSWORD_CHARS_MIN, PASSWORD_CHARS_MAX])
    assert.deepEqual(problems(operator('x'.repeat(length))), []);
  for (const length of [PASSWORD_CHARS_MIN - 1, PASSWORD_CHARS_MAX + 1])
    assert.deepEqual(problems(operator('x'.repeat(length))), [refusal]);
});

test('R-526: an email without a password, or the other way round, is refused, and so is what is no email', () => {
  const both = operator('correct horse battery');
  const together =
    'TOLLGATE_INIT_OPERATOR_EMAIL and TOLLGATE_INIT_OPERATOR_PASSWORD_FILE go together; set both or neither';
  for (const name of Object.keys(both)) assert.deepEqual(problems({ ...both, [name]: '' }), [together]);
  assert.deepEqual(problems(operator('correct horse battery', 'root')), [
    'TOLLGATE_INIT_OPERATOR_EMAIL must be an email address, not "root"',
  ]);
  assert.match(
    problems({ ...both, TOLLGATE_INIT_OPERATOR_PASSWORD_FILE: join(folder, 'none') })[0] ?? '',
    /^TOLLGATE_INIT_OPERATOR_PASSWORD_FILE names a file that cannot be read/,
  );
});

for (const url of ['smtp://mail.example.com', 'smtp://user:p%40ss@mail.example.com:587/', 'smtps://u:p@[::1]:465']) {
  test(`SMTP_URL=${url} is taken, directly and from a file`, () => {
    const MAIL_FROM = 'Tollgate <gate@example.com>';
    for (const given of [{ SMTP_URL: url }, { SMTP_URL_FILE: written(`${url}\n`) }]) {
      const { mail } = loadConfig({ ...given, MAIL_FROM });
      assert.deepEqual([mail?.url.reveal(), mail?.from], [url, MAIL_FROM]);
    }
  });
}

for (const url of [
  'mail.example.com:587',
  'http://mail.example.com',
  'smtp://',
  'smtp://user@mail.example.com',
  'smtp://mail.example.com/?tls=off',
  'smtp://mail.example.com/in',
]) {
  test(`SMTP_URL=${url} is refused without being quoted`, () => {
    const told = problems({ SMTP_URL: url, MAIL_FROM: 'gate@example.com' });
    assert.deepEqual(told, ['SMTP_URL must be an address such as smtp://user:password@mail.example.com:587']);
  });
}

test('mail has an address that it comes from', () => {
  const SMTP_URL = 'smtp://mail.example.com';
  assert.deepEqual(problems({ SMTP_URL }), ['MAIL_FROM is required with SMTP_URL']);
  for (const from of ['gate', 'Gate <gate>', 'Gate gate@example.com', 'a@b.example>, <c@d.example', 'x\n<a@b.example>'])
    assert.match(problems({ SMTP_URL, MAIL_FROM: from }).join(), /^MAIL_FROM must be an address, or a name and <addr/);
});
