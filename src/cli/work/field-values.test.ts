import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { UsageError } from '../command.ts';
import { requestFields } from './field-values.ts';

const FIELDS: readonly (readonly [word: string, body: Record<string, unknown>])[] = [
  ['prompt=a toll gate', { prompt: 'a toll gate' }],
  ['prompt=42', { prompt: '42' }],
  ['prompt=a=b', { prompt: 'a=b' }],
  ['prompt=', { prompt: '' }],
  ['n=2', { n: 2 }],
  ['temperature=-0.5', { temperature: -0.5 }],
  ['seed=007', { seed: '007' }],
  ['generate_audio=true', { generate_audio: true }],
  ['size=1024x1024', { size: '1024x1024' }],
  ['metadata:={"resolution":"2k"}', { metadata: { resolution: '2k' } }],
  ['prompt:="@me"', { prompt: '@me' }],
];

for (const [word, body] of FIELDS) {
  test(`the word ${word} is the field ${JSON.stringify(body)}`, () => assert.deepEqual(requestFields([word]), body));
}

for (const word of ['prompt', '=x', 'n:=two', '2n=1']) {
  test(`the word ${word} is refused as a misuse`, () => {
    assert.throws(() => requestFields([word]), UsageError);
  });
}

test('a file is text in a field of text and a data URL elsewhere', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-fields-'));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'a.png'), 'abc');
  assert.deepEqual(requestFields([`prompt=@${folder}/a.png`, `image=@${folder}/a.png`]), {
    prompt: 'abc',
    image: 'data:image/png;base64,YWJj',
  });
  assert.throws(() => requestFields([`image=@${folder}/none.png`]), /none\.png cannot be read/);
});
