import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { type Answer, Gateway } from './support/gateway.ts';
import { chatBody, paidCaller } from './support/paid-calls.ts';
import { newOwner } from './support/people.ts';
import { RawConnection, requestText, sendRaw } from './support/raw-http.ts';

// Requests that `npm run fuzz` found to be answered otherwise than the contract says. Every answer is held to it.

let gateway: Gateway;
before(async () => {
  gateway = await Gateway.start();
});
after(() => gateway.stop());
afterEach(() => gateway.assertBooksBalance());

for (const type of ['', ';', 'application/', 'no type']) {
  test(`a native request of the content type ${JSON.stringify(type)} is refused`, async () => {
    const { key } = await paidCaller(gateway);
    const options = { key, headers: { 'content-type': type }, raw: '{"contents":[]}' };
    const answer = await gateway.call('POST', '/v1beta/models/sandbox/native:generateContent', options);
    assert.deepEqual([answer.status, answer.json?.error.code], [400, 'unsupported_content_type'], answer.text);
  });
}

test('a native request whose prompt contradicts itself is refused', async () => {
  const { key } = await paidCaller(gateway);
  const body = {
    contents: [{ parts: [{ text: 'Hi' }] }],
    toolConfig: { functionCallingConfig: { mode: 'ANY' } },
  };
  const answer = await gateway.call('POST', '/v1beta/models/sandbox/native:generateContent', { key, body });
  assert.deepEqual([answer.status, answer.json?.error.code], [400, 'invalid_parameter'], answer.text);
});

for (const account of ['a\0b', '\ud800', '']) {
  test(`a session that is to work in the account ${JSON.stringify(account)} is refused`, async () => {
    const owner = await newOwner(gateway);
    const answer = await owner.call('PATCH', '/session', { account_id: account });
    assert.deepEqual([answer.status, answer.json?.error.code], [400, 'invalid_parameter'], answer.text);
  });
}

for (const headers of [[], ['Origin: https://app.example'], ['Access-Control-Request-Method: POST']]) {
  test(`OPTIONS that is no preflight has the envelope at the token endpoint too: ${headers.join()}`, async () => {
    const answer = await sendRaw(gateway.url, requestText('OPTIONS /oauth/token', headers));
    assert.deepEqual([answer.status, answer.json?.error.code], [404, 'not_found'], answer.text);
  });
}

test('a tunnel that is asked for and reset at once ends nothing but its connection', async () => {
  // The runner would only note what ends a process of its own.
  const uncaught: Error[] = [];
  const note = (error: Error) => uncaught.push(error);
  process.on('uncaughtExceptionMonitor', note);
  for (let tries = 0; tries < 50; tries++) {
    using connection = await RawConnection.open(gateway.url);
    await connection.send(requestText('CONNECT 127.0.0.1:22').repeat(tries % 3 === 0 ? 20 : 1));
    connection.reset();
  }
  assert.equal((await gateway.call('GET', '/healthz')).status, 200);
  process.off('uncaughtExceptionMonitor', note);
  assert.deepEqual(uncaught, []);
});

test('a HEAD whose headers are too large is answered without a body', async () => {
  using connection = await RawConnection.open(gateway.url);
  await connection.send(requestText(`HEAD /healthz?${'x'.repeat(33_000)}`));
  const answer = await connection.answer({ head: true });
  assert.equal(answer.status, 431);
  assert.equal(await connection.end(), '');
});

for (const type of ['application/vnd.mcp+json', 'application/json; charset=,']) {
  test(`a message of MCP is taken as the content type ${JSON.stringify(type)}, as other JSON is`, async () => {
    const { key } = await paidCaller(gateway);
    const raw = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} });
    const answer = await gateway.call('POST', '/mcp', { key, headers: { 'content-type': type }, raw });
    assert.equal(answer.status, 200, answer.text);
  });
}

const CHUNKED = 'Transfer-Encoding: chunked';
const POST = 'POST /v1/chat/completions';
/** What a head may offer beside its request. Node reports no parser error behind an upgrade. */
const OFFERS = {
  'no upgrade': [],
  'a WebSocket': ['Connection: upgrade', 'Upgrade: websocket'],
  'HTTP/2': ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__'],
};

function malformed(answer: Answer): void {
  assert.deepEqual([answer.status, answer.json?.error.code], [400, 'malformed_request'], answer.text);
}

