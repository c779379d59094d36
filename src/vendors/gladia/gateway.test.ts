import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CLIP_PRICE } from '../../../test/support/booth.ts';
import { until } from '../../../test/support/postgres.ts';
import { paid, VoiceBench } from '../../../test/support/voice-bench.ts';
import type { Script } from '../emulator/scripted-server.ts';
import { KEY, MARKER } from './emulator/calls.ts';
import type { ErrorName } from './emulator/errors.ts';
import { GladiaEmulator } from './emulator.ts';

// Transcripts in the whole program.
const bench = new VoiceBench<ErrorName, GladiaEmulator>({
  vendor: 'gladia',
  apiKey: KEY,
  emulator: () => new GladiaEmulator(KEY, MARKER),
  transcription: 'solaria-1',
  secrets: new RegExp(`${MARKER}|gladia|solaria`),
  final: [['unprocessable', 'upstream_rejected']],
  passing: ['busy', 'noCredit', 'noCreditOfHours', 'noCreditThrottled', 'noCreditInWords', 'broken', 'tooLarge'],
});
bench.testTranscriptionTask({ temperature: '0.5' });

test('a transcript with times has the vendor’s words and segments, after a task that runs for a while', async () => {
  bench.first.readsUntilDone = 2;
  const answer = await bench.hearByTask({ response_format: 'verbose_json' });
  assert.equal(answer.status, 200, answer.text);
  const { text, language, segments } = answer.json;
  assert.deepEqual([text, language, segments.length], ['Hello there. Hi.', 'de', 2]);
});

test('a task that fails costs nothing', async () => {
  bench.first.readsUntilDone = 1;
  const pending = bench.hearByTask();
  await until(() => bench.first.submissions.length === 1);
  for (const task of bench.first.submissions) task.errorCode = 500;
  const answer = await pending;
  assert.ok(answer.status >= 500, answer.text);
  assert.deepEqual(await bench.money(), paid(0));
});

test('a task whose answer is lost is made anew by another upstream, and charged once', async () => {
  const lost: Script[] = [{ kind: 'answer' }, { kind: 'fault', fault: 'reset' }];
  bench.first.script(...lost, ...lost);
  const answer = await bench.hearByTask();
  assert.equal(answer.status, 200, answer.text);
  assert.equal(bench.second.submissions.length, 1);
  assert.deepEqual(await bench.money(), paid(CLIP_PRICE));
});
