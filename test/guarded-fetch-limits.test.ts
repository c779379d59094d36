import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { assertTold, bytesOf, FetchTarget, fetcher, fetchText, giving } from './support/fetch-target.ts';

const CAP = 100_000;
/** Short enough to wait for, and what it ends would otherwise never end. */
const SOON_MS = 50;
/** Enough for what has to come first, on a busy machine too. */
const ENOUGH_MS = 1_000;
/** Longer than any test may take. */
const NEVER_MS = 600_000;

/** Reads everything, so that it does not matter whether the headers or the body give the failure away. */
async function read(url: string, options: { bytesMax?: number; timeoutMs?: number; connectTimeoutMs?: number } = {}) {
  const { bytesMax = CAP, ...rest } = options;
  return bytesOf(await fetcher(rest).open(url, { bytesMax }));
}

test('R-292 a body of exactly the cap is read, and one byte more is not, whether or not its length is told', async () => {
  for (const bytes of [CAP, CAP + 1]) {
    const send = [
      (response: ServerResponse) => void response.setHeader('content-length', bytes).end(Buffer.alloc(bytes)),
      (response: ServerResponse) => {
        response.write(Buffer.alloc(bytes - 1));
        response.end('x');
      },
    ];
    for (const [at, answer] of send.entries()) {
      using target = await FetchTarget.start((_request, response) => answer(response));
      if (bytes === CAP) assert.equal((await read(target.at('media.test'))).length, CAP);
      else await assertTold(read(target.at('media.test')), 'invalid_input_url', `way ${at}`);
      await target.left();
    }
  }
});

test('R-292 a body that says it is too large is refused before any of it is read', async () => {
  using target = await FetchTarget.start((_request, response) => {
    response.writeHead(200, { 'content-length': CAP + 1 }).flushHeaders();
  });
  await assertTold(fetcher().open(target.at('media.test'), { bytesMax: CAP }), 'invalid_input_url');
  await target.left();
});

test('R-292 a body without end is read up to the cap, and its sender is let go', async () => {
  using target = await FetchTarget.start((_request, response) => {
    const more = () => {
      while (!response.destroyed && response.write(Buffer.alloc(10_000)));
    };
    response.on('drain', more);
    more();
  });
  await assertTold(read(target.at('media.test')), 'invalid_input_url');
  await target.left();
});

test('R-294 a body shorter than it was told to be is not taken for whole', async () => {
  using target = await FetchTarget.start((_request, response) => {
    response.writeHead(200, { 'content-length': 1000 });
    response.write('half of it', () => response.destroy());
  });
  await assertTold(read(target.at('media.test')), 'invalid_input_url');
});

test('R-294 a chunked body that breaks off is not taken for whole', async () => {
  using target = await FetchTarget.start((_request, response) => {
    response.write('half of it', () => response.destroy());
  });
  await assertTold(read(target.at('media.test')), 'invalid_input_url');
});

test('bytes behind the told length are not part of the body', async () => {
  using target = await FetchTarget.start((_request, response) => {
    response.socket?.end('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfour and more');
  });
  assert.equal((await read(target.at('media.test'))).toString(), 'four');
});

test('R-294 an answer that is no HTTP, and a connection that closes or is reset, cannot be fetched', async () => {
  const answers = [
    '',
    'no HTTP\r\n\r\n',
    'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx',
    'HTTP/1.1 200',
  ];
  for (const answer of answers) {
    using target = await FetchTarget.start((_request, response) => void response.socket?.end(answer));
    await assertTold(read(target.at('media.test')), 'invalid_input_url', answer);
  }
  using target = await FetchTarget.start((_request, response) => void response.socket?.resetAndDestroy());
  await assertTold(read(target.at('media.test')), 'invalid_input_url');
});

test('R-294 headers without end cannot be fetched', async () => {
  using target = await FetchTarget.start((_request, response) => {
    response.socket?.end(`HTTP/1.1 200 OK\r\n${'X-Header: value\r\n'.repeat(10_000)}\r\n`);
  });
  await assertTold(read(target.at('media.test')), 'invalid_input_url');
});

test('R-294 a port where nothing listens cannot be fetched from', async () => {
  const target = await FetchTarget.start(giving('x'));
  const url = target.at('media.test');
  target[Symbol.dispose]();
  await assertTold(read(url), 'invalid_input_url');
});

test('R-294 R-296 every status but 200 is a failure, and nothing of its body is told', async () => {
  for (const status of [201, 202, 203, 204, 206, 300, 302, 304, 305, 400, 401, 403, 404, 410, 429, 500, 503, 599]) {
    using target = await FetchTarget.start(
      (_request, response) => void response.writeHead(status).end('its own words'),
    );
    await assertTold(fetcher().open(target.at('media.test'), { bytesMax: CAP }), 'invalid_input_url', `${status}`);
    await target.left();
  }
});

test('a location goes unread when the status is no redirect', async () => {
  using target = await FetchTarget.start(
    (_request, response) => void response.writeHead(200, { location: '/x' }).end('x'),
  );
  assert.equal(await fetchText(fetcher(), target.at('media.test')), 'x');
  assert.equal(target.requests.length, 1);
});

