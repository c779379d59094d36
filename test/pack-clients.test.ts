import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { test } from 'node:test';
import { exampleProgram } from './support/client-programs.ts';
import { workFolder } from './support/postgres.ts';

const NAMES = ['client', 'ai-sdk-provider'] as const;

/** As npm would install them, beside what they and the examples import. */
function install(folder: string, archives: readonly string[]): void {
  for (const [at, name] of NAMES.entries()) {
    const target = join(folder, 'node_modules/@tollgate', name);
    mkdirSync(target, { recursive: true });
    execFileSync('tar', ['-xzf', archives[at] ?? '', '-C', target, '--strip-components=1']);
  }
  for (const name of ['ai', '@ai-sdk/provider', '@ai-sdk/openai-compatible', '@types/node']) {
    mkdirSync(dirname(join(folder, 'node_modules', name)), { recursive: true });
    symlinkSync(resolve('node_modules', name), join(folder, 'node_modules', name));
  }
}

test('the packed libraries are JavaScript that loads, with types that the examples of their READMEs fit', (t) => {
  const folder = workFolder(t);
  const packed = execFileSync(process.execPath, ['scripts/pack-clients.ts', '--npm', folder], { encoding: 'utf8' });
  install(folder, packed.trim().split('\n'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  for (const name of NAMES) writeFileSync(join(folder, `${name}.ts`), exampleProgram(`packages/${name}/README.md`, ''));
  // A type that was not found would be any, and any fits everything.
  writeFileSync(
    join(folder, 'wrong.ts'),
    "import { Tollgate } from '@tollgate/client';\n// @ts-expect-error: there is no such option\nnew Tollgate({ base: '' });\n",
  );
  const strict = ['--strict', '--noEmit', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess'];
  const modules = ['--module', 'nodenext', '--target', 'es2023', '--lib', 'esnext', '--types', 'node'];
  const files = [...NAMES.map((name) => `${name}.ts`), 'wrong.ts'];
  const tsc = resolve('node_modules/typescript/bin/tsc');
  execFileSync(process.execPath, [tsc, ...strict, ...modules, '--skipLibCheck', ...files], { cwd: folder });
  const load = "const c = await import('@tollgate/client'); const p = await import('@tollgate/ai-sdk-provider');";
  const told = `${load} console.log(Object.keys(c).join(), Object.keys(p).join());`;
  const loaded = execFileSync(process.execPath, ['--no-strip-types', '--input-type=module', '-e', told], {
    cwd: folder,
    encoding: 'utf8',
  });
  assert.equal(loaded, 'JobError,Tollgate,TollgateError createTollgate\n');
});

test('what is published names its licence, its Node and nothing of this tree', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  for (const name of NAMES) {
    const fields = JSON.parse(readFileSync(`packages/${name}/package.json`, 'utf8'));
    assert.deepEqual([fields.version, fields.license], [version, 'Apache-2.0'], name);
    assert.ok(fields.engines.node !== undefined && fields.description !== undefined);
    assert.equal(fields.dependencies['@tollgate/client'], name === 'client' ? undefined : version);
  }
  assert.ok(readFileSync('clients/python/src/tollgate/_version.py', 'utf8').includes(`"${version}"`));
  assert.match(readFileSync('clients/python/pyproject.toml', 'utf8'), /^license = "Apache-2.0"$/m);
});
