import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { OpenAiEmulator } from '../src/vendors/openai/emulator.ts';
import { Gateway } from './support/gateway.ts';
import { captureLog, dumpOf } from './support/leaks.ts';
import { chatBody, delta, paidCaller, tokenModel } from './support/paid-calls.ts';
import { until } from './support/postgres.ts';
import { IMAGES, KEY as STUDIO_KEY, Studio } from './support/studio.ts';
import { upstreamHealth } from './support/upstream-health.ts';

const KEY = 'sk-secret+key/with=signs&0123456789';
const BESIDE = 'sk-of-another-upstream-9876543210';

/** Every way in which a server may repeat a key that it was sent. */
const FORMS: readonly [name: string, text: string][] = [
  ['as it is', KEY],
  ['in capitals', KEY.toUpperCase()],
  ['encoded for a URL', encodeURIComponent(KEY)],
  ['in base64', Buffer.from(KEY).toString('base64')],
  ['in base64 for URLs', Buffer.from(KEY).toString('base64url')],
  ['as a password in basic authentication', Buffer.from(`user:${KEY}`).toString('base64')],
  ['inside other base64', Buffer.from(`a${KEY}b`).toString('base64')],
  ['that is another upstream’s', BESIDE],
];

let gateway: Gateway;
const captured = captureLog();
const upstream = new OpenAiEmulator();
before(async () => {
  await upstream.start();
  gateway = await Gateway.start({ log: captured.log });
});
after(async () => {
  await gateway.stop();
  await upstream.stop();
});
afterEach(() => gateway.assertBooksBalance());

describe('R-524: an upstream that repeats its own key in an error puts it nowhere', () => {
  for (const [index, [name, form]] of FORMS.entries()) {
    test(name, async () => {
      const id = `teller-${index}`;
      await gateway.putConfig({
        upstreams: [
          { id, vendor: 'openai', base_url: upstream.url, api_key: KEY },
          { id: 'beside', vendor: 'openai', base_url: upstream.url, api_key: BESIDE },
        ],
        models: [tokenModel('talker', [id])],
      });
      const { key } = await paidCaller(gateway);
      const body = JSON.stringify({ error: { message: `Bad key <${form}>.`, type: 'x', code: 'invalid_api_key' } });
      upstream.script({ kind: 'raw', status: 401, body });
      const answer = await gateway.call('POST', '/v1/chat/completions', { key, body: chatBody('talker') });
      assert.equal(answer.status, 502, answer.text);
      const { last_detail } = (await upstreamHealth(gateway, id)).whole;
      assert.match(String(last_detail), /Bad key <[A-Za-z0-9+/=]{0,8}\[redacted\][A-Za-z0-9+/=]{0,8}>\./);
      await until(async () => (await dumpOf(gateway.database)).includes('[redacted]'));
      const stored = await dumpOf(gateway.database);
      const seen = [answer.text, last_detail, stored, captured.text()].join('\n');
      for (const secret of [form, KEY]) assert.ok(!seen.includes(secret), `${secret} in ${seen}`);
      assert.match(captured.text(), /Bad key <.*\[redacted\]/);
    });
  }

  test('in the middle of a stream', async () => {
    const { key } = await paidCaller(gateway);
    const error = { message: `It broke with ${KEY}.`, type: 'x', code: 'x' };
    await gateway.putConfig({
      upstreams: [{ id: 'streamer', vendor: 'openai', base_url: upstream.url, api_key: KEY }],
      models: [tokenModel('talker', ['streamer'])],
    });
    upstream.script({ kind: 'frames', frames: [delta('One'), { error }] });
    const body = chatBody('talker', { stream: true });
    assert.match((await gateway.call('POST', '/v1/chat/completions', { key, body })).text, /upstream_failed/);
    assert.match(String((await upstreamHealth(gateway, 'streamer')).model.last_detail), /It broke with \[redacted\]\./);
    assert.ok(!captured.text().includes(KEY));
  });

  test('when it refuses a job, and when a task of it fails', async () => {
    const captured = captureLog();
    const studio = new Studio();
    await studio.start({ log: captured.log });
    try {
      const owner = await paidCaller(studio.gateway);
      const body = JSON.stringify({ detail: [{ loc: ['body'], msg: `with ${STUDIO_KEY}`, type: 'bad_request' }] });
      const told = { kind: 'raw', status: 422, body } as const;
      studio.queue.script('submit', told);
      const refused = await studio.create(owner, IMAGES, { model: 'studio/queue', prompt: 'a gate' });
      assert.equal((await studio.ended(owner, refused.id)).error_code, 'upstream_rejected');
      studio.queue.script('result', told);
      const failed = await studio.create(owner, IMAGES, { model: 'studio/queue', prompt: 'a gate' });
      assert.equal((await studio.ended(owner, failed.id)).status, 'failed');
      const seen = (await dumpOf(studio.gateway.database)) + captured.text();
      assert.equal(seen.includes(STUDIO_KEY), false);
      assert.ok(seen.split('with [redacted]').length >= 3, seen);
      await studio.gateway.assertBooksBalance();
    } finally {
      await studio.stop();
    }
  });
});

describe('the words of an upstream that hold a NUL, which the database keeps in no text', () => {
  test('are kept without it, and with them the state of the breaker', async () => {
    await gateway.putConfig({
      upstreams: [{ id: 'nul', vendor: 'openai', base_url: upstream.url, api_key: KEY }],
      models: [tokenModel('talker', ['nul'])],
    });
    const { key } = await paidCaller(gateway);
    upstream.script({ kind: 'raw', status: 401, body: 'Bad\0key.' });
    const answer = await gateway.call('POST', '/v1/chat/completions', { key, body: chatBody('talker') });
    assert.equal(answer.status, 502, answer.text);
    await until(async () => (await dumpOf(gateway.database)).includes('Bad\ufffdkey.'));
  });

  test('are kept without it, and the job that they are about fails at once', async () => {
    const studio = new Studio();
    await studio.start();
    try {
      const owner = await paidCaller(studio.gateway);
      studio.queue.script('submit', { kind: 'raw', status: 422, body: 'No\0gate' });
      const { id } = await studio.create(owner, IMAGES, { model: 'studio/queue', prompt: 'a gate' });
      assert.equal((await studio.ended(owner, id)).error_code, 'upstream_rejected');
      assert.ok((await dumpOf(studio.gateway.database)).includes('No\ufffdgate'));
      await studio.gateway.assertBooksBalance();
    } finally {
      await studio.stop();
    }
  });
});
