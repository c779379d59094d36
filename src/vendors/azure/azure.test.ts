import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { AzureOpenAI, OpenAI } from 'openai';
import { toneAs } from '../../../test/support/media-samples.ts';
import { plainEmbedding, plainImage, plainSound, plainTranscription } from '../../../test/support/plain-requests.ts';
import { NO_CLOUD } from '../../cloud-settings.ts';
import { chatSchema, toChatRequest } from '../../schemas/index.ts';
import { Secret } from '../../settings.ts';
import { inMemoryMedia, type Upstream, UpstreamPools } from '../index.ts';
import { EntraEmulator } from './emulator/entra.ts';
import { AzureEmulator } from './emulator.ts';
import { work as azure } from './work.ts';

const KEY = 'key-of-the-resource';
const TENANT = 'tenant-1';
const CLIENT = 'client-1';
const SECRET = 'secret-of-the-application';
const DEPLOYMENTS = ['talk', 'vectors', 'gpt-image-2', 'gpt-4o-mini-tts', 'whisper-1'];

const folder = mkdtempSync(join(tmpdir(), 'azure-'));
const tokenFile = join(folder, 'token');
let assertion = 'vouched-1';
const entra = new EntraEmulator({
  tenantId: TENANT,
  clientId: CLIENT,
  clientSecret: SECRET,
  assertion: () => assertion,
  identityHeader: 'header-of-the-app',
});
let azureServer: AzureEmulator;
let pools: UpstreamPools;

before(() => entra.start());
after(async () => {
  await entra.stop();
  rmSync(folder, { recursive: true });
});
beforeEach(async () => {
  entra.tokens.clear();
  entra.requests.length = 0;
  azureServer = new AzureEmulator({ apiKey: KEY, tokens: entra.tokens, deployments: DEPLOYMENTS });
  await azureServer.start();
  pools = cloudPools();
});
afterEach(async () => {
  await pools.close();
  await azureServer.stop();
});

function cloudPools(hosts = [new URL(azureServer.origin).host]): UpstreamPools {
  const workload = { tenantId: TENANT, clientId: CLIENT, tokenFile, authority: entra.origin };
  const app = { identityEndpoint: `${entra.origin}/msi/token`, identityHeader: new Secret('header-of-the-app') };
  return new UpstreamPools({ ...NO_CLOUD, hosts, entra: { ...workload, ...app } });
}

function upstreamOf(fields: Partial<Upstream> = {}): Upstream {
  const { signal } = new AbortController();
  return { model: 'talk', address: azureServer.url, apiKey: KEY, timeoutMs: 10_000, signal, pools, ...fields };
}

function chatRequest(fields: object = {}) {
  const body = { model: 'public', messages: [{ role: 'user', content: 'Hello' }], ...fields };
  return toChatRequest(chatSchema.parse(body), body);
}

function ask(upstream = upstreamOf()) {
  return azure.chat?.complete(chatRequest(), upstream) ?? assert.fail('no chat');
}

function clientSecret(settings: Record<string, string> = {}): Partial<Upstream> {
  const ids = { tenant_id: TENANT, client_id: CLIENT, authority: entra.origin };
  return { apiKey: SECRET, credential: { kind: 'client_secret', ...ids, ...settings } };
}

async function work(kind: string, upstream: Upstream): Promise<unknown> {
  const wave = await toneAs('wav', { seconds: 1, sampleRate: 16_000 });
  const audio = { ...inMemoryMedia(wave, 'audio/wav'), extension: 'wav', seconds: 1 };
  const order = { id: 'o', count: 1, startWithinMs: 60_000 };
  switch (kind) {
    case 'chat/completions':
      return ask({ ...upstream, model: 'talk' });
    case 'embeddings':
      return azure.embedding?.embed(plainEmbedding(), { ...upstream, model: 'vectors' });
    case 'images/generations':
      return azure.image?.submit(plainImage({ prompt: 'A gate' }), order, { ...upstream, model: 'gpt-image-2' });
    case 'audio/speech': {
      const speech = await azure.speech?.speak(plainSound({ input: 'Hi' }), { ...upstream, model: 'gpt-4o-mini-tts' });
      return Array.fromAsync(speech?.pieces ?? []);
    }
    default:
      return azure.transcription?.submit(plainTranscription(), audio, { ...upstream, model: 'whisper-1' });
  }
}

