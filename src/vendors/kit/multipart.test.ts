import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { test } from 'node:test';
import { ApiError } from '../../errors.ts';
import type { Media } from '../vendor.ts';
import { type Upstream, UpstreamPools } from './http.ts';
import { inMemoryMedia } from './in-memory-media.ts';
import { type Part, toMultipart } from './multipart.ts';
import { defineWire } from './wire.ts';

function fileOf(bytes: Buffer, mimeType = 'image/png'): Media {
  return inMemoryMedia(bytes, mimeType);
}

test('a form has one spelling, and the length that it says', async () => {
  const { contentType, body } = toMultipart([
    { name: 'prompt', value: 'Grüße,\r\nWelt' },
    { name: 'image[]', fileName: 'a.png', file: fileOf(Buffer.from('PNG')) },
    { name: 'empty', value: '' },
  ]);
  const [, boundary] = /^multipart\/form-data; boundary=(form-[0-9a-f-]{36})$/.exec(contentType) ?? [];
  const bytes = Buffer.concat(await Array.fromAsync(body.pieces));
  assert.equal(
    bytes.toString(),
    [
      `--${boundary}\r\ncontent-disposition: form-data; name="prompt"\r\n\r\nGrüße,\r\nWelt\r\n`,
      `--${boundary}\r\ncontent-disposition: form-data; name="image[]"; filename="a.png"\r\n`,
      'content-type: image/png\r\n\r\nPNG\r\n',
      `--${boundary}\r\ncontent-disposition: form-data; name="empty"\r\n\r\n\r\n`,
      `--${boundary}--\r\n`,
    ].join(''),
  );
  assert.equal(bytes.length, body.bytes);
});

test('a name can neither end its header nor begin another', async () => {
  const { contentType, body } = toMultipart([{ name: 'a"; x="b\r\nc: d', value: '1' }]);
  const bytes = Buffer.concat(await Array.fromAsync(body.pieces));
  const form = await new Response(bytes, { headers: { 'content-type': contentType } }).formData();
  assert.deepEqual([...form.keys()], ['a"; x="b\r\nc: d']);
});

async function* failing(error: Error): AsyncIterable<Buffer> {
  yield Buffer.alloc(0);
  throw error;
}

