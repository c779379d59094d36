// Leaves of node_modules in the present folder what an image needs: the components of the bill of materials, without types,
// source maps and manuals; licences stay. Arguments name the optional packages that are installed too. npm leaves more: what
// both a package that was left out and a development package depend on.
import { globSync, readFileSync, rmSync } from 'node:fs';
import { componentsOf, OPTIONAL_PACKAGES } from './components.ts';

const NOT_RUN = [
  '**/*.map',
  '**/*.d.{ts,mts,cts}',
  '**/{README,Readme,readme,CHANGELOG,Changelog,changelog,HISTORY,History}*',
];

const packages = OPTIONAL_PACKAGES.filter((name) => process.argv.includes(name));
const needed = new Set(componentsOf(packages).map(({ path }) => path));
for (const [path, { link }] of Object.entries(installedPackages())) {
  if (link !== true && !needed.has(path)) rmSync(path, { recursive: true, force: true });
}
for (const path of globSync(NOT_RUN.map((pattern) => `node_modules/${pattern}`))) rmSync(path, { force: true });

function installedPackages(): Record<string, { readonly link?: boolean }> {
  return JSON.parse(readFileSync('node_modules/.package-lock.json', 'utf8')).packages;
}
