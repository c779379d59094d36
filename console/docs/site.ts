import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { ERROR_TABLE } from '../../src/error-table.ts';
import { errorType } from '../../src/errors.ts';
import { html } from '../../src/html.ts';
import { CHAPTERS, DOCUMENTS, type SiteDocument } from './documents.ts';
import { headingsOf, type LinkTarget, renderMarkdown } from './markdown.ts';
import { nameOf, sitePage } from './page.ts';

/** Every file of the site by its path below /docs, from the documents in `folder`. */
export function siteFiles(folder: string): Map<string, string> {
  const texts = new Map(DOCUMENTS.map(({ file }) => [file, readFileSync(join(folder, file), 'utf8')]));
  const files = new Map<string, string>();
  for (const document of DOCUMENTS) {
    const text = texts.get(document.file) ?? '';
    files.set(`${document.slug}.html`, documentPage(document, withErrorLinks(text)));
    files.set(`${document.slug}.md`, text);
  }
  files.set('index.html', indexPage());
  for (const { code, cause, cure } of errorCures(readFileSync(join(folder, 'error-cures.md'), 'utf8'))) {
    files.set(`errors/${code}.html`, errorPage(code, cause, cure));
  }
  files.set('llms.txt', llmsIndex());
  files.set('llms-full.txt', [...texts.values()].join('\n\n'));
  return files;
}

function documentPage({ slug, file }: SiteDocument, text: string): string {
  const body = renderMarkdown(text, linksFrom(file));
  const headings = headingsOf(text);
  return sitePage({ title: headings[0]?.text ?? nameOf(slug), slug, body, headings, source: `/docs/${slug}.md` });
}

/** In tables that begin with error codes, each leads to its page. */
function withErrorLinks(text: string): string {
  return text.replaceAll(/^\| `(\w+)` \|/gm, (cell, code: string) =>
    Object.hasOwn(ERROR_TABLE, code) ? `| [\`${code}\`](/docs/errors/${code}) |` : cell,
  );
}

/** Links between documents lead to their pages; to what is not served, such as a source file, there is none. */
export function linksFrom(file: string): LinkTarget {
  return (href) => {
    if (/^(https?:\/\/|\/|#)/.test(href)) return href;
    const [path = '', anchor] = href.split('#');
    const target = posix.join(posix.dirname(file), path);
    const document = DOCUMENTS.find((one) => one.file === target);
    if (document === undefined) return undefined;
    return `/docs/${document.slug}${anchor === undefined ? '' : `#${anchor}`}`;
  };
}

function indexPage(): string {
  const chapters = CHAPTERS.map(
    ({ title, documents }) =>
      html`<h2>${title}</h2><ul class="cards">${documents.map(
        ({ slug, purpose }) => html`<li><a href="/docs/${slug}">${nameOf(slug)}</a><span>${purpose}</span></li>`,
      )}</ul>`,
  );
  const body = html`<h1>Documentation</h1>
<p>One API key and one credit balance in front of text, image, video and audio models. The addresses on these pages are
those of this gateway, and a test runs their commands as they stand there.</p>
<p><a href="/docs/first-call">Make a first call</a>, or look up a route in the <a href="/docs/api">API reference</a>, which is
made from <a href="/openapi.json">/openapi.json</a>. For programs that read: <a href="/llms.txt">/llms.txt</a>.</p>
${chapters}`;
  return sitePage({ title: 'Documentation', slug: '', body });
}

interface ErrorCure {
  readonly code: keyof typeof ERROR_TABLE;
  readonly cause: string;
  readonly cure: string;
}

/** The rows of docs/error-cures.md. Throws where a code has none, or a row has no code. */
export function errorCures(markdown: string): ErrorCure[] {
  const rows = [...markdown.matchAll(/^\| `(\w+)` \| (.+?) \| (.+?) \|$/gm)];
  const cures = new Map(rows.map(([, code = '', cause = '', cure = '']) => [code, { cause, cure }]));
  const codes = Object.keys(ERROR_TABLE) as (keyof typeof ERROR_TABLE)[];
  const unknown = [...cures.keys()].filter((code) => !Object.hasOwn(ERROR_TABLE, code));
  if (unknown.length > 0 || rows.length !== cures.size) throw new Error(`error-cures.md: ${unknown.join(', ')}`);
  return codes.map((code) => {
    const cure = cures.get(code);
    if (cure === undefined) throw new Error(`error-cures.md has no row for ${code}`);
    return { code, ...cure };
  });
}

function errorPage(code: keyof typeof ERROR_TABLE, cause: string, cure: string): string {
  const [status, message] = ERROR_TABLE[code];
  const toSite = linksFrom('error-cures.md');
  const body = html`<h1><code>${code}</code></h1>
<p class="facts"><strong>${status}</strong> <code>${errorType(code)}</code></p>
<blockquote><p>${message}</p></blockquote>
<h2 id="cause">Cause</h2>${renderMarkdown(cause, toSite)}
<h2 id="cure">Cure</h2>${renderMarkdown(cure, toSite)}
<p>${retryText(status)}</p>
<p class="soft">The message of an answer may say more: which field, which value, and what would work. Its <code>x-request-id</code>
finds the request in the console and in the operator’s log. <a href="/docs/errors">All codes</a></p>`;
  return sitePage({ title: code, slug: 'errors', body });
}

function retryText(status: number): string {
  if ([425, 429, 502, 503, 504].includes(status)) {
    return 'Trying again can help: after Retry-After seconds where the answer has that header, else with a growing pause.';
  }
  return status === 500 ? 'Trying once more can help.' : 'The same request is refused again.';
}

/** By the convention of llmstxt.org: what there is, and where it is read as Markdown. */
function llmsIndex(): string {
  const chapters = CHAPTERS.map(({ title, documents }) => {
    const lines = documents.map(({ slug, purpose }) => `- [${nameOf(slug)}](/docs/${slug}.md): ${purpose}`);
    return `## ${title}\n\n${lines.join('\n')}`;
  });
  return `# Tollgate

> A self-hosted gateway to text, image, video and audio models: one API key, one credit balance, exact billing. It speaks chat
> completions, responses, messages, embeddings, a native format, speech and transcription; pictures, clips and music are jobs.

The API is described at [/openapi.json](/openapi.json). Every document in one file: [/llms-full.txt](/llms-full.txt). The page of
an error code is /docs/errors/CODE.

${chapters.join('\n\n')}
`;
}
