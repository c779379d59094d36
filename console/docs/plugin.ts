import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runInNewContext } from 'node:vm';
import type { Plugin } from 'vite';
import { referencePage } from './reference.ts';
import { siteFiles } from './site.ts';

const DOCUMENTS = fileURLToPath(new URL('../../docs', import.meta.url));
const STYLE = fileURLToPath(new URL('docs.css', import.meta.url));
const REFERENCE_PACKAGE = '@scalar/fastify-api-reference';

/** Writes the pages of /docs into the build: the gateway renders no Markdown, and installs nothing for its reference. */
export function documentation(): Plugin {
  return {
    name: 'documentation',
    apply: 'build',
    writeBundle({ dir = 'dist' }) {
      const write = (name: string, content: string) => {
        const path = join(dir, 'docs', name);
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, content);
      };
      for (const [name, content] of siteFiles(DOCUMENTS)) write(name, content);
      write('api.html', referencePage());
      write('assets/docs.css', readFileSync(STYLE, 'utf8'));
      write('assets/reference.js', referenceScript());
    },
  };
}

/**
 * The browser's part of the API reference. Its package carries it as a string for a server plugin of its own, which would
 * have to be installed with the gateway; so the string is cut out here. The version is pinned, and another shape fails.
 */
function referenceScript(): string {
  const source = readFileSync(createRequire(import.meta.url).resolve(REFERENCE_PACKAGE), 'utf8');
  const literal = /^var standalone_default = (".*");$/m.exec(source)?.[1];
  if (literal === undefined) throw new Error(`${REFERENCE_PACKAGE} is not built as it was`);
  const script: unknown = runInNewContext(literal);
  return String(script).replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n');
}
