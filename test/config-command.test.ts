import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Environment } from '../src/config.ts';
import { CONFIG_BODY_BYTES_MAX } from '../src/limits.ts';
import { imageModel, keyed, sandbox } from './support/documents.ts';
import { workFolder } from './support/postgres.ts';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const BIN = fileURLToPath(new URL('../bin/tollgate.mjs', import.meta.url));
const EXAMPLE = fileURLToPath(new URL('../tollgate.example.yaml', import.meta.url));

// So that the program, which each test starts anew, is compiled only once.
const compiled = mkdtempSync(join(tmpdir(), 'tollgate-compiled-'));
after(() => rmSync(compiled, { recursive: true, force: true }));

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** The command in a folder of its own, with no server and no setting but those given. */
class Shell {
  readonly #folder: string;

  constructor(t: TestContext) {
    this.#folder = workFolder(t);
  }

  write(name: string, content: string | Buffer | object): void {
    const isRaw = typeof content === 'string' || Buffer.isBuffer(content);
    writeFileSync(join(this.#folder, name), isRaw ? content : JSON.stringify(content));
  }

  run(args: readonly string[], settings: Environment = {}, program: string = MAIN): Promise<Ended> {
    const env = { PATH: process.env.PATH, NODE_COMPILE_CACHE: compiled, ...settings };
    const options = { cwd: this.#folder, env, timeout: 60_000 };
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
    const { code, out, err } = await shell.run(['config', 'check', 'gate.yaml'], settings, BIN);
    assert.deepEqual([code, out, err], [0, 'gate.yaml is valid: 1 upstreams, 1 models.\n', '']);
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

  test('config diff against nothing compares with what a start would apply: the file that lies there', async (t) => {
    const shell = new Shell(t);
    shell.write('tollgate.yaml', valid);
    shell.write('new.yaml', changed);
    assert.match((await shell.run(['config', 'diff', 'new.yaml'])).out, /^\+ upstream added\n~ model m/);
  });

  test('config diff against nothing compares with what a start would apply: the file that is named', async (t) => {
    const shell = new Shell(t);
    shell.write('tollgate.yaml', valid);
    shell.write('named.yaml', changed);
    const { out } = await shell.run(['config', 'diff', 'tollgate.yaml'], { TOLLGATE_CONFIG: 'named.yaml' });
    assert.equal(out, '- upstream added\n~ model m: pricing.credits.base 41 → 40\n');
  });

  test('config diff against nothing compares with what a start would apply: the built-in catalogue', async (t) => {
    const shell = new Shell(t);
    shell.write('new.yaml', valid);
    const { code, out } = await shell.run(['config', 'diff', 'new.yaml']);
    assert.equal(code, 0);
    assert.match(out, /^\+ upstream home$[\s\S]*^- upstream sandbox$[\s\S]*^- model sandbox\/image$/m);
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

  const MISUSES: readonly (readonly string[])[] = [
    ['config', 'check'],
    ['config', 'check', 'x.yaml', 'y.yaml'],
    ['config', 'diff', 'x.yaml', 'y.yaml', 'z.yaml'],
    ['config', 'apply', 'x.yaml'],
    ['--port', '8080'],
  ];

  for (const args of MISUSES) {
    test(`"tollgate ${args.join(' ')}" starts nothing and shows how it is used`, async (t) => {
      const { code, out, err } = await new Shell(t).run(args);
      assert.deepEqual([code, out], [2, '']);
      assert.match(err, /^Usage:\n {2}tollgate serve/);
    });
  }

  test('"tollgate --help" shows how it is used and starts nothing', async (t) => {
    const { code, out, err } = await new Shell(t).run(['--help']);
    assert.deepEqual([code, err], [0, '']);
    assert.match(out, /^Usage:/);
  });
});
