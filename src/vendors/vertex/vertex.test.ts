import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { GoogleGenAI } from '@google/genai';
import { plainEmbedding } from '../../../test/support/plain-requests.ts';
import { NO_CLOUD } from '../../cloud-settings.ts';
import { chatSchema, toChatRequest } from '../../schemas/index.ts';
import { type Upstream, UpstreamPools } from '../index.ts';
import { GoogleTokensEmulator } from './emulator/google-tokens.ts';
import { VertexEmulator } from './emulator.ts';
import { work as vertex } from './work.ts';

const { chat, native, embedding } = vertex;
assert.ok(chat && native && embedding);

const folder = mkdtempSync(join(tmpdir(), 'vertex-'));
const keyFile = join(folder, 'key.json');
const google = new GoogleTokensEmulator();
let cloud: VertexEmulator;
let pools: UpstreamPools;

before(() => google.start());
after(async () => {
  await google.stop();
  rmSync(folder, { recursive: true });
});
beforeEach(async () => {
  google.tokens.clear();
  google.requests.length = 0;
  cloud = new VertexEmulator({ apiKey: 'express-key', tokens: google.tokens });
  await cloud.start();
  pools = poolsWith({});
});
afterEach(async () => {
  await pools.close();
  await cloud.stop();
});

function poolsWith(settings: object, hosts = [new URL(cloud.origin).host]): UpstreamPools {
  const metadataHost = new URL(google.origin).host;
  return new UpstreamPools({ ...NO_CLOUD, hosts, google: { metadataHost, ...settings } });
}

function base64(key: object): string {
  return Buffer.from(JSON.stringify(key)).toString('base64');
}

function upstreamOf(fields: Partial<Upstream> = {}): Upstream {
  const { signal } = new AbortController();
  const credential = { kind: 'service_account', token_url: `${google.origin}/token` };
  const account = { address: cloud.url, apiKey: base64(google.key), credential };
  return { model: 'gemini-x', ...account, timeoutMs: 10_000, signal, pools, ...fields };
}

function ambient(): Partial<Upstream> {
  return { apiKey: '', credential: { kind: 'application_default' } };
}

function chatRequest(fields: object = {}) {
  const body = { model: 'public', messages: [{ role: 'user', content: 'Hello' }], ...fields };
  return toChatRequest(chatSchema.parse(body), body);
}

function ask(upstream = upstreamOf()) {
  return chat?.complete(chatRequest(), upstream) ?? assert.fail();
}

