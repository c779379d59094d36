import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plainTranscription } from '../../../test/support/plain-requests.ts';
import { clip } from '../emulator/sounds.ts';
import { transcription, withEmulator } from './emulator/calls.ts';

const model = 'scribe_v2';

test('an account with a webhook gets an id, under which the transcript is found once it is stored', () =>
  withEmulator({ hasWebhook: true, readsUntilStored: 2 }, async (emulator, upstream) => {
    const to = { ...upstream, model, dialect: 'webhook' };
    const submitted = await transcription.submit(plainTranscription(), await clip(), to);
    assert.ok(submitted.state === 'accepted');
    assert.deepEqual(Object.keys(submitted.task), ['id']);
    const poll = () => Promise.resolve(transcription.poll?.(submitted.task, to));
    assert.deepEqual([await poll(), await poll()], [{ state: 'running' }, { state: 'running' }]);
    const progress = await poll();
    assert.ok(progress?.state === 'transcribed');
    assert.deepEqual([progress.transcript.text, progress.transcript.seconds], ['Hello there. (laughter) Hi', 2]);
    assert.equal(emulator.submissions.length, 1);
  }));

test('without the dialect, and for what must not be logged, it is answered at once', () =>
  withEmulator({ hasWebhook: true }, async (emulator, upstream) => {
    const unlogged = plainTranscription({ extra: { enable_logging: 'false' } });
    const plain = await transcription.submit(plainTranscription(), await clip(), { ...upstream, model });
    const told = await transcription.submit(unlogged, await clip(), { ...upstream, model, dialect: 'webhook' });
    assert.deepEqual([plain.state, told.state], ['transcribed', 'transcribed']);
    for (const { fields } of emulator.submissions) assert.equal(fields.webhook, undefined);
  }));

test('an account without a webhook is the operator’s fault, and no caller’s', () =>
  withEmulator({ hasWebhook: false }, async (_emulator, upstream) => {
    const submitting = transcription.submit(plainTranscription(), await clip(), {
      ...upstream,
      model,
      dialect: 'webhook',
    });
    await assert.rejects(submitting, { fault: 'config', isUncertain: false });
  }));

test('an acceptance without an id may have been one, and is not repeated', () =>
  withEmulator({ hasWebhook: true }, async (emulator, upstream) => {
    emulator.script({ kind: 'instead', status: 200, body: '{"message":"ok","request_id":"r"}' });
    const submitting = transcription.submit(plainTranscription(), await clip(), {
      ...upstream,
      model,
      dialect: 'webhook',
    });
    await assert.rejects(submitting, { fault: 'garbled', isUncertain: true });
  }));
