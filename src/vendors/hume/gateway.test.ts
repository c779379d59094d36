import assert from 'node:assert/strict';
import { test } from 'node:test';
import { paid, SPEECH_PRICE, VoiceBench } from '../../../test/support/voice-bench.ts';
import { KEY, MARKER } from './emulator/calls.ts';
import type { ErrorName } from './emulator/errors.ts';
import { HumeEmulator, LIBRARY_VOICE } from './emulator.ts';

// Speech and voices in the whole program.
const bench = new VoiceBench<ErrorName, HumeEmulator>({
  vendor: 'hume',
  apiKey: KEY,
  emulator: () => new HumeEmulator(KEY, MARKER),
  speech: 'octave-2',
  speechFields: { voice: LIBRARY_VOICE },
  models: [{ id: 'studio/designer', accepts: { voice_design: true }, upstreamModel: 'voice-design' }],
  secrets: new RegExp(`${MARKER}|hume|octave`),
  final: [
    ['invalid', 'upstream_rejected'],
    ['noVoice', 'upstream_rejected'],
    ['moderated', 'content_rejected'],
  ],
  passing: ['busy', 'noCredit', 'noCreditThrottled', 'noCreditInWords', 'broken', 'tooLarge'],
});

const DESIGN = {
  model: 'studio/designer',
  voice: undefined,
  voice_description: 'A sassy squeaky mouse',
  output: 'b64_json',
};

bench.testSpeech({ seed: 1 });
bench.testKind('voice design', (fields) => bench.speak({ ...DESIGN, ...fields }), SPEECH_PRICE, { seed: 1 });

test('R-393: each voice of a design is told by what the vendor knows it by, and all are one charge', async () => {
  const answer = await bench.speak({ ...DESIGN, n: 2 });
  assert.equal(answer.status, 200, answer.text);
  assert.equal(bench.first.submissions[0]?.fields.num_generations, 2);
  for (const at of [0, 1]) assert.match(answer.text, new RegExp(`generation-${at}`));
  assert.deepEqual(await bench.money(), paid(SPEECH_PRICE));
});