describe('one project', () => {
  test('gemini’s actions go to the publisher’s path with a token', async () => {
    const { usage } = await ask();
    assert.ok(usage !== undefined && usage.inputTokens > 0);
    await Array.fromAsync((await chat.stream(chatRequest({ stream: true }), upstreamOf())) ?? []);
    const base = '/v1/projects/project-1/locations/us-central1/publishers/google/models/gemini-x';
    assert.deepEqual(
      cloud.calls.map(({ path }) => path),
      [`${base}:generateContent`, `${base}:streamGenerateContent?alt=sse`],
    );
    assert.ok(cloud.calls.every(({ headers }) => headers.authorization === 'Bearer google-token-1'));
    assert.ok(cloud.calls.every(({ headers }) => headers['x-goog-api-key'] === undefined));
  });

  test('express mode has a key and no project', async () => {
    await ask(upstreamOf({ credential: undefined, apiKey: 'express-key', address: `${cloud.origin}/v1` }));
    assert.equal(cloud.calls[0]?.path, '/v1/publishers/google/models/gemini-x:generateContent');
    assert.equal(google.requests.length, 0);
  });

  test('the native format is passed on, and what only the Developer API knows goes to another upstream', async () => {
    const request = (body: string) =>
      ({
        action: 'generateContent',
        body: Buffer.from(body),
        query: '',
        hasCustomFormat: false,
        accept: undefined,
      }) as const;
    const answer = await native.call(request('{"contents":[{"role":"user","parts":[{"text":"Hi"}]}]}'), upstreamOf());
    assert.ok(answer.body.length > 0);
    for (const body of [
      '{"contents":[{"parts":[{"fileData":{"fileUri":"https://generativelanguage.googleapis.com/v1beta/files/x"}}]}]}',
      '{"contents":[],"tools":[{"fileSearch":{}}]}',
    ]) {
      await assert.rejects(native.call(request(body), upstreamOf()), { fault: 'unfit' });
    }
    assert.equal(cloud.calls.length, 1);
  });

  test('Claude’s messages have no model and a version in the body', async () => {
    const model = 'claude-sonnet-4-5@20250929';
    const whole = await ask(upstreamOf({ model }));
    assert.match(JSON.stringify(whole.body), /Good day/);
    assert.deepEqual(whole.usage, { inputTokens: 5, cachedTokens: 0, outputTokens: 2, reasoningTokens: 0 });
    const stream = await chat.stream(chatRequest({ stream: true }), upstreamOf({ model }));
    assert.match(JSON.stringify(await Array.fromAsync(stream)), /Good day/);
    const base =
      '/v1/projects/project-1/locations/us-central1/publishers/anthropic/models/claude-sonnet-4-5%4020250929';
    assert.deepEqual(
      cloud.calls.map(({ path }) => path),
      [`${base}:rawPredict`, `${base}:streamRawPredict`],
    );
    assert.equal(cloud.calls[0]?.body.model, undefined);
  });

  test('older models embed many texts at once, the newest one at a time', async () => {
    const input = { kind: 'texts', texts: ['one', 'two', 'three'] } as const;
    const request = { ...plainEmbedding(), input, dimensions: 4, extra: { input_type: 'query' } };
    const many = await embedding.embed(request, upstreamOf({ model: 'text-embedding-005' }));
    assert.deepEqual(cloud.calls[0]?.body, {
      instances: input.texts.map((content) => ({ content, task_type: 'RETRIEVAL_QUERY' })),
      parameters: { outputDimensionality: 4, autoTruncate: false },
    });
    const each = await embedding.embed(request, upstreamOf({ model: 'gemini-embedding-2' }));
    const single = await embedding.embed(request, upstreamOf({ model: 'gemini-embedding-001' }));
    assert.equal(cloud.calls.length, 1 + 3 + 3);
    assert.deepEqual(each.vectors, many.vectors);
    assert.deepEqual(single.vectors, many.vectors);
    assert.deepEqual([many.usage?.inputTokens, each.usage?.inputTokens], [9, 9]);
  });

  test('fields of a vector that are not taken are refused before the call', () => {
    const check = (fields: object) => () => embedding.check({ ...plainEmbedding(), ...fields }, upstreamOf());
    assert.throws(check({ input: { kind: 'tokens', lists: [[1]] } }), { param: 'input' });
    assert.throws(check({ extra: { input_type: 'odd' } }), { param: 'input_type' });
    assert.throws(check({ extra: { title: 'x' } }), { param: 'title' });
  });

  const error = (status: string, message = 'x', reason = 'x') => ({
    error: { status, message, details: [{ reason }] },
  });
  const REFUSALS = [
    ['a bad argument', 400, error('INVALID_ARGUMENT'), 'client'],
    ['a model that must be allowed', 400, error('FAILED_PRECONDITION'), 'config'],
    ['an unknown model', 404, error('NOT_FOUND'), 'config'],
    ['a project without billing', 403, error('PERMISSION_DENIED', 'x', 'BILLING_DISABLED'), 'account'],
    [
      'a project without billing, in words',
      429,
      error('X', 'This API method requires billing to be enabled.'),
      'account',
    ],
    ['a role that is missing', 403, error('PERMISSION_DENIED'), 'account'],
    ['an object of the caller’s', 403, error('PERMISSION_DENIED', 'cannot read gs://bucket/x'), 'client'],
    ['no capacity', 429, error('RESOURCE_EXHAUSTED'), 'rate'],
    ['a fault of its own', 503, error('UNAVAILABLE', 'billing is down'), 'server'],
  ] as const;
  for (const [name, status, body, fault] of REFUSALS) {
    test(`${name} is ${fault}`, async () => {
      cloud.script({ kind: 'raw', status, body: JSON.stringify(body) });
      await assert.rejects(ask(), { fault });
    });
  }
});

