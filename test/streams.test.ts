import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { frame } from '../src/vendors/gemini/emulator/calls.ts';
import { GeminiEmulator } from '../src/vendors/gemini/emulator.ts';
import { OpenAiEmulator } from '../src/vendors/openai/emulator.ts';
import { Gateway, type NewCaller } from './support/gateway.ts';
import { HELLO, MODELS, nativeDocument, UPSTREAM_KEY } from './support/native.ts';
import {
  chatBody,
  delta,
  framesIn,
  gated,
  OpenStream,
  paidCaller,
  spentInTheEnd,
  tokenModel,
} from './support/paid-calls.ts';
import { RawConnection } from './support/raw-http.ts';
import { upstreamHealth } from './support/upstream-health.ts';

const CHAT = '/v1/chat/completions';
const NATIVE = '/v1beta/models/native:streamGenerateContent';
const STREAM = { stream: true };

const chatUpstream = new OpenAiEmulator({ isLenient: true });
const nativeUpstream = new GeminiEmulator({ apiKey: UPSTREAM_KEY, models: Object.values(MODELS), marker: 'marker' });
let gateway: Gateway;
let caller: NewCaller;
before(async () => {
  await Promise.all([chatUpstream.start(), nativeUpstream.start()]);
  gateway = await Gateway.start();
  const { upstreams, models } = nativeDocument(nativeUpstream);
  await gateway.putConfig({
    upstreams: [...upstreams, { id: 'chat', vendor: 'openai', base_url: chatUpstream.url }],
    models: [...models, tokenModel('talker', ['chat'])],
  });
});
after(async () => {
  await gateway.stop();
  await Promise.all([chatUpstream.stop(), nativeUpstream.stop()]);
});
beforeEach(async () => {
  caller = await paidCaller(gateway);
});
afterEach(() => gateway.assertBooksBalance());

function openChat(): Promise<OpenStream> {
  return OpenStream.open(gateway, CHAT, { key: caller.key, body: chatBody('talker', STREAM) });
}

/** A gate before each of the later frames: none is sent before the caller has the one before it. */
function gates(count: number): PromiseWithResolvers<void>[] {
  return Array.from({ length: count }, () => Promise.withResolvers<void>());
}

const WORDS = ['one', 'two', 'three', 'four'];

async function takeInTurn(stream: OpenStream, opened: readonly PromiseWithResolvers<void>[]): Promise<void> {
  const { status, headers } = stream;
  assert.equal(status, 200);
  assert.match(String(headers['content-type']), /^text\/event-stream/);
  assert.deepEqual([headers['cache-control'], headers['x-accel-buffering']], ['no-cache', 'no']);
  for (const [at, word] of WORDS.entries()) {
    const text = await stream.until(word);
    assert.ok(!text.includes(WORDS[at + 1] ?? '\0'));
    opened[at]?.resolve();
  }
}

describe('frames go out as they come', () => {
  test('R-521: a chat caller has each frame before the upstream sends the next', async () => {
    const waits = gates(WORDS.length);
    const steps = WORDS.flatMap((word, at) => [delta(word, at === 3 ? 'stop' : null), waits[at]?.promise ?? delta('')]);
    chatUpstream.script({ kind: 'frames', frames: gated(...steps) });
    await using stream = await openChat();
    await takeInTurn(stream, waits);
    assert.match((await stream.rest()).text, /data: \[DONE\]\n\n$/);
  });

  for (const query of ['', '?alt=sse']) {
    test(`R-521: a native caller has each frame before the upstream sends the next${query}`, async () => {
      const waits = gates(WORDS.length);
      async function* frames() {
        for (const [at, word] of WORDS.entries()) {
          yield frame(word, at === 3 ? 'STOP' : undefined);
          await waits[at]?.promise;
        }
      }
      nativeUpstream.script({ kind: 'frames', frames: frames() });
      await using stream = await OpenStream.open(gateway, NATIVE + query, { key: caller.key, body: JSON.parse(HELLO) });
      await takeInTurn(stream, waits);
      assert.equal((await stream.rest()).isCut, false);
    });
  }

  test('frames that come together go out together, and none is lost or changed', async () => {
    const said = Array.from({ length: 500 }, (_, at) => `${at} é 😀 "\\\n`);
    chatUpstream.script({ kind: 'frames', frames: said.map((word, at) => delta(word, at === 499 ? 'stop' : null)) });
    await using stream = await openChat();
    const frames = framesIn((await stream.rest()).text);
    assert.deepEqual(
      frames.map(({ choices }) => choices[0].delta.content),
      said,
    );
    assert.ok(frames.every(({ id, model }) => id === frames[0].id && model === 'talker'));
  });
});

