import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Environment } from '../src/config.ts';
import { CONFIG_BODY_BYTES_MAX } from '../src/limits.ts';
import { VERSION } from '../src/version.ts';
import { Commands } from './support/commands.ts';
import { imageModel, keyed, sandbox } from './support/documents.ts';
import { BARE_ENVIRONMENT } from './support/environment.ts';
import { usedFolder } from './support/first-start.ts';
import { ADMIN_TOKEN } from './support/gateway.ts';
import { WAIT_MS_MAX } from './support/patience.ts';
import { serversBelow, workFolder } from './support/postgres.ts';
import { adminToken, type Ended, freePort, ownDatabase, Program } from './support/program.ts';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const BIN = fileURLToPath(new URL('../bin/tollgate.mjs', import.meta.url));
const EXAMPLE = fileURLToPath(new URL('../tollgate.example.yaml', import.meta.url));

let commands: Commands;
before(() => {
  commands = new Commands();
});
after(() => commands.stop());

/** The command in a folder of its own, with no server and no setting but those given. */
class Shell {
  readonly folder: string;

  constructor(t: TestContext) {
    this.folder = workFolder(t);
  }

  write(name: string, content: string | Buffer | object): void {
    const isRaw = typeof content === 'string' || Buffer.isBuffer(content);
    writeFileSync(join(this.folder, name), isRaw ? content : JSON.stringify(content));
  }

  run(args: readonly string[], settings: Environment = {}): Promise<Ended> {
    return commands.run(args, this.folder, settings);
  }

  /** In a process of its own, as an operator runs it. */
  spawn(args: readonly string[], settings: Environment, program: string = MAIN): Promise<Ended> {
    const env = { ...BARE_ENVIRONMENT, ...settings };
    const options = { cwd: this.folder, env, timeout: WAIT_MS_MAX };
    return new Promise((resolve) => {
      const child = execFile(process.execPath, [program, ...args], options, (_error, out, err) =>
        resolve({ code: child.exitCode, out, err }),
      );
    });
  }
}

const valid = { upstreams: [sandbox('home')], models: [imageModel('m', ['home'])] };