const KINDS = {
  'chat/completions': 'talk',
  embeddings: 'vectors',
  'images/generations': 'gpt-image-2',
  'audio/speech': 'gpt-4o-mini-tts',
  'audio/transcriptions': 'whisper-1',
};

describe('one resource', () => {
  for (const [path, deployment] of Object.entries(KINDS)) {
    test(`${path} goes to the path of v1 with the key in its own header`, async () => {
      await work(path, upstreamOf());
      const [call] = azureServer.calls;
      assert.equal(call?.path, `/openai/v1/${path}`);
      assert.equal(call?.headers['api-key'], KEY);
      assert.equal(call?.headers.authorization, undefined);
    });

    test(`${path} of a dated version has the deployment in its path`, async () => {
      await work(path, upstreamOf({ address: `${azureServer.origin}/openai`, dialect: '2024-10-21' }));
      assert.equal(azureServer.calls[0]?.path, `/openai/deployments/${deployment}/${path}?api-version=2024-10-21`);
    });
  }

  test('the credential is checked by a list of models, in both forms', async () => {
    await azure.check?.run(upstreamOf());
    await azure.check?.run(upstreamOf({ address: `${azureServer.origin}/openai`, dialect: '2024-10-21' }));
    await assert.rejects(async () => azure.check?.run(upstreamOf({ apiKey: 'wrong' })), { fault: 'account' });
  });

  test('a model is known by what is deployed and not by its name: the author’s fields are refused before the call', () => {
    const check = (fields: object, model: string) => () => azure.image?.check(plainImage(fields), model);
    assert.throws(check({ outputFormat: 'webp' }, 'pictures'), { param: 'output_format' });
    assert.throws(check({ seed: 7 }, 'pictures'), { param: 'seed' });
    assert.throws(check({ size: '1536x864' }, 'pictures'), { param: 'size' });
    assert.doesNotThrow(check({ size: '1536x864', outputFormat: 'jpeg' }, 'gpt-image-2'));
    const say = (fields: object, model: string) => () => azure.speech?.check(plainSound(fields), model);
    assert.throws(say({ input: 'x', seed: 7 }, 'voice'), { param: 'seed' });
    assert.throws(say({ input: 'x', prompt: 'slow' }, 'tts-hd'), { param: 'prompt' });
  });

  test('frames about the content filter are no part of the answer', async () => {
    const filtered = { hate: { filtered: false, severity: 'safe' } };
    const choice = (fields: object) => ({ index: 0, ...fields, content_filter_results: filtered });
    const frames = [
      { id: '', object: '', created: 0, model: '', choices: [], prompt_filter_results: [{ prompt_index: 0 }] },
      { id: 'x', created: 1, choices: [choice({ delta: { content: 'Hel' }, finish_reason: null })] },
      { id: 'x', created: 1, choices: [choice({ delta: { content: 'lo' }, finish_reason: null })] },
      { id: 'x', created: 1, choices: [choice({ delta: {}, finish_reason: 'stop' })] },
      { id: '', created: 0, choices: [choice({ finish_reason: null, content_filter_offsets: { check_offset: 4 } })] },
    ];
    azureServer.script({ kind: 'frames', frames });
    const stream = await azure.chat?.stream(chatRequest({ stream: true }), upstreamOf());
    const text = JSON.stringify(await Array.fromAsync(stream ?? []));
    assert.match(text, /Hel.*lo.*stop/);
    assert.doesNotMatch(text, /filter/);
  });

  const REFUSALS = [
    [
      'a filtered prompt',
      400,
      { code: 'content_filter', innererror: { code: 'ResponsibleAIPolicyViolation' } },
      'policy',
    ],
    ['a filtered picture', 400, { code: 'contentFilter' }, 'policy'],
    ['a filtered picture inside a success', 200, { code: 'contentFilter' }, 'policy'],
    ['a bad request', 400, { code: 'invalid_request_error' }, 'client'],
    ['a deployment that is not there', 404, { code: 'DeploymentNotFound' }, 'config'],
    ['a throttle', 429, { code: '429', message: 'Requests have been limited.' }, 'rate'],
    [
      'a spending limit',
      429,
      { code: '429', message: 'The spending limit of this subscription is reached.' },
      'account',
    ],
    ['a closed subscription', 400, { message: 'Subscription x is disabled.' }, 'account'],
    ['abuse', 403, { code: '403', message: 'Your resource has been temporarily blocked.' }, 'account'],
    ['no quota left', 429, { code: 'insufficient_quota' }, 'account'],
    ['words about money while it is down', 503, { message: 'spending limit' }, 'server'],
  ] as const;
  for (const [name, status, error, fault] of REFUSALS) {
    test(`${name} is ${fault}`, async () => {
      azureServer.script({ kind: 'raw', status, body: JSON.stringify({ error }) });
      await assert.rejects(ask(), { fault });
    });
  }
});

