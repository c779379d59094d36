import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const guide = readFileSync('docs/adding-a-vendor.md', 'utf8');
const blocks = [...guide.matchAll(/```ts\n([\s\S]*?)\n```/g)].map(([, code = '']) => code);

/** As it would stand in a folder of `src/vendors/`. */
function asVendor(path: string): string {
  const code = readFileSync(path, 'utf8').trimEnd();
  return code.replaceAll("'../../../src/vendors/", "'../").replaceAll("'../../../src/", "'../../");
}

for (const file of readdirSync('test/support/acme')) {
  test(`the guide to adding a vendor shows ${file} as it is`, () => {
    assert.ok(blocks.includes(asVendor(`test/support/acme/${file}`)), 'docs/adding-a-vendor.md is out of date');
  });
}

test('the guide to adding a vendor shows the terms of one that has more than a line of them', () => {
  assert.ok(blocks.includes(asVendor('src/vendors/bfl/terms.ts')), 'docs/adding-a-vendor.md is out of date');
});

test('the guide to adding a vendor shows where the list begins, and one vendor more', () => {
  const [, list = ''] =
    /^export const vendors: .* = \[(\n.*\n.*\n)[^\]]*\];$/m.exec(readFileSync('src/vendors/index.ts', 'utf8')) ?? [];
  assert.ok(list !== '' && guide.includes(`= [${list}  // …\n  acme,\n];`));
});

test('the guide to adding a vendor names every file of the kit, and none that is not there', () => {
  const files = readdirSync('src/vendors/kit').filter((file) => !file.endsWith('.test.ts'));
  const hidden = ['connect.ts', 'exchange.ts', 'http.ts', 'in-memory-media.ts'];
  const table = guide.slice(guide.indexOf('What the kit has'), guide.indexOf('What only one vendor needs'));
  const named = [...table.matchAll(/`([a-z-]+\.ts)`/g)].map(([, name = '']) => name);
  assert.deepEqual([...named, ...hidden, 'dialects.ts'].sort(), files.sort());
});
