import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, beforeEach, describe, test } from 'node:test';
import { plainEmbedding } from '../../../test/support/plain-requests.ts';
import { NO_CLOUD } from '../../cloud-settings.ts';
import { chatSchema, toChatRequest } from '../../schemas/index.ts';
import { type Upstream, UpstreamPools } from '../index.ts';
import { BedrockEmulator, messageOf, refusal, streamAnswer } from './emulator.ts';
import { work } from './work.ts';

const { chat, embedding } = work;
assert.ok(chat && embedding);

const KEY = 'bearer-key';
const ACCESS_KEY = { id: 'AKIDEXAMPLE', secret: 'wJalrXUtnFEMI' };
const MODEL = 'us.amazon.nova-lite-v1:0';
const folder = mkdtempSync(join(tmpdir(), 'bedrock-'));
let emulator: BedrockEmulator;
let pools: UpstreamPools;

beforeEach(async () => {
  emulator = new BedrockEmulator({ apiKey: KEY, accessKey: ACCESS_KEY });
  await emulator.start();
  pools = new UpstreamPools({ ...NO_CLOUD, hosts: [new URL(emulator.origin).host] });
});
afterEach(async () => {
  await pools.close();
  await emulator.stop();
});
after(() => rmSync(folder, { recursive: true }));

function upstreamOf(fields: Partial<Upstream> = {}): Upstream {
  const { signal } = new AbortController();
  return { model: MODEL, address: emulator.url, apiKey: KEY, timeoutMs: 10_000, signal, pools, ...fields };
}

function signing(secret = ACCESS_KEY.secret): Partial<Upstream> {
  return { apiKey: secret, credential: { kind: 'access_key', access_key_id: ACCESS_KEY.id, region: 'us-east-1' } };
}

function chatRequest(fields: object = {}) {
  const body = { model: 'public', messages: [{ role: 'user', content: 'Hello' }], ...fields };
  return toChatRequest(chatSchema.parse(body), body);
}

function ask(fields: object = {}, upstream = upstreamOf()) {
  return chat?.complete(chatRequest(fields), upstream) ?? assert.fail();
}

async function stream(upstream = upstreamOf()) {
  return Array.fromAsync((await chat?.stream(chatRequest({ stream: true }), upstream)) ?? []);
}

const USAGE = { inputTokens: 6, cachedTokens: 2, outputTokens: 2, reasoningTokens: 0 };

describe('Converse', () => {
  test('a message with pictures, tools and results is translated whole', async () => {
    const tools = [{ type: 'function', function: { name: 'look', parameters: { properties: {} } } }];
    const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
    const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{"at":1}' } };
    const messages = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', text: 'Look' }, picture] },
      { role: 'assistant', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c1', content: 'a gate' },
    ];
    const fields = { messages, tools, tool_choice: 'required', max_tokens: 9, temperature: 0.5, stop: 'x' };
    const { usage } = await ask(fields);
    assert.deepEqual(usage, USAGE);
    const { path, bytes } = emulator.requests[0] ?? assert.fail();
    assert.equal(path, '/model/us.amazon.nova-lite-v1%3A0/converse');
    assert.deepEqual(JSON.parse(bytes.toString()), {
      messages: [
        { role: 'user', content: [{ text: 'Look' }, { image: { format: 'png', source: { bytes: 'AAAA' } } }] },
        { role: 'assistant', content: [{ toolUse: { toolUseId: 'c1', name: 'look', input: { at: 1 } } }] },
        { role: 'user', content: [{ toolResult: { toolUseId: 'c1', content: [{ text: 'a gate' }] } }] },
      ],
      system: [{ text: 'Be brief.' }],
      inferenceConfig: { maxTokens: 9, temperature: 0.5, stopSequences: ['x'] },
      toolConfig: {
        tools: [{ toolSpec: { name: 'look', inputSchema: { json: { type: 'object', properties: {} } } } }],
        toolChoice: { any: {} },
      },
    });
  });

  test('the binary stream becomes chunks, and usage comes behind the end', async () => {
    const chunks = await stream();
    const text = JSON.stringify(chunks);
    assert.match(text, /Good .*day\..*"finish_reason":"stop"/);
    assert.deepEqual(chunks.at(-1)?.usage, USAGE);
  });

  test('a tool call of a stream has its pieces, and {} where it has none', async () => {
    const start = (at: number) => ({
      contentBlockIndex: at,
      start: { toolUse: { toolUseId: `t${at}`, name: 'look' } },
    });
    const input = { contentBlockIndex: 0, delta: { toolUse: { input: '{"at":1}' } } };
    const messages = [
      messageOf('event', 'messageStart', { role: 'assistant' }),
      messageOf('event', 'contentBlockStart', start(0)),
      messageOf('event', 'contentBlockDelta', input),
      messageOf('event', 'contentBlockStop', { contentBlockIndex: 0 }),
      messageOf('event', 'contentBlockStart', start(1)),
      messageOf('event', 'contentBlockStop', { contentBlockIndex: 1 }),
      messageOf('event', 'messageStop', { stopReason: 'tool_use' }),
    ];
    emulator.script({ kind: 'instead', ...streamAnswer(messages) });
    assert.match(JSON.stringify(await stream()), /t0.*\{\\"at\\":1\}.*t1.*"arguments":"\{\}".*tool_calls/);
  });

  const first = messageOf('event', 'messageStart', { role: 'assistant' });
  const STREAMS = [
    ['an exception', [first, messageOf('exception', 'throttlingException', { message: 'x' })], 'rate'],
    ['a model that failed', [first, messageOf('exception', 'modelStreamErrorException', { message: 'x' })], 'server'],
    ['an end inside a message', [first, first.subarray(0, 20)], 'server'],
    ['an end before the end', [first], 'server'],
    [
      'a broken checksum',
      [Buffer.concat([first.subarray(0, -1), Buffer.from([first.at(-1) === 0 ? 1 : 0])])],
      'garbled',
    ],
    ['what is no message', [Buffer.alloc(64, 'x')], 'garbled'],
  ] as const;
  for (const [name, messages, fault] of STREAMS) {
    test(`${name} in a stream is ${fault}`, async () => {
      emulator.script({ kind: 'instead', ...streamAnswer(messages) });
      await assert.rejects(stream(), { fault });
    });
  }

  const REFUSED = [
    [{ n: 2 }, 'n'],
    [{ seed: 7 }, 'seed'],
    [{ logprobs: true }, 'logprobs'],
    [{ presence_penalty: 1 }, 'presence_penalty'],
    [{ reasoning_effort: 'high' }, 'reasoning_effort'],
    [{ response_format: { type: 'json_object' } }, 'response_format'],
    [
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://a.test/x.png' } }] }] },
      'messages',
    ],
  ] as const;
  for (const [fields, param] of REFUSED) {
    test(`${JSON.stringify(fields).slice(0, 60)} is refused before the call`, async () => {
      await assert.rejects(ask(fields), { param });
      assert.equal(emulator.requests.length, 0);
    });
  }

  const FAULTS = [
    [400, 'ValidationException', 'Input is too long', 'client'],
    [400, 'ValidationException', 'Invocation of model ID x with on-demand throughput isn’t supported.', 'config'],
    [400, 'ServiceQuotaExceededException', 'x', 'rate'],
    [400, 'UnrecognizedClientException', 'x', 'account'],
    [403, 'AccessDeniedException', 'x', 'account'],
    [
      403,
      'AccessDeniedException',
      'INVALID_PAYMENT_INSTRUMENT: A valid payment instrument must be provided.',
      'account',
    ],
    [404, 'ResourceNotFoundException', 'x', 'config'],
    [408, 'ModelTimeoutException', 'x', 'timeout'],
    [424, 'ModelErrorException', 'x', 'server'],
    [429, 'ThrottlingException', 'x', 'rate'],
    [503, 'ServiceUnavailableException', 'x', 'server'],
  ] as const;
  for (const [status, name, message, fault] of FAULTS) {
    test(`${status} ${name} "${message.slice(0, 30)}" is ${fault}`, async () => {
      emulator.script({ kind: 'instead', ...refusal(status, name, message) });
      await assert.rejects(ask(), { fault });
    });
  }
});

