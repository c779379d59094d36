import { html } from '../../src/html.ts';

// The names of the reference's tokens, with the values of docs.css.
const STYLE = `
.light-mode { --scalar-background-1: #fff; --scalar-background-2: #f4f5f8; --scalar-background-3: #e6e9ef; --scalar-color-1: #1d2330; --scalar-color-2: #565f70; --scalar-color-3: #6c7588; --scalar-color-accent: #c8362f; --scalar-border-color: #d9dde5; }
.dark-mode { --scalar-background-1: #1a1f2a; --scalar-background-2: #12151d; --scalar-background-3: #2d3442; --scalar-color-1: #e8eaf0; --scalar-color-2: #a3acbd; --scalar-color-3: #9aa3b5; --scalar-color-accent: #ef6a5f; --scalar-border-color: #343b4a; }
:root { --scalar-font: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; --scalar-font-code: ui-monospace, "DejaVu Sans Mono", Menlo, monospace; }`;

/** Nothing of it reaches outside: no fonts, no telemetry, no hosted editor, no assistant. The page's policy holds it to that. */
const CONFIGURATION = {
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
  showToolbar: 'never',
  persistAuth: false,
  customCss: STYLE,
};

/** The page of the API reference, read from /openapi.json in the browser. Without scripts the document itself is linked. */
export function referencePage(): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API reference · Tollgate</title>
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
</head>
<body>
<noscript><p>The reference needs JavaScript. <a href="/openapi.json">/openapi.json</a> is the same for programs, and <a href="/docs">the
guides</a> need none.</p></noscript>
<script id="api-reference" data-url="/openapi.json" data-configuration="${JSON.stringify(CONFIGURATION)}"></script>
<script src="/docs/assets/reference.js"></script>
</body>
</html>
`.text;
}