describe('tollgate config', { concurrency: 4 }, () => {
  test('config check says of a valid file what it holds, through the installed command and without a server', async (t) => {
    const shell = new Shell(t);
    shell.write('gate.yaml', valid);
    // A database that nobody could reach: it is not asked.
    const settings = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' };
    const { code, out, err } = await shell.spawn(['config', 'check', 'gate.yaml'], settings, BIN);
    assert.deepEqual([code, out, err], [0, 'gate.yaml is valid: 1 upstreams, 1 models.\n', '']);
  });

  test('R-164: config check warns of a ladder on which a longer prompt becomes cheaper, and is content', async (t) => {
    const shell = new Shell(t);
    const credits = { input_per_k: 2, output_per_k: 8 };
    const pricing = {
      mode: 'per_token',
      credits,
      token_tiers: [{ min_prompt_tokens: 9, output_per_k: 7, reasoning_per_k: 8 }],
    };
    const model = imageModel('m', ['home'], { modality: 'chat', endpoints: ['chat'], pricing });
    shell.write('gate.yaml', { ...valid, models: [model] });
    const { code, out } = await shell.run(['config', 'check', 'gate.yaml']);
    assert.equal(code, 0);
    assert.match(out, /^Warning: models\[0\]\.pricing\.token_tiers\[0\]\.output_per_k: comes to 7, less than 8/m);
  });

  test('config check names each variable that is not set, and is content', async (t) => {
    const names = new Set([...readFileSync(EXAMPLE, 'utf8').matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name));
    names.delete('NAME');
    const { code, out } = await new Shell(t).run(['config', 'check', EXAMPLE], { OPENAI_API_KEY: 'set' });
    assert.equal(code, 0);
    const noted = [...out.matchAll(/^Note: .* from (\w+), which is not set/gm)].map(([, name]) => name);
    assert.deepEqual(
      noted,
      [...names].filter((name) => name !== 'OPENAI_API_KEY'),
    );
  });

  test('config check names every problem with its path and line, and no key, and fails', async (t) => {
    const shell = new Shell(t);
    const document = {
      upstreams: [{ id: 'a', vendor: 'nobody' }, keyed('b', 'planted key', { wieght: 2 })],
      models: [imageModel('m', ['c']), imageModel('m', ['a'], { owned_by: 'a' })],
    };
    shell.write('gate.yaml', JSON.stringify(document, null, 2));
    const { code, out, err } = await shell.run(['config', 'check', 'gate.yaml']);
    assert.deepEqual([code, out], [1, '']);
    const paths = [...err.matchAll(/^ {2}- (\S+) \(line \d+:\d+\): /gm)].map(([, path]) => path);
    assert.deepEqual(paths, [
      'upstreams[0].vendor',
      'upstreams[1].api_key',
      'upstreams[1].wieght',
      'models[0].routes[0].upstream',
      'models[1].id',
      'models[1].owned_by',
    ]);
    assert.doesNotMatch(err, /planted/);
  });

  const NO_FILES: readonly (readonly [
    told: string,
    path: string,
    content: string | Buffer | undefined,
    why: RegExp,
  ])[] = [
    ['a file that is not there', 'missing.yaml', undefined, /missing\.yaml cannot be read: ENOENT/],
    ['a folder', '.', undefined, /\. cannot be read: EISDIR/],
    [
      'bytes that are no text',
      'b.yaml',
      Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0xff, 0xfe]),
      /b\.yaml is not a text in UTF-8/,
    ],
    ['text with a NUL', 'n.yaml', 'upstreams: []\nmodels: []\n\0', /line \d+:\d+: .*NUL/],
    [
      'text of Latin-1',
      'l.yaml',
      Buffer.from('# caf\xe9\nupstreams: []\nmodels: []', 'latin1'),
      /is not a text in UTF-8/,
    ],
    ['an empty file', 'e.yaml', '', /not valid/],
    ['one byte too many', 'x.yaml', '#'.repeat(CONFIG_BODY_BYTES_MAX + 1), /x\.yaml has more than 8388608 bytes/],
  ];

  for (const [told, path, content, why] of NO_FILES) {
    test(`config check says in its own words what is wrong with ${told}`, async (t) => {
      const shell = new Shell(t);
      if (content !== undefined) shell.write(path, content);
      const { code, out, err } = await shell.run(['config', 'check', path]);
      assert.deepEqual([code, out], [1, '']);
      assert.match(err, why);
      assert.doesNotMatch(err, /^\s+at |TOLLGATE_CONFIG|cannot start/m);
    });
  }

  test('config check reads a file of exactly the most bytes that may be applied', async (t) => {
    const shell = new Shell(t);
    const text = JSON.stringify(valid);
    shell.write('full.yaml', text + ' '.repeat(CONFIG_BODY_BYTES_MAX - text.length));
    assert.equal((await shell.run(['config', 'check', 'full.yaml'])).code, 0);
  });

  const changed = {
    upstreams: [keyed('added', 'planted-key'), sandbox('home')],
    models: [imageModel('m', ['home'], { pricing: { mode: 'per_image', credits: { base: 41 } } })],
  };

  test('config diff shows what one file would change against another, and no key', async (t) => {
    const shell = new Shell(t);
    shell.write('old.yaml', valid);
    shell.write('new.yaml', changed);
    const { code, out, err } = await shell.run(['config', 'diff', 'new.yaml', 'old.yaml']);
    assert.deepEqual([code, err], [0, '']);
    assert.equal(out, '+ upstream added\n~ model m: pricing.credits.base 40 → 41\n');
  });

  test('config diff of equal files finds nothing', async (t) => {
    const shell = new Shell(t);
    shell.write('a.yaml', valid);
    shell.write('b.yaml', `# the same\n${JSON.stringify(valid, null, 2)}`);
    const { code, out } = await shell.run(['config', 'diff', 'a.yaml', 'b.yaml']);
    assert.deepEqual([code, out], [0, 'No difference.\n']);
  });

  test('config diff compares with what is in force in the data folder, the gateway running', async (t) => {
    const shell = new Shell(t);
    shell.write('tollgate.yaml', changed);
    const folder = await usedFolder(t);
    const program = await Program.start(t, { TOLLGATE_DATA: folder });
    const put = await program.call('PUT', '/api/admin/config', { key: adminToken(folder), body: valid });
    assert.equal(put.status, 200, put.text);
    // Neither the file that lies there nor the one that the settings name: it would be compared with itself.
    const settings = { TOLLGATE_DATA: folder, TOLLGATE_CONFIG: 'tollgate.yaml' };
    const { code, out, err } = await shell.spawn(['config', 'diff', 'tollgate.yaml'], settings);
    assert.deepEqual([code, out, err], [0, '+ upstream added\n~ model m: pricing.credits.base 40 → 41\n', '']);
    assert.equal((await program.get('/healthz')).status, 200);
  });

  test('config diff compares with what was in force when the gateway was stopped, and leaves nothing running', async (t) => {
    const shell = new Shell(t);
    shell.write('new.yaml', valid);
    const folder = await usedFolder(t);
    const { code, out } = await shell.spawn(['config', 'diff', 'new.yaml'], { TOLLGATE_DATA: folder });
    assert.equal(code, 0);
    assert.match(out, /^\+ upstream home$[\s\S]*^- upstream sandbox$[\s\S]*^- model sandbox\/image$/m);
    assert.deepEqual(serversBelow(folder), []);
  });

  test('config diff compares keys too: with DATABASE_URL by the stored ones, over --url not at all', async (t) => {
    const shell = new Shell(t);
    shell.write('gate.yaml', { upstreams: [keyed('u', 'planted-key')], models: [] });
    shell.write('same.yaml', { upstreams: [keyed('u', 'planted-key')], models: [] });
    shell.write('other.yaml', { upstreams: [keyed('u', 'another-key')], models: [] });
    const settings = { ...(await ownDatabase(t)), TOLLGATE_CONFIG: join(shell.folder, 'gate.yaml') };
    const program = await Program.start(t, settings);
    const diff = (file: string, ...more: string[]) => shell.run(['config', 'diff', file, ...more], settings);
    assert.equal((await diff('same.yaml')).out, 'No difference.\n');
    assert.equal((await diff('other.yaml')).out, '~ upstream u: api_key changed\n');
    const remote = await diff('other.yaml', '--url', `${program.url}/`);
    assert.deepEqual([remote.code, remote.out], [0, 'No difference.\n']);
    assert.match(remote.err, /keys .* are not compared over --url/);
  });

  test('config diff --url asks a gateway with the admin token, and says why it could not', async (t) => {
    const shell = new Shell(t);
    shell.write('new.yaml', changed);
    const program = await Program.start(t, await ownDatabase(t));
    const diff = (token: string, url: string) =>
      shell.run(['config', 'diff', 'new.yaml', '--url', url], token === '' ? {} : { TOLLGATE_ADMIN_TOKEN: token });
    assert.match((await diff(`${ADMIN_TOKEN},another-admin-token`, program.url)).out, /^- upstream sandbox$/m);
    const refusals: readonly (readonly [token: string, url: string, why: RegExp])[] = [
      ['', program.url, /set TOLLGATE_ADMIN_TOKEN/],
      ['the-token-of-another', program.url, /does not take this admin token/],
      [ADMIN_TOKEN, `http://127.0.0.1:${await freePort()}`, /cannot be reached/],
      [ADMIN_TOKEN, 'ftp://gate', /must be an address such as/],
    ];
    for (const [token, url, why] of refusals) {
      const { code, out, err } = await diff(token, url);
      assert.deepEqual([code, out], [1, '']);
      assert.match(err, why);
      assert.doesNotMatch(err, /^\s+at /m);
    }
  });

  test('config diff without a deployment is refused, and makes none', async (t) => {
    const shell = new Shell(t);
    shell.write('new.yaml', valid);
    const { code, out, err } = await shell.run(['config', 'diff', 'new.yaml']);
    assert.deepEqual([code, out], [1, '']);
    assert.match(err, /There is no deployment in .*data\. .*TOLLGATE_DATA .*DATABASE_URL/);
    assert.ok(!existsSync(join(shell.folder, 'data')));
  });

  test('config diff with a file that is not valid on either side shows what is wrong and fails', async (t) => {
    const shell = new Shell(t);
    shell.write('good.yaml', valid);
    shell.write('bad.yaml', 'upstreams: [{ id: a }]\nmodels: []');
    for (const files of [
      ['good.yaml', 'bad.yaml'],
      ['bad.yaml', 'good.yaml'],
    ]) {
      const { code, out, err } = await shell.run(['config', 'diff', ...files]);
      assert.deepEqual([code, out], [1, '']);
      assert.match(err, /upstreams\[0\]\.vendor/);
    }
  });

  const MISUSES: readonly (readonly [args: readonly string[], told: RegExp])[] = [
    [['config'], /tollgate config needs one of: show, apply, versions, revert, check, diff\./],
    [['config', 'check'], /tollgate config check needs FILE\./],
    [['config', 'check', 'x.yaml', 'y.yaml'], /tollgate config check has no use for "y.yaml"/],
    [['config', 'diff', 'x.yaml', 'y.yaml', 'z.yaml'], /no use for "z.yaml"/],
    [['config', 'chek', 'x.yaml'], /no command "config chek"\. Did you mean "check"\?/],
    [['confg'], /no command "confg"\. Did you mean "config"\?/],
    [['paint'], /no command "paint"\.\n/],
    [['serve', 'now'], /tollgate serve has no use for "now"/],
    [['--port', '8080'], /no option --port\. Settings come from the environment, such as PORT=8080/],
    [['--hepl'], /no option --hepl\. Did you mean "--help"\?/],
    [['-x'], /no option -x\./],
    [['config', 'check', 'x.yaml', '--url', 'http://a'], /tollgate config check takes no --url/],
    [['config', 'diff', 'x.yaml', '--url'], /--url needs a value/],
    [['--version=2'], /--version takes no value/],
  ];

  for (const [args, told] of MISUSES) {
    test(`"tollgate ${args.join(' ')}" starts nothing and says what is wrong with it`, async (t) => {
      const { code, out, err } = await new Shell(t).run(args);
      assert.deepEqual([code, out], [2, '']);
      assert.match(err, told);
      assert.match(err, /\nRun "tollgate --help" for the commands and their options\.\n$/);
    });
  }

  for (const args of [['--help'], ['-h'], ['help']]) {
    test(`"tollgate ${args.join(' ')}" lists the commands and starts nothing`, async (t) => {
      const { code, out, err } = await new Shell(t).run(args);
      assert.deepEqual([code, err], [0, '']);
      assert.match(out, /^Usage: tollgate COMMAND\n\n.*:\n {2}tollgate models /);
      assert.match(out, /^ {2}tollgate serve /m);
    });
  }

  test('every command that is listed has a help of its own', async (t) => {
    const shell = new Shell(t);
    const { out } = await shell.run(['--help']);
    const names = [...out.matchAll(/^ {2}tollgate ([a-z]+(?: [a-z]+)?)(?: |$)/gm)].map(([, name = '']) => name);
    assert.ok(names.includes('serve') && names.includes('config diff') && names.includes('secrets reseal'), out);
    for (const name of names) {
      const help = await shell.run([...name.split(' '), '-h']);
      assert.deepEqual([help.code, help.err], [0, '']);
      assert.ok(help.out.startsWith(`Usage: tollgate ${name}`) && help.out.split('\n').length > 2, help.out);
    }
    assert.match(
      (await shell.run(['config', '--help'])).out,
      /^Usage:\n {2}tollgate config show .*\n {2}tollgate config check FILE/s,
    );
  });

  for (const flag of ['--version', '-V']) {
    test(`"tollgate ${flag}" tells the release, whatever the settings`, async (t) => {
      const { code, out, err } = await new Shell(t).spawn([flag], { PORT: 'eighty' }, BIN);
      assert.deepEqual([code, out, err], [0, `${VERSION}\n`, '']);
    });
  }
});
