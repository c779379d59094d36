import { Html, html } from '../../src/html.ts';

// The part of Markdown that the documents use, as HTML: headings, paragraphs, lists, tables, fenced code, quotes, and inline
// code, links, bold and italic text. Everything else of the text is escaped.

/** Where a link of the document leads on the site; undefined leaves its text alone. */
export type LinkTarget = (href: string) => string | undefined;

export interface Heading {
  readonly level: number;
  readonly text: string;
  readonly anchor: string;
}

/** A cursor over the lines of a document. */
interface Lines {
  readonly all: readonly string[];
  at: number;
}

const FENCE = /^ *```(\w*) *$/;
const HEADING = /^(#{1,4}) (.+)$/;
const TABLE_RULE = /^\|[-:| ]+\|$/;
const ITEM = /^([-*]|\d+\.) +/;
const COMMENT = /<!--.*?-->\n?/gs;
/** Below a block of commands: which test runs it. It is for those who change the document. */
const RUN_BY = /^ *(?:Run by `|Not run by a test: )/;

export function renderMarkdown(markdown: string, linkTo: LinkTarget): Html {
  return blocks({ all: markdown.replace(COMMENT, '').split('\n'), at: 0 }, linkTo);
}

/** The headings outside fenced code, in order. */
export function headingsOf(markdown: string): Heading[] {
  const outside = markdown.replace(/^ *```.*?^ *```$/gms, '');
  return [...outside.matchAll(/^(#{1,4}) (.+)$/gm)].map(([, marks = '', text = '']) => ({
    level: marks.length,
    text: text.replace(/[`*]/g, ''),
    anchor: anchorOf(text),
  }));
}

/** As GitHub makes them. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w -]/g, '')
    .replaceAll(' ', '-');
}

function blocks(lines: Lines, linkTo: LinkTarget): Html {
  const parts: Html[] = [];
  while (lines.at < lines.all.length) {
    if (lineAt(lines).trim() === '') lines.at++;
    else parts.push(block(lines, linkTo));
  }
  return html`${parts}`;
}

function block(lines: Lines, linkTo: LinkTarget): Html {
  const line = lineAt(lines);
  if (FENCE.test(line)) return fence(lines);
  if (HEADING.test(line)) return heading(lines, linkTo);
  if (isTable(lines)) return table(lines, linkTo);
  if (ITEM.test(line)) return list(lines, linkTo);
  if (line.startsWith('> ')) return quote(lines, linkTo);
  return html`<p>${inline(paragraph(lines), linkTo)}</p>\n`;
}

function lineAt({ all, at }: Lines, ahead = 0): string {
  return all[at + ahead] ?? '';
}

function isTable(lines: Lines): boolean {
  return lineAt(lines).startsWith('|') && TABLE_RULE.test(lineAt(lines, 1));
}

function startsBlock(lines: Lines): boolean {
  const line = lineAt(lines);
  return line.trim() === '' || FENCE.test(line) || HEADING.test(line) || ITEM.test(line) || isTable(lines);
}

function paragraph(lines: Lines): string {
  const start = lines.at++;
  while (lines.at < lines.all.length && !startsBlock(lines)) lines.at++;
  return lines.all.slice(start, lines.at).join('\n').trim();
}

function fence(lines: Lines): Html {
  const opening = lineAt(lines);
  const language = FENCE.exec(opening)?.[1] ?? '';
  const indent = opening.length - opening.trimStart().length;
  const start = ++lines.at;
  while (lines.at < lines.all.length && lineAt(lines).trim() !== '```') lines.at++;
  const code = lines.all.slice(start, lines.at++).map((line) => line.slice(indent));
  if (RUN_BY.test(lineAt(lines))) paragraph(lines);
  return html`<pre tabindex="0"><code class="language-${language || 'text'}">${code.join('\n')}</code></pre>\n`;
}

function heading(lines: Lines, linkTo: LinkTarget): Html {
  const [, marks = '', text = ''] = HEADING.exec(lineAt(lines)) ?? [];
  lines.at++;
  const tag = new Html(`h${marks.length}`);
  return html`<${tag} id="${anchorOf(text)}">${inline(text, linkTo)}</${tag}>\n`;
}

function table(lines: Lines, linkTo: LinkTarget): Html {
  const head = cellsOf(lineAt(lines));
  lines.at += 2;
  const rows: string[][] = [];
  while (lineAt(lines).startsWith('|')) rows.push(cellsOf(lineAt({ ...lines, at: lines.at++ })));
  const row = (tag: 'th' | 'td', cells: readonly string[]) =>
    html`<tr>${cells.map((cell) => html`<${new Html(tag)}>${inline(cell, linkTo)}</${new Html(tag)}>`)}</tr>`;
  const body = rows.map((cells) => row('td', cells));
  return html`<div class="wide" tabindex="0"><table><thead>${row('th', head)}</thead><tbody>${body}</tbody></table></div>\n`;
}

function cellsOf(line: string): string[] {
  return line
    .trim()
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'));
}

function list(lines: Lines, linkTo: LinkTarget): Html {
  const isOrdered = /^\d/.test(lineAt(lines));
  const items: Html[] = [];
  while (ITEM.test(lineAt(lines)) && /^\d/.test(lineAt(lines)) === isOrdered) items.push(item(lines, linkTo));
  const tag = new Html(isOrdered ? 'ol' : 'ul');
  return html`<${tag}>${items}</${tag}>\n`;
}

/** An item is its first line and all that is indented below it, blank lines included: a document of its own. */
function item(lines: Lines, linkTo: LinkTarget): Html {
  const width = ITEM.exec(lineAt(lines))?.[0].length ?? 0;
  const own = [lineAt(lines).slice(width)];
  lines.at++;
  while (lines.at < lines.all.length && belongsToItem(lines)) {
    own.push(lineAt(lines).replace(new RegExp(`^ {0,${width}}`), ''));
    lines.at++;
  }
  const content = blocks({ all: own, at: 0 }, linkTo).text;
  const isOneParagraph = content.startsWith('<p>') && content.indexOf('</p>') === content.length - '</p>\n'.length;
  return html`<li>${new Html(isOneParagraph ? content.slice('<p>'.length, -'</p>\n'.length) : content)}</li>`;
}

function belongsToItem(lines: Lines): boolean {
  const line = lineAt(lines);
  return line.trim() === '' ? /^ {2}/.test(lineAt(lines, 1)) : line.startsWith('  ');
}

function quote(lines: Lines, linkTo: LinkTarget): Html {
  const own: string[] = [];
  while (lineAt(lines).startsWith('>')) {
    own.push(lineAt(lines).replace(/^> ?/, ''));
    lines.at++;
  }
  return html`<blockquote>${blocks({ all: own, at: 0 }, linkTo)}</blockquote>\n`;
}

const INLINE =
  /(`+)(.+?)\1|(!?)\[([^\]]+)\]\(([^)\s]+)\)|\*\*(.+?)\*\*|(?<![\w*])\*([^*\s](?:[^*]*[^*\s])?)\*(?![\w*])/gs;

function inline(text: string, linkTo: LinkTarget): Html {
  const parts: (Html | string)[] = [];
  let end = 0;
  for (const match of text.matchAll(INLINE)) {
    const [whole, , code, isImage, label = '', href = '', bold, italic] = match;
    parts.push(text.slice(end, match.index));
    end = match.index + whole.length;
    if (code !== undefined) parts.push(html`<code>${code}</code>`);
    else if (bold !== undefined) parts.push(html`<strong>${inline(bold, linkTo)}</strong>`);
    else if (italic !== undefined) parts.push(html`<em>${inline(italic, linkTo)}</em>`);
    else parts.push(link(inline(label, linkTo), isImage === '!' ? undefined : linkTo(href)));
  }
  return html`${[...parts, text.slice(end)]}`;
}

function link(label: Html, target: string | undefined): Html {
  return target === undefined ? label : html`<a href="${target}">${label}</a>`;
}