describe('how a stream is written', () => {
  const askFor = (version: string) => {
    const body = JSON.stringify(chatBody('talker', STREAM));
    const head = [`POST ${CHAT} HTTP/${version}`, 'Host: x', `Authorization: Bearer ${caller.key}`];
    return `${[...head, `Content-Length: ${body.length}`].join('\r\n')}\r\n\r\n${body}`;
  };

  test('one connection carries one stream after the other', async () => {
    using connection = await RawConnection.open(gateway.url);
    for (let round = 0; round < 3; round++) {
      await connection.send(askFor('1.1'));
      const text = await connection.until('0\r\n\r\n');
      assert.match(text, /\r\ntransfer-encoding: chunked\r\n/i);
      assert.match(unchunked(text), /^data: \{[^\r]*data: \[DONE\]\n\n$/s);
    }
  });

  test('a client of HTTP/1.0, which knows no chunks, is sent none', async () => {
    using connection = await RawConnection.open(gateway.url);
    await connection.send(askFor('1.0'));
    const text = await connection.end();
    assert.doesNotMatch(text, /transfer-encoding/i);
    assert.match(text.slice(text.indexOf('\r\n\r\n') + 4), /^data: \{[^\r]*data: \[DONE\]\n\n$/s);
  });
});

/** The body of an answer whose every chunk is as long as it says. */
function unchunked(answer: string): string {
  let rest = Buffer.from(answer.slice(answer.indexOf('\r\n\r\n') + 4));
  let body = '';
  for (;;) {
    const line = rest.indexOf('\r\n');
    const size = Number.parseInt(rest.toString('latin1', 0, line), 16);
    if (size === 0) return body;
    body += rest.toString('utf8', line + 2, line + 2 + size);
    assert.equal(rest.toString('latin1', line + 2 + size, line + 4 + size), '\r\n');
    rest = rest.subarray(line + 4 + size);
  }
}

test('R-094: a stream begun with a key goes on when the key is deleted, and is charged', async () => {
  const goOn = Promise.withResolvers<void>();
  chatUpstream.script({ kind: 'frames', frames: gated(delta('One '), goOn.promise, delta('two', 'stop')) });
  await using stream = await openChat();
  await stream.until('One ');
  assert.equal((await gateway.admin('DELETE', `/keys/${caller.keyId}`)).status, 200);
  assert.equal((await gateway.call('GET', '/v1/key', { key: caller.key })).status, 401);
  goOn.resolve();
  assert.match((await stream.rest()).text, /two.*data: \[DONE\]\n\n$/s);
  const other = await gateway.admin('POST', `/accounts/${caller.accountId}/keys`, { name: 'other', rpm: 100_000 });
  assert.ok((await spentInTheEnd(gateway, { ...caller, key: other.json.key })) > 0);
});

test('a fault in the middle of a stream is held against its upstream, though the stream itself cannot fail over', async () => {
  chatUpstream.script({ kind: 'frames', frames: [delta('One ')], end: 'reset' });
  nativeUpstream.script({ kind: 'frames', frames: [frame('One ')], end: 'reset' });
  await using chat = await openChat();
  assert.match((await chat.rest()).text, /One .*upstream_failed/s);
  await using native = await OpenStream.open(gateway, NATIVE, { key: caller.key, body: JSON.parse(HELLO) });
  assert.match((await native.rest()).text, /One .*upstream_failed/s);
  for (const id of ['chat', 'native']) {
    const { strikes, last_fault } = (await upstreamHealth(gateway, id)).model;
    assert.deepEqual([strikes, last_fault], [1, 'connection']);
  }
});

describe('what is not pushed', () => {
  test('R-520: only chat, in each of its formats, native and the surfaces of other clients can answer with a stream', async () => {
    const { json } = await gateway.call('GET', '/openapi.json');
    const streaming = Object.entries<Record<string, unknown>>(json.paths)
      .filter(([, methods]) => JSON.stringify(methods).includes('event-stream'))
      .filter(([path]) => !/^\/(openai\/v1|mcp)(\/|$)/.test(path));
    assert.deepEqual(
      streaming.map(([path, methods]) => [path, Object.keys(methods)]),
      [
        [CHAT, ['post']],
        ['/api/console/run/chat/completions', ['post']],
        ['/v1/responses', ['post']],
        ['/api/console/run/responses', ['post']],
        ['/v1/messages', ['post']],
        ['/v1beta/models/{model}:{action}', ['post']],
        ['/v1/models/{model}:{action}', ['post']],
      ],
    );
  });

  test('R-520: whoever accepts events and did not ask for a stream gets a whole answer', async () => {
    const headers = { accept: 'text/event-stream' };
    const answers = [
      await gateway.call('POST', CHAT, { key: caller.key, headers, body: chatBody('talker') }),
      await gateway.call('GET', '/v1/models', { key: caller.key, headers }),
    ];
    for (const answer of answers) assert.match(answer.headers['content-type'] ?? '', /^application\/json/);
  });

  test('R-518: no route takes an address to call back', async () => {
    const { json } = await gateway.call('GET', '/openapi.json');
    assert.equal(json.webhooks, undefined);
    assert.doesNotMatch(JSON.stringify(json), /"(?:callbacks|[\w-]*(?:webhook|callback|notify)[\w-]*)":/i);
  });

  test('R-518: no address in a request is ever called', async (t) => {
    let calls = 0;
    const listener = createServer((_request, response) => response.end()).on('connection', () => calls++);
    await new Promise<void>((resolve) => listener.unref().listen(0, '127.0.0.1', resolve));
    t.after(() => listener.close());
    const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/`;
    const named = {
      webhook: url,
      webhook_url: url,
      callback: url,
      callback_url: url,
      notify_url: url,
      metadata: { url },
    };
    const picture = [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }];
    const headers = { 'x-webhook-url': url, 'x-callback-url': url };
    const call = (body: object) => gateway.call('POST', CHAT, { key: caller.key, headers, body });
    assert.equal((await call(chatBody('talker', { ...named, messages: picture }))).status, 200);
    assert.equal((await call(chatBody('talker', { ...named, ...STREAM }))).status, 200);
    await gateway.call('POST', `${NATIVE}?callback=${url}`, { key: caller.key, headers, raw: HELLO });
    assert.equal(calls, 0);
  });
});
