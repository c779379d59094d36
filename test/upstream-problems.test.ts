import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { after, afterEach, before, test } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { UpstreamError } from '../src/errors.ts';
import { upstreamProblem } from '../src/routing/upstream-problem.ts';
import { BedrockEmulator } from '../src/vendors/bedrock/emulator.ts';
import { ElevenLabsEmulator } from '../src/vendors/elevenlabs/emulator.ts';
import { OpenAiEmulator } from '../src/vendors/openai/emulator.ts';
import { selfSigned } from './support/certificate.ts';
import { type Fields, imageModel } from './support/documents.ts';
import { type Answer, Gateway } from './support/gateway.ts';

const KEY = 'the-right-key-of-the-upstream';
const openai = new OpenAiEmulator({ apiKey: KEY });
const elevenlabs = new ElevenLabsEmulator({ apiKey: KEY });
const bedrock = new BedrockEmulator({ apiKey: KEY });
const emulators = [openai, elevenlabs, bedrock];

let gateway: Gateway;
before(async () => {
  for (const emulator of emulators) await emulator.start();
  gateway = await Gateway.start();
});
after(async () => {
  await gateway.stop();
  for (const emulator of emulators) await emulator.stop();
});
afterEach(() => gateway.assertBooksBalance());

const upstreams = {
  openai: () => ({ id: 'openai', vendor: 'openai', base_url: openai.url, api_key: KEY }),
  elevenlabs: () => ({ id: 'elevenlabs', vendor: 'elevenlabs', base_url: elevenlabs.url, api_key: KEY }),
  bedrock: () => ({ id: 'bedrock', vendor: 'bedrock', base_url: bedrock.url, api_key: KEY }),
};
const PER_TOKEN = { mode: 'per_token', credits: { input_per_k: 1, output_per_k: 1 } };
const SOLD: Readonly<Record<string, Fields>> = {
  chat: { modality: 'chat', endpoints: ['chat'], pricing: PER_TOKEN },
  embedding: { modality: 'chat', endpoints: ['embeddings'], pricing: PER_TOKEN },
  speech: { modality: 'audio', endpoints: ['audio_speech'], pricing: { mode: 'per_k_char', credits: { base: 1 } } },
  transcription: {
    modality: 'audio',
    endpoints: ['transcriptions'],
    pricing: { mode: 'per_audio_second', credits: { per_second: 1 } },
  },
  image: { accepts: { sizes: ['1536x1024', '1024x1024'] } },
};

function sold(upstream: string, kind: string, wireName: string, fields: Fields = {}): Fields {
  const routes = [{ upstream, model: wireName }];
  return { ...imageModel(`house/${kind}`, [], SOLD[kind]), routes, ...fields };
}

async function ask(upstream: Fields, models: readonly Fields[], query = ''): Promise<Answer> {
  await gateway.putConfig({ upstreams: [upstream], models });
  return gateway.admin('POST', `/upstreams/${String(upstream.id)}/test${query}`);
}

const told = ({ json }: Answer) => [json.ok, json.problem];

test('R-524: an upstream is asked for the least of each kind of work that it is configured for', async () => {
  const models = [
    sold('openai', 'chat', 'gpt-5'),
    sold('openai', 'embedding', 'text-embedding-3-small'),
    sold('openai', 'speech', 'gpt-4o-mini-tts'),
    sold('openai', 'transcription', 'whisper-1'),
    sold('openai', 'image', 'gpt-image-2'),
  ];
  const earlier = openai.requests.length;
  const { json, text } = await ask(upstreams.openai(), models);
  const calls = json.calls.map(({ kind, ok, what }: Fields) => [kind, ok, what]);
  assert.deepEqual(
    calls,
    [
      ['chat', true, 'a chat call of one token to gpt-5'],
      ['embedding', true, 'the vector of one word by text-embedding-3-small'],
      ['speech', true, 'one spoken word by gpt-4o-mini-tts'],
      ['transcription', true, 'a transcript of one second by whisper-1'],
      ['image', null, 'one picture by gpt-image-2'],
    ],
    text,
  );
  assert.match(json.calls[4].message, /^Not tried, since it costs more/);
  assert.equal(json.ok, true);
  const paths = openai.requests.slice(earlier).map(({ path }) => path);
  const parts = ['audio/speech', 'audio/transcriptions', 'chat/completions', 'embeddings'];
  assert.deepEqual(
    paths.sort(),
    parts.map((part) => `/v1/${part}`),
  );
});