describe('tokens of Google', () => {
  test('a signed assertion is exchanged for a token that all calls share', async () => {
    await Promise.all([1, 2, 3].map(() => ask()));
    assert.equal(google.requests.length, 1);
  });

  test('a machine’s own identity is asked of the metadata server', async () => {
    await ask(upstreamOf(ambient()));
    assert.equal(google.requests[0]?.headers['metadata-flavor'], 'Google');
  });

  test('a file of the environment may hold a service account’s key', async () => {
    writeFileSync(keyFile, JSON.stringify({ ...google.key, token_uri: `${google.origin}/token` }));
    pools = poolsWith({ credentialsFile: keyFile });
    await ask(upstreamOf(ambient()));
    assert.equal(google.requests[0]?.path, '/token');
  });

  test('a file of the environment may hold a workload identity federation', async () => {
    const subjectFile = join(folder, 'subject');
    writeFileSync(subjectFile, google.subjectToken);
    const terms = {
      type: 'external_account',
      audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q',
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      token_url: `${google.origin}/token`,
      credential_source: { file: subjectFile },
    };
    writeFileSync(keyFile, JSON.stringify(terms));
    pools = poolsWith({ credentialsFile: keyFile });
    await Promise.all([ask(upstreamOf(ambient())), ask(upstreamOf(ambient()))]);
    assert.equal(google.requests.length, 1);
    writeFileSync(subjectFile, 'forged');
    pools = poolsWith({ credentialsFile: keyFile });
    await assert.rejects(ask(upstreamOf(ambient())), { fault: 'account', message: /subject token is not taken/ });
  });

  test('an identity of the process goes to no other host than Google’s and those that its environment names', async () => {
    pools = poolsWith({}, []);
    await assert.rejects(ask(upstreamOf(ambient())), { fault: 'config', message: /TOLLGATE_CLOUD_HOSTS/ });
    assert.equal(google.requests.length, 0);
  });

  const KEYS = [
    ['no JSON', 'not-base64-json', /api_key holds no JSON/],
    ['another type of key', base64({ type: 'authorized_user' }), /type authorized_user is not taken/],
    ['a key that is none', base64({ ...new GoogleTokensEmulator().key, private_key: 'x' }), /no token from the key/],
    ['the key of another account', base64(new GoogleTokensEmulator().key), /Invalid JWT Signature/],
  ] as const;
  for (const [name, apiKey, message] of KEYS) {
    test(`${name} is told in words, as a fault of the account`, async () => {
      await assert.rejects(ask(upstreamOf({ apiKey })), { fault: 'account', message, isUncertain: false });
      assert.equal(cloud.calls.length, 0);
    });
  }

  test('a token server that fails or talks nonsense is a fault of its own, asked once for each call', async () => {
    const instead = (status: number, body: string) => ({ kind: 'instead', status, body }) as const;
    google.script(instead(503, ''), instead(200, '<html>'));
    for (const fault of ['server', 'garbled']) {
      await assert.rejects(ask(), { fault, isUncertain: false, message: /^no token from/ });
    }
    assert.equal(google.requests.length, 2);
    await ask();
  });
});

test('the vendor’s own library against the emulator, in express mode', async () => {
  const client = new GoogleGenAI({
    vertexai: true,
    apiKey: 'express-key',
    httpOptions: { baseUrl: cloud.origin, apiVersion: 'v1' },
  });
  const answer = await client.models.generateContent({ model: 'gemini-x', contents: 'Hello' });
  assert.ok(answer.text);
});