describe('credentials', () => {
  test('a user’s key signs each request, and a wrong secret is refused', async () => {
    await ask({}, upstreamOf(signing()));
    await stream(upstreamOf(signing()));
    assert.match(
      emulator.requests[0]?.headers.authorization ?? '',
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/.*\/us-east-1\/bedrock\//,
    );
    await assert.rejects(ask({}, upstreamOf(signing('wrong'))), { fault: 'account' });
  });

  test('AWS’s own chain finds a profile in its file', async (context) => {
    const file = join(folder, 'credentials');
    const lines = ['[gate]', `aws_access_key_id = ${ACCESS_KEY.id}`, `aws_secret_access_key = ${ACCESS_KEY.secret}`];
    writeFileSync(file, lines.join('\n'));
    const before = process.env.AWS_SHARED_CREDENTIALS_FILE;
    process.env.AWS_SHARED_CREDENTIALS_FILE = file;
    context.after(() => {
      if (before === undefined) delete process.env.AWS_SHARED_CREDENTIALS_FILE;
      else process.env.AWS_SHARED_CREDENTIALS_FILE = before;
    });
    const credential = { kind: 'default_chain', profile: 'gate', region: 'us-east-1' };
    await ask({}, upstreamOf({ apiKey: '', credential }));
    const absent = { ...credential, profile: 'absent' };
    const asking = ask({}, upstreamOf({ apiKey: '', credential: absent }));
    await assert.rejects(asking, { fault: 'account', message: /no token from the chain of credentials/ });
  });

  test('an identity of the process goes to no other host than AWS’s and those that its environment names', async () => {
    pools = new UpstreamPools();
    const asking = ask({}, upstreamOf({ apiKey: '', credential: { kind: 'default_chain' } }));
    await assert.rejects(asking, { fault: 'config', message: /TOLLGATE_CLOUD_HOSTS/ });
    assert.equal(emulator.requests.length, 0);
  });
});

test('Titan embeds one text at a time, Cohere many, and both tell their tokens', async () => {
  const input = { kind: 'texts', texts: ['one', 'two', 'three'] } as const;
  const request = { ...plainEmbedding(), input, dimensions: 4 };
  const titan = await embedding.embed(request, upstreamOf({ model: 'amazon.titan-embed-text-v2:0' }));
  const cohere = await embedding.embed(request, upstreamOf({ model: 'cohere.embed-v4:0' }));
  assert.equal(emulator.requests.length, 4);
  assert.deepEqual(cohere.vectors, titan.vectors);
  assert.deepEqual([titan.usage?.inputTokens, cohere.usage?.inputTokens], [9, 9]);
  assert.equal(JSON.parse(emulator.requests[3]?.bytes.toString() ?? '').input_type, 'search_document');
  const check = (extra: object, model: string) => () =>
    embedding.check({ ...request, extra: { ...extra } }, upstreamOf({ model }));
  assert.throws(check({ input_type: 'query' }, 'amazon.titan-embed-text-v2:0'), { param: 'input_type' });
  assert.doesNotThrow(check({ input_type: 'query' }, 'cohere.embed-v4:0'));
});