test('R-524: with media it makes the smallest picture as well', async () => {
  const earlier = openai.submissions.length;
  const { json, text } = await ask(upstreams.openai(), [sold('openai', 'image', 'gpt-image-2')], '?media=true');
  assert.deepEqual([json.ok, json.calls[0].kind, json.calls[0].ok], [true, 'image', true], text);
  assert.deepEqual(
    openai.submissions.slice(earlier).map(({ fields }) => [fields.size, fields.n ?? 1]),
    [['1024x1024', 1]],
  );
});

test('R-524: of several models of a kind the one with the lowest rate is asked', async () => {
  const dear = { ...PER_TOKEN, credits: { input_per_k: 5, output_per_k: 5 } };
  const models = [sold('openai', 'chat', 'dear', { id: 'house/dear', pricing: dear }), sold('openai', 'chat', 'cheap')];
  assert.equal((await ask(upstreams.openai(), models)).json.what, 'a chat call of one token to cheap');
});

test('R-524: what a model cannot be asked without more is skipped with its reason, and the credential is tested', async () => {
  const { json, text } = await ask(upstreams.elevenlabs(), [sold('elevenlabs', 'speech', 'eleven_multilingual_v2')]);
  assert.deepEqual([json.ok, json.calls[0].kind, json.calls[1].ok], [true, 'credential', null], text);
  assert.match(json.calls[1].message, /^Not tried: .*voice/);
});

test('R-524: one kind that fails makes the test fail, and the others are told all the same', async () => {
  openai.script({ kind: 'raw', status: 404, body: MODEL_NOT_FOUND });
  const { json, text } = await ask(upstreams.openai(), [
    sold('openai', 'chat', 'gpt-5'),
    sold('openai', 'embedding', 'text-embedding-3-small'),
  ]);
  assert.equal(json.ok, false, text);
  assert.deepEqual(json.calls.map(({ ok }: Fields) => ok).sort(), [false, true]);
  assert.equal(json.problem, 'unknown_model');
});

const MODEL_NOT_FOUND = '{"error": {"code": "model_not_found", "message": "The model `x` does not exist"}}';

for (const [problem, status, body, message] of [
  [
    'no_money',
    429,
    '{"error": {"code": "insufficient_quota", "message": "You exceeded your current quota"}}',
    /out of money or quota/,
  ],
  ['no_money', 402, '{"error": {"message": "Payment required"}}', /out of money or quota/],
  ['unknown_model', 404, MODEL_NOT_FOUND, /does not know this model.*tollgate upstream models/],
  ['bad_key', 403, '{"error": {"message": "this project has no access"}}', /refuses the credential.*api_key/],
  ['clock', 401, '{"error": {"message": "JWT was used too early: check the system clock"}}', /clocks.*NTP/],
  [
    'busy',
    429,
    '{"error": {"code": "rate_limit_exceeded", "message": "Slow down"}}',
    /refuses requests for their number/,
  ],
  ['refused', 400, '{"error": {"message": "max_tokens is too small"}}', /refuses this request/],
  ['broken', 503, '{}', /fails, or answers what cannot be understood/],
] as const) {
  test(`R-524: an upstream that refuses with ${status} and ${body.slice(0, 60)} has the problem ${problem}`, async () => {
    openai.script({ kind: 'raw', status, body });
    const answer = await ask(upstreams.openai(), [sold('openai', 'chat', 'gpt-5')]);
    assert.deepEqual(told(answer), [false, problem], answer.text);
    assert.match(answer.json.message, message);
    assert.equal(answer.json.status, status);
  });
}