/** A body as the chunks of `chunkBytes` that carry it. */
function chunked(body: string, chunkBytes: number): string[] {
  const count = Math.ceil(body.length / chunkBytes);
  const pieces = Array.from({ length: count }, (_, at) => body.slice(at * chunkBytes, (at + 1) * chunkBytes));
  return [...pieces, ''].map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`);
}

for (const [offer, headers] of Object.entries(OFFERS)) {
  describe(`a request that offers ${offer}`, () => {
    let authorized: string[] = [];
    before(async () => {
      const { key } = await paidCaller(gateway);
      authorized = [...headers, `Authorization: Bearer ${key}`];
    });

    /** Sends each piece when what came before it has been read, and leaves the rest to the test. */
    async function sent(pieces: readonly string[]): Promise<RawConnection> {
      const connection = await RawConnection.open(gateway.url);
      for (const piece of pieces) {
        await connection.send(piece);
        assert.equal((await gateway.call('GET', '/healthz')).status, 200);
      }
      return connection;
    }

    for (const [what, pieces] of Object.entries({
      'at once': (head: string) => [`${head}{"model":"x"}`],
      'behind its head': (head: string) => [head, '{"model":"x"}', 'more of it'],
      'behind a chunk': (head: string) => [`${head}5\r\nabcde\r\n`, `5\r\nabcde?`],
      // So much that the pace of an upload takes it for a body on its way.
      'at length': (head: string) => [`${head}{"model":"x"}GET ${'/a'.repeat(40_000)}`],
    })) {
      for (const isFinished of [false, true]) {
        test(`and garbage for chunks, ${what}, is refused${isFinished ? ' when its side is ended' : ''}`, async () => {
          using connection = await sent(pieces(requestText(POST, [...authorized, CHUNKED])));
          if (isFinished) connection.finish();
          malformed(await connection.answer());
          assert.equal(await connection.end(), '');
        });
      }
    }

    test('and garbage for chunks to a route that is not there is refused once, and its connection is not reset', async () => {
      for (const garbage of ['garbage', 'garbage'.repeat(100_000)]) {
        using connection = await sent([`${requestText('POST /nothing-here', [...headers, CHUNKED])}${garbage}`]);
        const { status, json } = await connection.answer();
        assert.deepEqual([status, json?.error.code], [404, 'not_found']);
        assert.equal(await connection.end(), '');
      }
    });

    test('and garbage for chunks behind a HEAD is refused without a body', async () => {
      using connection = await sent([`${requestText('HEAD /healthz', [...headers, CHUNKED])}garbage`]);
      assert.equal((await connection.answer({ head: true })).status, 400);
      assert.equal(await connection.end(), '');
    });

    for (const [body, pieces] of Object.entries({
      'a length': ['Content-Length: 9', '{"a":'],
      chunks: [CHUNKED, '5\r\n{"a'],
      'whole chunks without a last one': [CHUNKED, '2\r\n{}\r\n'],
      'nothing of its length': ['Content-Length: 9', ''],
    })) {
      const [framing = '', start = ''] = pieces;
      test(`and a caller who ends its side in the middle of ${body} is refused`, async () => {
        using connection = await sent([requestText(POST, [...authorized, framing]) + start]);
        connection.finish();
        malformed(await connection.answer());
        assert.equal(await connection.end(), '');
      });
    }

    test('is served where its body is well framed, and so is the next on its connection', async () => {
      const body = JSON.stringify(chatBody('sandbox/chat'));
      const head = requestText(POST, [...authorized, CHUNKED]);
      using connection = await RawConnection.open(gateway.url);
      const inPieces = [head, ...chunked(body, 7)];
      const whole = requestText(POST, authorized, body);
      for (const pieces of [[inPieces.join('')], inPieces, [whole], [whole.slice(0, -9), whole.slice(-9)]]) {
        for (const piece of pieces) {
          await connection.send(piece);
          await gateway.call('GET', '/healthz');
        }
        const answer = await connection.answer();
        assert.deepEqual([answer.status, answer.json?.object], [200, 'chat.completion'], answer.text);
      }
      connection.finish();
      assert.equal(await connection.end(), '');
    });

    for (const [where, split] of Object.entries({ 'right behind': false, after: true })) {
      test(`is answered before the garbage ${where} its body is refused`, async () => {
        const whole = requestText(POST, authorized, JSON.stringify(chatBody('sandbox/chat')));
        using connection = await sent(split ? [whole, '\x01garbage'] : [`${whole}\x01garbage`]);
        assert.equal((await connection.answer()).status, 200);
        malformed(await connection.answer());
        assert.equal(await connection.end(), '');
      });
    }

    test('is answered in its turn when its body is garbage behind a request that is served', async () => {
      const first = requestText(POST, authorized.slice(-1), JSON.stringify(chatBody('sandbox/chat')));
      using connection = await sent([`${first}${requestText(POST, [...authorized, CHUNKED])}garbage`]);
      connection.finish();
      assert.equal((await connection.answer()).status, 200);
      malformed(await connection.answer());
      assert.equal(await connection.end(), '');
    });

    test('leaves no request behind it without an answer', async () => {
      const whole = requestText(POST, authorized, JSON.stringify(chatBody('sandbox/chat')));
      using connection = await sent([whole + requestText('GET /healthz') + requestText('GET /livez')]);
      assert.equal((await connection.answer()).status, 200);
      const next = await connection.answer();
      if (headers.length > 0) {
        // Behind an upgrade the parser expects another protocol in the same piece.
        malformed(next);
        assert.equal(await connection.end(), '');
      } else {
        assert.equal(next.status, 200);
        assert.equal((await connection.answer()).status, 200);
      }
    });
  });
}
