import assert from 'node:assert/strict';
import { test } from 'node:test';
import { headingsOf, renderMarkdown } from '../console/docs/markdown.ts';
import { errorCures, linksFrom } from '../console/docs/site.ts';

const cases: [what: string, markdown: string, html: string][] = [
  ['a paragraph of two lines', 'one\ntwo\n\nthree', '<p>one\ntwo</p>\n<p>three</p>\n'],
  ['a heading with its anchor', '## What it `costs`', '<h2 id="what-it-costs">What it <code>costs</code></h2>\n'],
  ['markup in the text', 'a <b> & "c"', '<p>a &lt;b&gt; &amp; &quot;c&quot;</p>\n'],
  ['markup in code', '`<a href="x">`', '<p><code>&lt;a href=&quot;x&quot;&gt;</code></p>\n'],
  ['bold, italic and stars in code', '**b** *i* `a*b*c`', '<p><strong>b</strong> <em>i</em> <code>a*b*c</code></p>\n'],
  ['a multiplication', '12 * 7 and 3 * 4', '<p>12 * 7 and 3 * 4</p>\n'],
  ['a link', '[x](/y)', '<p><a href="/y">x</a></p>\n'],
  ['a link to what is not served', '[x](../src/a.ts)', '<p>x</p>\n'],
  ['a comment', '<!-- a\nb -->\nc', '<p>c</p>\n'],
  [
    'fenced code, and not who runs it',
    '```sh\ncurl <x>\n\n# no heading\n```\nRun by `test/a.test.ts`, and\nmore of it\n\nnext',
    '<pre tabindex="0"><code class="language-sh">curl &lt;x&gt;\n\n# no heading</code></pre>\n<p>next</p>\n',
  ],
  ['a list', '- a\n  more\n- b', '<ul><li>a\nmore</li><li>b</li></ul>\n'],
  [
    'a numbered list with code in it',
    '1. a\n\n   ```sh\n   b\n   ```\n2. c',
    '<ol><li><p>a</p>\n<pre tabindex="0"><code class="language-sh">b</code></pre>\n</li><li>c</li></ol>\n',
  ],
  [
    'a table with an escaped bar',
    '| A | B |\n|---|---|\n| `a \\| b` | **c** |',
    '<div class="wide" tabindex="0"><table><thead><tr><th>A</th><th>B</th></tr></thead><tbody><tr><td><code>a | b</code></td><td><strong>c</strong></td></tr></tbody></table></div>\n',
  ],
  ['a quote', '> a\n> b', '<blockquote><p>a\nb</p>\n</blockquote>\n'],
];

for (const [what, markdown, html] of cases) {
  test(`renders ${what}`, () => {
    assert.equal(renderMarkdown(markdown, linksFrom('tour.md')).text, html);
  });
}

test('headings in code are none', () => {
  assert.deepEqual(headingsOf('# A\n\n```sh\n# b\n```\n\n## C d'), [
    { level: 1, text: 'A', anchor: 'a' },
    { level: 2, text: 'C d', anchor: 'c-d' },
  ]);
});

test('links between documents lead to their pages, from where the document lies', () => {
  assert.equal(linksFrom('tour.md')('guides/money.md#limits'), '/docs/money#limits');
  assert.equal(linksFrom('guides/money.md')('../clients.md'), '/docs/clients');
  assert.equal(linksFrom('guides/money.md')('streaming.md'), '/docs/streaming');
  assert.equal(linksFrom('guides/money.md')('adr/0001.md'), undefined);
});

test('a code without a cure, and a cure without a code, fail the build', () => {
  assert.throws(() => errorCures('| `not_found` | a | b |'), /no row for missing_token/);
  assert.throws(() => errorCures('| `no_such_code` | a | b |'), /no_such_code/);
});