test('R-524: a wrong key is told as such for every kind', async () => {
  const answer = await ask({ ...upstreams.openai(), api_key: 'a-wrong-key-0123456789' }, [
    sold('openai', 'chat', 'gpt-5'),
    sold('openai', 'speech', 'gpt-4o-mini-tts'),
  ]);
  assert.deepEqual(
    answer.json.calls.map(({ problem }: Fields) => problem),
    ['bad_key', 'bad_key'],
    answer.text,
  );
  assert.doesNotMatch(answer.text, /a-wrong-key/);
});

test('R-524: a signature that is refused for its time is a matter of the clock', async () => {
  const refusal = '{"message": "Signature expired: 20261118T080000Z is now earlier than 20261118T090000Z"}';
  bedrock.script({
    kind: 'instead',
    status: 403,
    headers: { 'content-type': 'application/json', 'x-amzn-errortype': 'InvalidSignatureException' },
    body: refusal,
  });
  const answer = await ask(upstreams.bedrock(), [sold('bedrock', 'chat', 'anthropic.claude')]);
  assert.deepEqual(told(answer), [false, 'clock'], answer.text);
});

for (const [where, base_url] of [
  ['a closed port', 'http://127.0.0.1:1/v1'],
  ['a name that no server has', 'http://no-such-host.invalid/v1'],
] as const) {
  test(`R-524: an upstream at ${where} is unreachable`, async () => {
    const answer = await ask({ ...upstreams.openai(), base_url }, [sold('openai', 'chat', 'gpt-5')]);
    assert.deepEqual(told(answer), [false, 'unreachable'], answer.text);
    assert.match(answer.json.message, /base_url, DNS/);
  });
}

async function secureServer(certificate: { key: string; cert: string }): Promise<Server> {
  const server = createServer(certificate, (_request, response) => response.end('{}'));
  await once(server.listen(0, '127.0.0.1').unref(), 'listening');
  return server;
}

const secureAddress = (server: Server) => `https://localhost:${(server.address() as AddressInfo).port}/v1`;

test('R-524: a certificate that this machine does not trust is a matter of TLS', async () => {
  const server = await secureServer(selfSigned('localhost'));
  const answer = await ask({ ...upstreams.openai(), base_url: secureAddress(server) }, [
    sold('openai', 'chat', 'gpt-5'),
  ]);
  server.close();
  assert.deepEqual(told(answer), [false, 'tls'], answer.text);
  assert.match(answer.json.message, /NODE_EXTRA_CA_CERTS/);
});

test('R-524: what speaks no TLS at an address with https is a matter of TLS', async () => {
  const base_url = openai.url.replace('http:', 'https:');
  assert.deepEqual(told(await ask({ ...upstreams.openai(), base_url }, [])), [false, 'tls']);
});

test('R-524: a trusted certificate that is not valid yet is a matter of the clock', async () => {
  const certificate = selfSigned('localhost', '480101000000Z');
  const trusted = getCACertificates('default');
  setDefaultCACertificates([...trusted, certificate.cert]);
  const server = await secureServer(certificate);
  const answer = await ask({ ...upstreams.openai(), base_url: secureAddress(server) }, [
    sold('openai', 'chat', 'gpt-5'),
  ]);
  server.close();
  setDefaultCACertificates(trusted);
  assert.deepEqual(told(answer), [false, 'clock'], answer.text);
});

test('R-524: a connection that is not made in time is unreachable, an answer that does not come is a timeout', () => {
  const late = (code: string) => new UpstreamError('timeout', 'x', { cause: Object.assign(new Error('x'), { code }) });
  assert.equal(upstreamProblem(late('UND_ERR_CONNECT_TIMEOUT')), 'unreachable');
  assert.equal(upstreamProblem(late('UND_ERR_HEADERS_TIMEOUT')), 'timeout');
});