async function withServer(
  serve: (request: IncomingMessage) => Promise<number>,
  run: (upstream: Upstream, server: Server) => Promise<void>,
): Promise<void> {
  const server = createServer((request, response) => {
    serve(request).then(
      (status) => response.writeHead(status).end('{}'),
      () => response.destroy(),
    );
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const [pools, { signal }] = [new UpstreamPools(), new AbortController()];
  const upstream = {
    model: 'm',
    address: `http://127.0.0.1:${address.port}`,
    apiKey: '',
    timeoutMs: 60_000,
    signal,
    pools,
  };
  try {
    await run(upstream, server);
  } finally {
    await pools.close();
    server.closeAllConnections();
    server.close();
  }
}

async function post(upstream: Upstream, parts: readonly Part[]): Promise<void> {
  const wire = defineWire({ headers: () => ({}), faults: {} });
  await wire.send(upstream, { path: '/form', body: { form: parts } });
}

test('large files arrive as they are', async () => {
  const files = [randomBytes(3_000_000), Buffer.alloc(0), randomBytes(256 * 1024), randomBytes(1)];
  let form: FormData | undefined;
  let length: string | undefined;
  const serve = async (request: IncomingMessage) => {
    const bytes = Buffer.concat(await Array.fromAsync<Buffer>(request));
    length = request.headers['content-length'];
    assert.equal(bytes.length, Number(length));
    form = await new Response(bytes, {
      headers: { 'content-type': String(request.headers['content-type']) },
    }).formData();
    return 200;
  };
  await withServer(serve, async (upstream) => {
    await post(upstream, [
      { name: 'prompt', value: 'A lighthouse' },
      ...files.map((file, at) => ({ name: 'image[]', fileName: `${at}.webp`, file: fileOf(file, 'image/webp') })),
    ]);
    const sent = (form?.getAll('image[]') ?? []).filter((value) => typeof value !== 'string');
    assert.deepEqual(
      sent.map(({ name, type }) => `${name} ${type}`),
      ['0.webp image/webp', '1.webp image/webp', '2.webp image/webp', '3.webp image/webp'],
    );
    const bytes = await Promise.all(sent.map(async (file) => Buffer.from(await file.arrayBuffer())));
    assert.deepEqual(bytes, files);
  });
});

test('a file is not read before the ones in front of it are on their way', async () => {
  const bytes = randomBytes(20_000_000);
  let reads = 0;
  const held = fileOf(bytes);
  const pieces = () => {
    reads++;
    return held.pieces();
  };
  const file: Media = { ...held, pieces };
  const [begun, go] = [Promise.withResolvers<number>(), Promise.withResolvers<void>()];
  const serve = async (request: IncomingMessage) => {
    await once(request, 'readable');
    begun.resolve(reads);
    await go.promise;
    request.resume();
    await once(request, 'end');
    return 200;
  };
  await withServer(serve, async (upstream) => {
    const sent = post(
      upstream,
      Array.from({ length: 5 }, () => ({ name: 'image[]', fileName: 'a.png', file })),
    );
    assert.equal(await begun.promise, 1);
    go.resolve();
    await sent;
    assert.equal(reads, 5);
  });
});

const swallow = async (request: IncomingMessage) => {
  request.resume();
  await once(request, 'end');
  return 200;
};

test('a file that cannot be read is not the upstream’s fault', () =>
  withServer(swallow, async (upstream) => {
    const lost = new ApiError('job_service_unavailable');
    const file: Media = { ...fileOf(Buffer.alloc(9)), pieces: () => failing(lost) };
    const whole = { name: 'image[]', fileName: 'a.png', file: fileOf(randomBytes(1_000_000)) };
    await assert.rejects(
      post(upstream, [whole, { name: 'image[]', fileName: 'b.png', file }]),
      (error) => error === lost,
    );
  }));

test('a file of another length than it was said to have is never sent', () =>
  withServer(swallow, async (upstream) => {
    const file: Media = { ...fileOf(Buffer.alloc(9)), bytes: 8 };
    const sent = post(upstream, [{ name: 'image', fileName: 'a.png', file }]);
    await assert.rejects(sent, { name: 'AssertionError' });
  }));

test('a refusal that comes before the form is whole is still read', () =>
  withServer(
    async () => 429,
    async (upstream) => {
      const file = fileOf(randomBytes(5_000_000));
      const sent = post(upstream, [{ name: 'image', fileName: 'a.png', file }]);
      await assert.rejects(sent, { fault: 'rate', isUncertain: false });
    },
  ));

test('a connection that breaks under a form leaves it uncertain', () =>
  withServer(
    async (request) => {
      request.socket.resetAndDestroy();
      return 200;
    },
    async (upstream) => {
      const file = fileOf(randomBytes(5_000_000));
      const sent = post(upstream, [{ name: 'image', fileName: 'a.png', file }]);
      await assert.rejects(sent, { fault: 'connection', isUncertain: true });
    },
  ));

test('a form whose call is given up is let go, and its file with it', async () => {
  const asked = Promise.withResolvers<void>();
  await withServer(
    async () => {
      asked.resolve();
      return new Promise(() => undefined);
    },
    async (upstream) => {
      const controller = new AbortController();
      const file = fileOf(randomBytes(30_000_000));
      const sent = post({ ...upstream, signal: controller.signal }, [{ name: 'image', fileName: 'a.png', file }]);
      await asked.promise;
      controller.abort();
      await assert.rejects(sent, { name: 'AbortError' });
    },
  );
});
