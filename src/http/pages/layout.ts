import { createHash } from 'node:crypto';
import { Html, html } from '../../html.ts';

const STYLE = `
:root { color-scheme: light dark; --ink: #1d2330; --soft: #5c6473; --line: #d9dde5; --paper: #fff; --ground: #f4f5f8; --accent: #c8362f; --good: #1c7a4a; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8eaf0; --soft: #9aa3b5; --line: #343b4a; --paper: #1c212c; --ground: #12151d; --accent: #ef6a5f; --good: #58c48d; } }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 24px 16px; background: var(--ground); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { width: 100%; max-width: 440px; background: var(--paper); border: 1px solid var(--line); border-radius: 14px; overflow: hidden; }
.barrier { height: 10px; background: repeating-linear-gradient(115deg, var(--accent) 0 26px, var(--paper) 26px 52px); border-bottom: 1px solid var(--line); }
.inside { padding: 28px; }
h1, h2 { font-size: 1.35rem; line-height: 1.25; margin: 0 0 6px; overflow-wrap: anywhere; } h2 { font-size: 1.1rem; margin-top: 24px; }
p { margin: 0 0 16px; } p.soft, .soft { color: var(--soft); } .small { font-size: .875rem; }
label { display: block; font-weight: 600; font-size: .9rem; margin: 14px 0 4px; }
input:not([type=hidden]):not([type=checkbox]), select { width: 100%; padding: 10px 12px; font: inherit; color: inherit; background: transparent; border: 1px solid var(--line); border-radius: 9px; }
input:focus-visible, select:focus-visible, button:focus-visible, a:focus-visible { outline: 2px solid var(--ink); outline-offset: 2px; }
button, a.button { display: block; width: 100%; text-align: center; text-decoration: none; margin-top: 20px; padding: 11px 16px; font: inherit; font-weight: 600; border-radius: 9px; border: 1px solid transparent; background: var(--ink); color: var(--paper); cursor: pointer; }
button.plain, a.button.plain { background: transparent; color: inherit; border-color: var(--line); margin-top: 10px; }
a { color: inherit; } ul { margin: 0 0 16px; padding: 0; list-style: none; } li { padding: 10px 0; border-top: 1px solid var(--line); } li:first-child { border-top: 0; }
.note { padding: 10px 12px; border-radius: 9px; border: 1px solid var(--accent); margin: 0 0 16px; }
.row { display: flex; justify-content: space-between; gap: 12px; align-items: baseline; } .row > :first-child { min-width: 0; overflow-wrap: anywhere; } .row button { width: auto; margin: 0; padding: 5px 12px; }
form + p { margin-top: 16px; } code { font-size: .9em; }
.problem { color: var(--accent); margin: 4px 0 0; } label + input + p { margin: 4px 0 0; } input[aria-invalid] { border-color: var(--accent) !important; } input[readonly] { color: var(--soft) !important; }
.below { margin: 20px 0 0; } .away { position: absolute; width: 1px !important; height: 1px; padding: 0 !important; opacity: 0; pointer-events: none; }
`;

/** Nothing is loaded or run, and no other site may frame a page. Only our own style sheet passes. */
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

/** What a page needs beyond its own site. */
export interface PageReach {
  /** Where its form may lead in the end: browsers follow redirects only to what is named here. */
  readonly formTarget?: string | undefined;
  /** The one picture that it shows. */
  readonly image?: string | undefined;
}

/** The headers of every page. */
export function pageHeaders({ formTarget, image }: PageReach = {}): Record<string, string> {
  const images = image === undefined ? '' : `; img-src ${policySource(image)}`;
  const target = formTarget === undefined ? '' : ` ${new URL(formTarget).origin}`;
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': `${POLICY}${images}; form-action 'self'${target}`,
    'x-frame-options': 'DENY',
    'x-content-type-options': 'nosniff',
    // Other sites are told nothing. With "no-referrer" a browser would call its own origin "null" when it sends a form.
    'referrer-policy': 'same-origin',
    'cache-control': 'no-store',
  };
}

/** An address as a source of the content policy, in which these characters end a source or a directive. */
function policySource(address: string): string {
  const { origin, pathname } = new URL(address);
  return origin + pathname.replace(/[;,']/g, (char) => `%${char.charCodeAt(0).toString(16)}`);
}

export function layout(title: string, body: Html): string {
  return html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title} · Tollgate</title><style>${new Html(STYLE)}</style></head>
<body><main><div class="barrier" role="presentation"></div><div class="inside">${body}</div></main></body>
</html>
`.text;
}