test('what was sent compressed although nobody asked is decompressed', async () => {
  const text = 'words '.repeat(1000);
  for (const [encoding, bytes] of [
    ['gzip', gzipSync(text)],
    ['GZIP', gzipSync(text)],
    ['br', brotliCompressSync(text)],
    ['identity', Buffer.from(text)],
  ] as const) {
    using target = await FetchTarget.start((_request, response) => {
      response.writeHead(200, { 'content-encoding': encoding }).end(bytes);
    });
    assert.equal((await read(target.at('media.test'))).toString(), text, encoding);
  }
});

test('R-293 what is decompressed may have the cap in bytes, and not one more', async () => {
  for (const [encoding, compress] of [
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ] as const) {
    using target = await FetchTarget.start((request, response) => {
      const bytes = compress(Buffer.alloc(Number(request.url?.slice(1))));
      response.writeHead(200, { 'content-encoding': encoding }).end(bytes);
    });
    assert.equal((await read(target.at('media.test', `/${CAP}`))).length, CAP);
    await assertTold(read(target.at('media.test', `/${CAP + 1}`)), 'invalid_input_url', encoding);
  }
});

test('R-293 a kilobyte that becomes a thousand of them is stopped at the cap', async () => {
  const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
  using target = await FetchTarget.start((_request, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb);
  });
  const { body } = await fetcher().open(target.at('media.test'), { bytesMax: 1024 * 1024 });
  let bytes = 0;
  const reading = async () => {
    for await (const piece of body) bytes += piece.length;
  };
  await assertTold(reading(), 'invalid_input_url');
  assert.ok(bytes <= 1024 * 1024);
  await target.left();
});

test('R-293 compressed bytes count too: nothing may come for ever and mean nothing', async () => {
  const nothing = gzipSync('');
  using target = await FetchTarget.start((_request, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' });
    for (let sent = 0; sent <= CAP; sent += nothing.length) response.write(nothing);
  });
  await assertTold(read(target.at('media.test'), { timeoutMs: NEVER_MS }), 'invalid_input_url');
});

test('R-294 bytes that are not what their encoding says, and unknown encodings, cannot be fetched', async () => {
  const whole = gzipSync('words '.repeat(1000));
  const cases: readonly (readonly [string, Buffer])[] = [
    ['gzip', Buffer.from('no gzip')],
    ['gzip', whole.subarray(0, -10)],
    ['br', Buffer.from('no brotli')],
    ['gzip, gzip', gzipSync(whole)],
    ['deflate', whole],
    ['zstd', whole],
    ['constructor', whole],
  ];
  for (const [encoding, bytes] of cases) {
    using target = await FetchTarget.start((_request, response) => {
      response.writeHead(200, { 'content-encoding': encoding }).end(bytes);
    });
    await assertTold(read(target.at('media.test')), 'invalid_input_url', encoding);
    await target.left();
  }
});

test('R-292 headers that do not come in time end the fetch', async () => {
  using target = await FetchTarget.start(() => undefined);
  const fetch = fetcher({ timeoutMs: SOON_MS });
  await assertTold(fetch.open(target.at('media.test'), { bytesMax: CAP }), 'invalid_input_url');
  await target.left();
});

test('R-292 a body that does not end in time ends the fetch, even if it is never silent', async () => {
  using target = await FetchTarget.start((_request, response) => {
    response.write('x');
    const timer = setInterval(() => response.write('x'), 1);
    response.on('close', () => clearInterval(timer));
  });
  await assertTold(read(target.at('media.test'), { timeoutMs: SOON_MS }), 'invalid_input_url');
  await target.left();
});

test('R-292 the time is one for all hops together', async () => {
  using target = await FetchTarget.start((request, response) => {
    if (request.url === '/next') response.write('the beginning');
    else response.writeHead(302, { location: '/next' }).end();
  });
  await assertTold(read(target.at('media.test'), { timeoutMs: SOON_MS }), 'invalid_input_url');
  await target.left();
});

test('R-292 a body that nobody reads is let go when the time is over', async () => {
  for (const encoding of ['identity', 'gzip']) {
    using target = await FetchTarget.start((_request, response) => {
      response.writeHead(200, { 'content-encoding': encoding }).write(gzipSync('x').subarray(0, 10));
    });
    const { body } = await fetcher({ timeoutMs: ENOUGH_MS }).open(target.at('media.test'), { bytesMax: CAP });
    await target.left();
    await assertTold(Array.fromAsync(body), 'invalid_input_url', encoding);
  }
});

test('R-292 a reader slower than the time ends with the fetch', async () => {
  using target = await FetchTarget.start((_request, response) => void response.write('first'));
  const { body } = await fetcher({ timeoutMs: ENOUGH_MS }).open(target.at('media.test'), { bytesMax: CAP });
  const pieces = body[Symbol.asyncIterator]();
  assert.equal(String((await pieces.next()).value), 'first');
  await target.left();
  await assertTold(pieces.next(), 'invalid_input_url');
});

