import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { DocumentError, parseDocument } from '../src/configuration/index.ts';
import { vendors } from '../src/vendors/index.ts';
import { COMPATIBLE, OpenAiEmulator } from '../src/vendors/openai/emulator.ts';
import type { Fields } from './support/documents.ts';
import { Gateway } from './support/gateway.ts';
import { chatBody, moneyOf, paidCaller, tokenModel } from './support/paid-calls.ts';

const LOCAL = ['vllm', 'ollama', 'llama.cpp', 'lm-studio', 'tei'];

function upstreamWith(fields: Fields): Fields {
  return { id: 'one', vendor: 'openai', ...fields };
}

function problemsOf(upstream: Fields): readonly string[] {
  try {
    parseDocument(JSON.stringify({ upstreams: [upstream], models: [] }), vendors);
    return [];
  } catch (error) {
    assert.ok(error instanceof DocumentError, String(error));
    return error.problems.map(({ problem }) => problem);
  }
}

describe('an upstream without a key', () => {
  for (const [host, base_url] of [
    ['openai.com', 'https://api.openai.com/v1'],
    ['mistral.ai', 'https://api.eu.mistral.ai/v1'],
    ['groq.com', 'https://api.groq.com/openai/v1'],
    ['ollama.com', 'https://ollama.com/v1'],
    ['voyageai.com', 'https://api.voyageai.com/v1'],
  ] as const) {
    test(`is refused in words at ${base_url}, whatever dialect is named`, () => {
      const problem = `${host} needs one; \${NAME} takes it from the environment`;
      assert.deepEqual(problemsOf(upstreamWith({ base_url })), [problem]);
      assert.deepEqual(problemsOf(upstreamWith({ base_url, dialect: 'vllm' })), [problem]);
      assert.deepEqual(problemsOf(upstreamWith({ base_url, api_key: 'k' })), []);
    });
  }

  for (const dialect of LOCAL) {
    test(`is taken where ${dialect} runs on a machine of one's own`, () => {
      assert.deepEqual(problemsOf(upstreamWith({ base_url: 'http://127.0.0.1:8000/v1', dialect })), []);
    });
  }

  test('is taken at hosts whose names only end like a known one', () => {
    assert.deepEqual(problemsOf(upstreamWith({ base_url: 'https://notgroq.com/v1' })), []);
  });
});

describe('a local server in the whole program', () => {
  let gateway: Gateway;
  before(async () => {
    gateway = await Gateway.start();
  });
  after(() => gateway.stop());

  for (const dialect of LOCAL.filter((name) => Object.hasOwn(COMPATIBLE, name))) {
    test(`${dialect} answers without a key, and one that wants a key is no matter of the caller`, async (t) => {
      const open = new OpenAiEmulator({ speaks: dialect });
      const locked = new OpenAiEmulator({ speaks: dialect, apiKey: 'sk-other' });
      await Promise.all([open.start(), locked.start()]);
      t.after(() => Promise.all([open.stop(), locked.stop()]));
      const upstreams = [
        { ...upstreamWith({ dialect, base_url: open.url }), id: 'open' },
        { ...upstreamWith({ dialect, base_url: locked.url }), id: 'locked' },
      ];
      await gateway.putConfig({
        upstreams,
        models: [tokenModel('house/a', ['open']), tokenModel('house/b', ['locked'])],
      });
      const { key, ...caller } = await paidCaller(gateway);
      const ask = (model: string) =>
        gateway.call('POST', '/v1/chat/completions', { key, body: chatBody(model, { max_completion_tokens: 20 }) });
      const good = await ask('house/a');
      assert.equal(good.status, 200, good.text);
      assert.equal(good.json.choices[0].message.content, 'Hello there.');
      const { bytes, headers } = open.requests[0] ?? assert.fail('nothing was sent');
      assert.equal(JSON.parse(bytes.toString()).max_tokens, 20);
      assert.equal(headers.authorization, undefined);
      const { spent } = await moneyOf(gateway, { key, ...caller });
      assert.ok(spent > 0);
      const bad = await ask('house/b');
      assert.ok(bad.status >= 500, bad.text);
      assert.equal(locked.requests.length, 1);
      assert.deepEqual(await moneyOf(gateway, { key, ...caller }), { available: 1000 - spent, reserved: 0, spent });
    });
  }
});
