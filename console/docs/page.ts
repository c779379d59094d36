import { type Html, html } from '../../src/html.ts';
import { CHAPTERS } from './documents.ts';
import type { Heading } from './markdown.ts';

interface Page {
  readonly title: string;
  /** Of the entry of the menu that leads here. */
  readonly slug: string;
  readonly body: Html;
  /** Listed beside the text where there are several. */
  readonly headings?: readonly Heading[];
  /** The same as Markdown. */
  readonly source?: string;
}

/** One page of the site. It runs no script and loads nothing but the style sheet and the icon. */
export function sitePage({ title, slug, body, headings = [], source }: Page): string {
  const inner = headings.filter(({ level }) => level === 2);
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Tollgate</title>
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/docs/assets/docs.css">
${source !== undefined && html`<link rel="alternate" type="text/markdown" href="${source}">`}
</head>
<body>
<a class="skip" href="#content">Skip to the text</a>
<div class="barrier" role="presentation"></div>
<header><a class="brand" href="/docs"><img src="/favicon.svg" width="24" height="24" alt=""> Tollgate</a>
<nav aria-label="Site"><a href="/docs">Guides</a><a href="/docs/api">API reference</a><a href="/docs/errors">Errors</a><a href="/console">Console</a></nav></header>
<div class="columns">
<nav class="menu" aria-label="Documents">${CHAPTERS.map((chapter) => menuOf(chapter, slug))}</nav>
<main id="content">${body}${source !== undefined && html`<p class="source"><a href="${source}">This page as Markdown</a></p>`}</main>
${inner.length > 2 && html`<nav class="inner" aria-label="On this page"><p class="chapter">On this page</p>${inner.map(innerLink)}</nav>`}
</div>
</body>
</html>
`.text;
}

function menuOf({ title, documents }: (typeof CHAPTERS)[number], current: string): Html {
  const links = documents.map(({ slug }) => menuLink(slug, current));
  return html`<p class="chapter">${title}</p><ul>${links}</ul>`;
}

function menuLink(slug: string, current: string): Html {
  const text = nameOf(slug);
  return slug === current
    ? html`<li><a href="/docs/${slug}" aria-current="page">${text}</a></li>`
    : html`<li><a href="/docs/${slug}">${text}</a></li>`;
}

/** How the menu calls a document. */
export function nameOf(slug: string): string {
  return NAMES[slug] ?? slug.charAt(0).toUpperCase() + slug.slice(1).replaceAll('-', ' ');
}

const NAMES: Readonly<Record<string, string>> = {
  clients: 'Client programs',
  mcp: 'Tools for agents (MCP)',
  oauth: 'OAuth apps',
  'from-litellm': 'From LiteLLM',
  'from-new-api': 'From new-api',
  'from-openrouter': 'From OpenRouter',
  'from-fal': 'From fal',
  'from-replicate': 'From Replicate',
  errors: 'Error codes',
};

function innerLink({ anchor, text }: Heading): Html {
  return html`<a href="#${anchor}">${text}</a>`;
}
