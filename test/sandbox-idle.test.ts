import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';

const HEAVY = [
  '@echogarden',
  '@moonshine-ai',
  'onnxruntime',
  'llama-tokenizer',
  'mpg123',
  'wasm-audio-decoders',
  'ogg-opus-decoder',
  'mediabunny',
  '@evan/opus',
];

test('a gateway that nobody asks to speak or listen has loaded nothing of what that takes', async () => {
  const script = `
    import { registerHooks } from 'node:module';
    const loaded = [];
    registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
    await import('@tollgate/sandbox');
    console.log(JSON.stringify(loaded));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], {
    maxBuffer: 2 ** 24,
  });
  const loaded: unknown = JSON.parse(stdout);
  assert.ok(Array.isArray(loaded));
  assert.ok(loaded.some((url) => String(url).endsWith('sandbox/src/speech.ts')));
  assert.deepEqual(
    loaded.filter((url) => HEAVY.some((name) => String(url).includes(name))),
    [],
  );
});
