import { html } from '../html.ts';

export interface Message {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** What a message says: sentences, one link, and sentences after it. */
export interface Content {
  readonly to: string;
  readonly subject: string;
  readonly before: readonly string[];
  readonly link: { readonly label: string; readonly url: string };
  readonly after: readonly string[];
}

/** The same words as plain text and as a small page without pictures or scripts. */
export function messageOf({ to, subject, before, link, after }: Content): Message {
  const paragraphs = (sentences: readonly string[]) => sentences.map((sentence) => html`<p>${sentence}</p>`);
  const page = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${subject}</title></head>
<body style="font: 16px/1.5 sans-serif; max-width: 32em">${paragraphs(before)}<p><a href="${link.url}">${link.label}</a></p>${paragraphs(after)}</body></html>
`;
  const text = `${[...before, `${link.label}:\n${link.url}`, ...after].join('\n\n')}\n`;
  return { to, subject, text, html: page.text };
}
