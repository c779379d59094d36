import assert from 'node:assert/strict';
import { test } from 'node:test';
import { componentsOf, OPTIONAL_PACKAGES } from '../scripts/components.ts';
import { refusedLicences } from '../scripts/licences.ts';
import { sbomOf } from '../scripts/sbom.ts';

test('every package of an installation has a licence that is allowed, with the optional packages and without', () => {
  for (const packages of [[], OPTIONAL_PACKAGES]) {
    assert.deepEqual(
      refusedLicences(packages).map(({ name, licence }) => `${name}: ${licence}`),
      [],
    );
  }
});

test('a licence that is not on the list is found, also behind AND, and a choice is not refused for its other side', () => {
  const [component] = componentsOf([]);
  assert.ok(component);
  const refused = (licence: string | undefined) => refusedLicences([], [{ ...component, licence }]).length === 1;
  for (const licence of ['GPL-3.0-only', 'MIT AND GPL-2.0-only', 'LGPL-3.0-or-later', 'SEE LICENSE IN x', undefined]) {
    assert.ok(refused(licence), String(licence));
  }
  for (const licence of ['MIT', '(MIT OR GPL-2.0-only)', 'Apache-2.0 AND MIT']) assert.ok(!refused(licence), licence);
});

test('the gateway alone needs fewer packages, none of them of the sandbox', () => {
  const names = (packages: typeof OPTIONAL_PACKAGES | []) => componentsOf(packages).map(({ name }) => name);
  assert.ok(
    names([]).includes('fastify') && !names([]).includes('sharp') && names(OPTIONAL_PACKAGES).includes('sharp'),
  );
});

test('the bill of materials is the same each time', () => {
  assert.deepEqual(sbomOf([]), sbomOf([]));
});