test('R-292 a name that does not resolve in time ends the fetch', async () => {
  const resolve = () => new Promise<never>(() => undefined);
  // A lookup keeps no process alive that has nothing else to do.
  using _target = await FetchTarget.start(giving('x'));
  for (const times of [{ connectTimeoutMs: SOON_MS, timeoutMs: NEVER_MS }, { timeoutMs: SOON_MS }]) {
    await assertTold(fetcher({ resolve, ...times }).open('http://media.test/', { bytesMax: CAP }), 'invalid_input_url');
  }
});

/** Takes connections and says nothing, so that no handshake ends. */
async function silence(onConnection: () => void) {
  const server = createServer().unref();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const left = new Promise((resolve) => {
    server.on('connection', (socket) => {
      socket.on('error', () => undefined).on('close', resolve);
      socket.resume();
      onConnection();
    });
  });
  const address = server.address();
  assert.ok(address !== null && typeof address !== 'string');
  return { url: `https://media.test:${address.port}/`, left };
}

test('R-292 a connection that is not secured in time ends the fetch', async () => {
  const { url, left } = await silence(() => undefined);
  await assertTold(read(url, { connectTimeoutMs: SOON_MS, timeoutMs: NEVER_MS }), 'invalid_input_url');
  await left;
});

test('R-292 the time to connect is over once connected', async () => {
  using target = await FetchTarget.start((_request, response) => {
    setTimeout(() => response.end('x'), 1.5 * ENOUGH_MS);
  });
  const times = { connectTimeoutMs: ENOUGH_MS, timeoutMs: NEVER_MS };
  assert.equal((await read(target.at('media.test'), times)).toString(), 'x');
});

test('a caller who gives up ends the fetch, at every stage, with the reason that was given', async () => {
  const reason = new DOMException('The call was given up.', 'AbortError');
  let controller = new AbortController();
  const giveUp = () => controller.abort(reason);
  using target = await FetchTarget.start((request, response) => {
    if (request.url === '/body') response.write('the beginning');
    else giveUp();
  });
  const silent = await silence(giveUp);
  const resolve = () => {
    giveUp();
    return new Promise<never>(() => undefined);
  };
  const stages = {
    lookup: () => fetcher({ resolve }).open('http://media.test/', { bytesMax: CAP, signal: controller.signal }),
    handshake: () => fetcher().open(silent.url, { bytesMax: CAP, signal: controller.signal }),
    headers: () => fetcher().open(target.at('media.test'), { bytesMax: CAP, signal: controller.signal }),
    body: async () => {
      const url = target.at('media.test', '/body');
      const { body } = await fetcher().open(url, { bytesMax: CAP, signal: controller.signal });
      for await (const piece of body) if (piece.length > 0) giveUp();
    },
  };
  for (const [stage, fetch] of Object.entries(stages)) {
    controller = new AbortController();
    await assert.rejects(fetch, (error) => error === reason, stage);
  }
  await Promise.all([silent.left, target.left()]);
});

test('a caller who has left before the fetch begins causes no connection', async () => {
  const reason = new DOMException('The call was given up.', 'AbortError');
  using target = await FetchTarget.start(giving('x'));
  const fetch = fetcher({ allow: ['media.test', '127.0.0.1'] });
  for (const host of ['media.test', '127.0.0.1']) {
    const opening = fetch.open(target.at(host), { bytesMax: CAP, signal: AbortSignal.abort(reason) });
    await assert.rejects(opening, (error) => error === reason, host);
  }
  assert.equal(target.connections, 0);
});

test('whoever stops reading lets the connection go', async () => {
  const whole = gzipSync(randomBytes(CAP));
  for (const encoding of ['identity', 'gzip']) {
    using target = await FetchTarget.start((_request, response) => {
      response.writeHead(200, { 'content-encoding': encoding }).write(whole.subarray(0, CAP / 2));
    });
    const { body } = await fetcher().open(target.at('media.test'), { bytesMax: CAP });
    for await (const piece of body) {
      assert.ok(piece.length > 0);
      break;
    }
    await target.left();
  }
});

test('a redirect that goes on talking is not listened to', async () => {
  using target = await FetchTarget.start((_request, response) => void response.write('the beginning'));
  using talking = await FetchTarget.start((_request, response) => {
    response.writeHead(302, { location: target.at('media.test') }).write('and');
  });
  await fetcher().open(talking.at('media.test'), { bytesMax: CAP });
  await talking.left();
});

test('a fetcher that is closed ends its fetches and begins no other', async () => {
  using target = await FetchTarget.start((_request, response) => void response.write('the beginning'));
  const fetch = fetcher();
  const reading = bytesOf(await fetch.open(target.at('media.test'), { bytesMax: CAP }));
  fetch.close();
  await assertTold(reading, 'shutting_down');
  await assertTold(fetch.open(target.at('media.test'), { bytesMax: CAP }), 'shutting_down');
  await target.left();
  assert.equal(target.connections, 1);
});

test('a fetcher that is closed ends what it is connecting to', async () => {
  const fetch = fetcher();
  const { url, left } = await silence(() => fetch.close());
  await assertTold(fetch.open(url, { bytesMax: CAP }), 'shutting_down');
  await left;
});