describe('tokens of Entra ID', () => {
  test('an application’s secret is exchanged for a token that all calls share', async () => {
    await Promise.all([1, 2, 3].map(() => ask(upstreamOf(clientSecret()))));
    await work('embeddings', upstreamOf(clientSecret()));
    assert.equal(entra.requests.length, 1);
    const form = Object.fromEntries(new URLSearchParams(entra.requests[0]?.bytes.toString()));
    assert.deepEqual(form, {
      grant_type: 'client_credentials',
      client_id: CLIENT,
      client_secret: SECRET,
      scope: 'https://ai.azure.com/.default',
    });
    assert.ok(azureServer.calls.every(({ headers }) => headers.authorization === 'Bearer entra-token-1'));
    assert.ok(azureServer.calls.every(({ headers }) => headers['api-key'] === undefined));
  });

  test('the file of a workload identity is read again for each token, and replaced with it', async () => {
    const upstream = () => upstreamOf({ apiKey: '', credential: { kind: 'workload_identity' } });
    writeFileSync(tokenFile, 'vouched-1\n');
    await ask(upstream());
    [assertion, pools] = ['vouched-2', cloudPools()];
    await assert.rejects(ask(upstream()), { fault: 'account', message: /no token from .*AADSTS7000215/ });
    writeFileSync(tokenFile, 'vouched-2');
    await ask(upstream());
    rmSync(tokenFile);
    pools = cloudPools();
    await assert.rejects(ask(upstream()), { fault: 'account', message: /AZURE_FEDERATED_TOKEN_FILE.*ENOENT/ });
    assertion = 'vouched-1';
  });

  test('a web app asks its own endpoint for its managed identity', async () => {
    await ask(upstreamOf({ apiKey: '', credential: { kind: 'managed_identity', client_id: CLIENT } }));
    const { path, headers } = entra.requests[0] ?? assert.fail('no request');
    assert.equal(path, '/msi/token?api-version=2019-08-01&resource=https%3A%2F%2Fai.azure.com&client_id=client-1');
    assert.equal(headers['x-identity-header'], 'header-of-the-app');
  });

  test('an identity of the process goes to no other host than Azure’s and those that its environment names', async () => {
    pools = cloudPools([]);
    for (const kind of ['workload_identity', 'managed_identity']) {
      const asking = ask(upstreamOf({ apiKey: '', credential: { kind } }));
      await assert.rejects(asking, { fault: 'config', message: /no host of this cloud; TOLLGATE_CLOUD_HOSTS/ });
    }
    assert.equal(entra.requests.length, 0);
  });

  test('an identity of the process is used for models alone', async () => {
    const credential = { kind: 'managed_identity', scope: 'https://management.azure.com/.default' };
    await assert.rejects(ask(upstreamOf({ apiKey: '', credential })), { fault: 'config' });
    assert.equal(entra.requests.length, 0);
  });

  test('a token that was fetched just now and is refused is a fault of the account, after one attempt more', async () => {
    await ask(upstreamOf(clientSecret()));
    entra.tokens.clear();
    await assert.rejects(ask(upstreamOf(clientSecret())), { fault: 'account', status: 401 });
    assert.equal(azureServer.calls.length, 3);
    assert.equal(entra.requests.length, 1);
  });

  test('a token that was revoked is replaced, and the caller does not notice', async (context) => {
    await ask(upstreamOf(clientSecret()));
    entra.tokens.clear();
    const later = performance.now() + 60_000;
    context.mock.method(performance, 'now', () => later);
    await ask(upstreamOf(clientSecret()));
    assert.equal(entra.requests.length, 2);
    assert.equal(azureServer.calls.at(-1)?.headers.authorization, `Bearer ${[...entra.tokens].at(-1)}`);
  });

  const REFUSED = [
    ['a wrong secret', { apiKey: 'wrong' }, /AADSTS7000215/],
    ['an unknown application', { client_id: 'other' }, /AADSTS700016/],
    ['a scope that is not there', { scope: 'https://elsewhere.test/.default' }, /AADSTS70011/],
    ['an unknown tenant', { tenant_id: 'nowhere' }, /AADSTS90002/],
  ] as const;
  for (const [name, settings, message] of REFUSED) {
    test(`${name} is told in words, as a fault of the account`, async () => {
      const { apiKey = SECRET, ...others } = settings as Record<string, string>;
      const asking = ask(upstreamOf({ ...clientSecret(others), apiKey }));
      await assert.rejects(asking, { fault: 'account', message, isUncertain: false });
      assert.equal(azureServer.calls.length, 0);
    });
  }

  test('a sign-in server that fails, throttles or talks nonsense is a fault of its own, and the work was not sent', async () => {
    const instead = (status: number, body: string) => ({ kind: 'instead', status, body }) as const;
    entra.script(instead(503, ''), instead(429, ''), instead(200, '<html>'), instead(200, '{"access_token":"x"}'));
    for (const fault of ['server', 'rate', 'garbled', 'garbled']) {
      await assert.rejects(ask(upstreamOf(clientSecret())), { fault, isUncertain: false, message: /^no token from/ });
    }
    entra.script({ kind: 'fault', fault: 'reset' });
    await assert.rejects(ask(upstreamOf(clientSecret())), { fault: 'connection', isUncertain: false });
    assert.equal(azureServer.calls.length, 0);
    await ask(upstreamOf(clientSecret()));
  });
});

describe('the vendor’s own libraries against the emulator', () => {
  test('AzureOpenAI with a key and a deployment', async () => {
    const client = new AzureOpenAI({
      endpoint: azureServer.origin,
      apiKey: KEY,
      apiVersion: '2024-10-21',
      maxRetries: 0,
    });
    const answer = await client.chat.completions.create({ model: 'talk', messages: [{ role: 'user', content: 'Hi' }] });
    assert.ok(answer.choices[0]?.message.content);
    await assert.rejects(client.embeddings.create({ model: 'absent', input: 'x' }), { status: 404 });
  });

  test('AzureOpenAI with a token, and the plain client at v1', async () => {
    await ask(upstreamOf(clientSecret()));
    const [token = ''] = entra.tokens;
    const client = new AzureOpenAI({
      endpoint: azureServer.origin,
      azureADTokenProvider: () => Promise.resolve(token),
      apiVersion: '2024-10-21',
      maxRetries: 0,
    });
    await client.embeddings.create({ model: 'vectors', input: 'x' });
    const plain = new OpenAI({ baseURL: azureServer.url, apiKey: token, maxRetries: 0 });
    await plain.chat.completions.create({ model: 'talk', messages: [{ role: 'user', content: 'Hi' }] });
  });
});
