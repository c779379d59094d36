import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type JsonObject, parseJson } from '../../../json.ts';
import type { ChatRequest } from '../../../schemas/index.ts';
import { ScriptedServer } from '../../emulator/scripted-server.ts';
import { type Upstream, UpstreamPools } from '../../kit/http.ts';
import { toCall } from './request.ts';
import { wire } from './wire.ts';

const MESSAGES = '[{"role":"user","content":"Hi"}]';

/** A request of which the adaptor reads only the body, the model and whether it streams. */
function requestOf(text: string): ChatRequest {
  const body = parseJson(text).exact() as JsonObject;
  return {
    model: 'public',
    stream: body.stream === true,
    includeUsage: false,
    messages: [],
    tools: [],
    maxOutputTokens: undefined,
    n: 1,
    body,
  };
}

function upstreamAt(address: string, apiKey = 'sk-1'): Upstream {
  const { signal } = new AbortController();
  return { model: 'wire-model', address, apiKey, timeoutMs: 1000, signal, pools: new UpstreamPools() };
}

function wireOf(text: string, address = 'https://api.openai.com/v1', dialect?: string): string {
  const { body } = toCall(requestOf(text), { ...upstreamAt(address), dialect });
  assert.ok(body !== undefined && 'json' in body);
  return JSON.stringify(body.json);
}

const AUTHOR = 'https://api.openai.com/v1';
const MISTRAL = 'https://api.mistral.ai/v1';
const DEEPSEEK = 'https://api.deepseek.com';
const GROQ = 'https://api.groq.com/openai/v1';

const WIRES: readonly { name: string; address: string; sent: string; wire: string }[] = [
  {
    name: 'only the model of a whole answer is replaced, in its place',
    address: AUTHOR,
    sent: `{"messages":${MESSAGES},"model":"public","temperature":0.5}`,
    wire: `{"messages":${MESSAGES},"model":"wire-model","temperature":0.5}`,
  },
  {
    name: 'numbers, unknown fields and awkward keys are sent as they were written',
    address: AUTHOR,
    sent: `{"model":"public","messages":${MESSAGES},"seed":9007199254740993,"top_p":1.0,"x":{"__proto__":1e400},"__proto__":2}`,
    wire: `{"model":"wire-model","messages":${MESSAGES},"seed":9007199254740993,"top_p":1.0,"x":{"__proto__":1e400},"__proto__":2}`,
  },
  {
    name: 'a stream is made to tell its usage',
    address: AUTHOR,
    sent: `{"model":"public","messages":${MESSAGES},"stream":true}`,
    wire: `{"model":"wire-model","messages":${MESSAGES},"stream":true,"stream_options":{"include_usage":true}}`,
  },
  {
    name: 'the other stream options of the caller are kept',
    address: AUTHOR,
    sent: `{"model":"public","stream":true,"stream_options":{"include_usage":false,"include_obfuscation":false},"messages":${MESSAGES}}`,
    wire: `{"model":"wire-model","stream":true,"stream_options":{"include_usage":true,"include_obfuscation":false},"messages":${MESSAGES}}`,
  },
  {
    name: 'stream options that are null count as absent',
    address: AUTHOR,
    sent: `{"model":"public","stream":true,"stream_options":null,"messages":${MESSAGES}}`,
    wire: `{"model":"wire-model","stream":true,"stream_options":{"include_usage":true},"messages":${MESSAGES}}`,
  },
  {
    name: 'a host that is not known is taken at its word',
    address: 'http://localhost:8000/v1',
    sent: '{"model":"public","max_completion_tokens":5,"seed":1,"messages":[{"role":"developer","content":"Hi"}]}',
    wire: '{"model":"wire-model","max_completion_tokens":5,"seed":1,"messages":[{"role":"developer","content":"Hi"}]}',
  },
  {
    name: 'a server that only knows the old names is given them, with the numbers as written',
    address: MISTRAL,
    sent: `{"model":"public","max_completion_tokens":5.0,"seed":9007199254740993,"messages":${MESSAGES}}`,
    wire: `{"model":"wire-model","messages":${MESSAGES},"max_tokens":5.0,"random_seed":9007199254740993}`,
  },
  {
    name: 'a server that tells its usage unasked is not asked',
    address: MISTRAL,
    sent: `{"model":"public","stream":true,"stream_options":{"include_usage":true},"messages":${MESSAGES}}`,
    wire: `{"model":"wire-model","stream":true,"messages":${MESSAGES}}`,
  },
  {
    name: 'the new limit wins over the old one',
    address: DEEPSEEK,
    sent: `{"model":"public","max_tokens":9,"max_completion_tokens":5,"messages":${MESSAGES}}`,
    wire: `{"model":"wire-model","max_tokens":5,"messages":${MESSAGES}}`,
  },
  {
    name: 'a new limit of null leaves the old one',
    address: DEEPSEEK,
    sent: `{"model":"public","max_tokens":9,"max_completion_tokens":null,"messages":${MESSAGES}}`,
    wire: `{"model":"wire-model","max_tokens":9,"messages":${MESSAGES}}`,
  },
  {
    name: 'a developer speaks as the system where that role is not known',
    address: GROQ,
    sent: '{"model":"public","messages":[{"role":"developer","content":"Be brief."},{"role":"user","content":"Hi"}]}',
    wire: '{"model":"wire-model","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Hi"}]}',
  },
];

for (const { name, address, sent, wire } of WIRES) {
  test(`on the wire, ${name}`, () => assert.equal(wireOf(sent, address), wire));
}

test('a host whose name only ends like a known one is not taken for it', () => {
  const sent = `{"model":"public","messages":${MESSAGES},"seed":1}`;
  assert.match(wireOf(sent, 'https://notmistral.ai/v1'), /"seed":1/);
});

test('a dialect of the configuration counts, and the host does where there is none', () => {
  const sent = `{"model":"public","messages":${MESSAGES},"seed":1}`;
  assert.match(wireOf(sent, 'http://10.0.0.7/v1', 'mistral'), /"random_seed":1/);
  assert.match(wireOf(sent, MISTRAL), /"random_seed":1/);
  assert.match(wireOf(sent, MISTRAL, 'openai'), /"seed":1/);
  assert.match(wireOf(sent, MISTRAL, 'groq'), /"seed":1/);
});

test('the key is sent where one is configured, and no header is where none is', async () => {
  const server = new ScriptedServer(async () => ({ status: 200, body: '{}' }));
  await server.start();
  const call = toCall(requestOf(`{"model":"public","messages":${MESSAGES}}`), upstreamAt(server.url));
  for (const apiKey of ['sk-1', '']) {
    const upstream = upstreamAt(server.url, apiKey);
    await wire.json(upstream, call);
    await upstream.pools.close();
  }
  await server.stop();
  const sent = server.requests.map(({ method, path, headers }) => [method, path, headers.authorization]);
  assert.deepEqual(sent, [
    ['POST', '/chat/completions', 'Bearer sk-1'],
    ['POST', '/chat/completions', undefined],
  ]);
});
