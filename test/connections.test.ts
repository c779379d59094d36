import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { READER_WINDOW_MS, REFUSED_CONNECTIONS_PER_ADDRESS_MAX } from '../src/limits.ts';
import { Gateway, type GatewayOptions } from './support/gateway.ts';
import { captureLog } from './support/leaks.ts';
import { until } from './support/postgres.ts';
import { RawConnection, requestText } from './support/raw-http.ts';

const FLOODER = '127.0.0.2';
const PER_ADDRESS = 3;
const CAPPED = { TOLLGATE_CONNECTIONS_PER_ADDRESS: String(PER_ADDRESS) };
const HEALTH = requestText('GET /healthz');

async function withGateway(options: GatewayOptions, work: (gateway: Gateway) => Promise<void>): Promise<void> {
  const gateway = await Gateway.start(options);
  try {
    await work(gateway);
  } finally {
    await gateway.stop();
  }
}

/** Idle connections from one address. */
function open(gateway: Gateway, count: number, from = FLOODER): Promise<RawConnection[]> {
  return Promise.all(Array.from({ length: count }, () => RawConnection.open(gateway.url, from)));
}

async function isServed(connection: RawConnection): Promise<boolean> {
  await connection.send(HEALTH);
  return (await connection.answer()).status === 200;
}

describe('connections of one address', () => {
  test('an address may have as many as the setting says, and one more is told so and closed', async () => {
    const captured = captureLog();
    await withGateway({ settings: CAPPED, log: captured.log }, async (gateway) => {
      const [first, ...others] = await open(gateway, PER_ADDRESS);
      assert.ok(first);
      for (const each of [first, ...others]) assert.equal(await isServed(each), true);
      using excess = await RawConnection.open(gateway.url, FLOODER);
      await excess.send(HEALTH);
      const answer = await excess.answer();
      assert.deepEqual([answer.status, answer.json?.error.code], [429, 'too_many_concurrent_requests'], answer.text);
      assert.match(answer.headers['x-request-id'] ?? '', /^req_/);
      assert.equal(answer.headers.connection, 'close');
      assert.equal(await excess.end(), '');
      excess.finish();
      // Other addresses are served meanwhile, and so is what this one has open already.
      assert.equal((await gateway.call('GET', '/healthz')).status, 200);
      assert.equal(await isServed(first), true);
      await until(() => captured.text().includes('connections were turned away'));
      for (const each of [first, ...others]) each[Symbol.dispose]();
    });
  });

  test('a place is free again when a connection has ended', async () => {
    await withGateway({ settings: CAPPED }, async (gateway) => {
      const [first, ...others] = await open(gateway, PER_ADDRESS);
      first?.finish();
      await first?.end();
      await until(async () => {
        using next = await RawConnection.open(gateway.url, FLOODER);
        return await isServed(next);
      });
      for (const each of others) each[Symbol.dispose]();
    });
  });

  test('a flood is reset without a word, and other addresses are served', async () => {
    await withGateway({ settings: CAPPED }, async (gateway) => {
      const flood = await open(gateway, PER_ADDRESS + REFUSED_CONNECTIONS_PER_ADDRESS_MAX + 20);
      const ends = await Promise.allSettled(flood.slice(PER_ADDRESS).map((each) => each.end()));
      const resets = ends.filter((end) => end.status === 'rejected');
      assert.ok(resets.length >= 20, `${resets.length} of ${ends.length} were reset`);
      assert.equal((await gateway.call('GET', '/healthz')).status, 200);
      for (const each of flood) each[Symbol.dispose]();
    });
  });

  test('those of a trusted proxy are not counted: they are those of all its callers', async () => {
    const settings = { ...CAPPED, TOLLGATE_TRUSTED_PROXIES: FLOODER };
    await withGateway({ settings }, async (gateway) => {
      const connections = await open(gateway, 2 * PER_ADDRESS);
      for (const each of connections) assert.equal(await isServed(each), true);
      for (const each of connections) each[Symbol.dispose]();
    });
  });
});

test('the process has as many connections as the setting says, and one more is closed', async () => {
  await withGateway({ settings: { TOLLGATE_CONNECTIONS: '4' } }, async (gateway) => {
    // On the one connection that the client of the tests keeps.
    assert.equal((await gateway.call('GET', '/healthz')).status, 200);
    const connections = await open(gateway, 4);
    const served = await Promise.allSettled(connections.map(isServed));
    const count = served.filter((each) => each.status === 'fulfilled').length;
    assert.equal(count, 3);
    assert.equal((await gateway.call('GET', '/healthz')).status, 200);
    for (const each of connections) each[Symbol.dispose]();
  });
});

test('a reader who leaves answers lying is disconnected, and others are served meanwhile', async () => {
  const captured = captureLog();
  await withGateway({ log: captured.log }, async (gateway) => {
    using reader = await RawConnection.open(gateway.url);
    reader.pause();
    // More than the system buffers of a connection.
    await reader.send(requestText('GET /openapi.json', ['X-Request-Id: never-read']).repeat(100));
    await until(async () => {
      gateway.clock.advance(READER_WINDOW_MS / 1000);
      assert.equal((await gateway.call('GET', '/healthz')).status, 200);
      return /"never-read".*"status":499/.test(captured.text());
    });
  });
});
