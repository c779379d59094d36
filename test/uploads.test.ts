import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import {
  UPLOAD_BYTES_PER_SECOND_MIN,
  UPLOAD_GRACE_MS,
  UPLOAD_WINDOW_MS,
  UPLOADS_PER_ACCOUNT_MAX,
  UPLOADS_PER_ADDRESS_MAX,
} from '../src/limits.ts';
import { ADMIN_TOKEN, type Answer, Gateway } from './support/gateway.ts';
import { captureLog } from './support/leaks.ts';
import { until } from './support/postgres.ts';
import { RawConnection, requestText } from './support/raw-http.ts';

let gateway: Gateway;
const captured = captureLog();
before(async () => {
  const settings = { TOLLGATE_TRUSTED_PROXIES: '127.0.0.1' };
  gateway = await Gateway.start({ log: captured.log, settings });
});
after(() => gateway.stop());
afterEach(() => gateway.assertBooksBalance());

const GRACE_S = UPLOAD_GRACE_MS / 1000;
const WINDOW_S = UPLOAD_WINDOW_MS / 1000;
const WINDOW_BYTES = UPLOAD_BYTES_PER_SECOND_MIN * WINDOW_S;
const BODY_BYTES = 2 * WINDOW_BYTES;

function refused(answer: Answer, status: number, code: string): void {
  assert.deepEqual([answer.status, answer.json?.error.code], [status, code], answer.text);
}

/** The whole body that an upload sends piece by piece. */
function bodyOf(bytes: number): string {
  const start = '{"model":"none","messages":[{"role":"user","content":"';
  return `${start}${'x'.repeat(bytes - start.length - 4)}"}]}`;
}

/** A body that is announced, admitted and asked for, of which nothing has come. */
async function upload(key: string, headers: readonly string[] = []): Promise<RawConnection> {
  const connection = await RawConnection.open(gateway.url);
  const all = [`Authorization: Bearer ${key}`, `Content-Length: ${BODY_BYTES}`, 'Expect: 100-continue', ...headers];
  await connection.send(requestText('POST /v1/chat/completions', all));
  assert.equal((await connection.answer()).status, 100);
  return connection;
}

test('a body of less than 1 KiB a second is given up, and one of just that much is not', async () => {
  const { key } = await gateway.newCaller();
  const body = bodyOf(BODY_BYTES);
  using steady = await upload(key, ['X-Request-Id: steady-one']);
  using slow = await upload(key, ['X-Request-Id: slow-one']);
  await steady.send(body.slice(0, WINDOW_BYTES));
  await slow.send(body.slice(0, WINDOW_BYTES - 1));
  // It is answered after what came before it on other connections was read.
  await gateway.call('GET', '/healthz');
  gateway.clock.advance(GRACE_S + WINDOW_S);
  // Both are looked at at once, and the one that began first before the other.
  refused(await slow.answer(), 408, 'request_header_timeout');
  await steady.send(body.slice(WINDOW_BYTES));
  refused(await steady.answer(), 404, 'model_not_found');
  slow.finish();
  const line = () =>
    captured
      .text()
      .split('\n')
      .find((each) => each.includes('slow-one'));
  await until(() => line() !== undefined);
  assert.match(line() ?? '', /"status":408.*"code":"request_header_timeout"/);
});

test('a form that comes too slowly is given up as well', async () => {
  const { key } = await gateway.newCaller();
  using connection = await RawConnection.open(gateway.url);
  const type = 'Content-Type: multipart/form-data; boundary=b';
  const headers = [`Authorization: Bearer ${key}`, type, 'Transfer-Encoding: chunked', 'Expect: 100-continue'];
  await connection.send(requestText('POST /v1/files', headers));
  assert.equal((await connection.answer()).status, 100);
  await connection.send('3\r\n--b\r\n');
  gateway.clock.advance(GRACE_S + WINDOW_S);
  refused(await connection.answer(), 408, 'request_header_timeout');
});

test('a body that is still coming after its refusal does not keep the connection', async () => {
  using connection = await RawConnection.open(gateway.url);
  await connection.send(requestText('POST /v1/chat/completions', [`Content-Length: ${BODY_BYTES}`]));
  refused(await connection.answer(), 401, 'missing_token');
  gateway.clock.advance(GRACE_S + WINDOW_S);
  assert.equal(await connection.end(), '');
});

describe('how many bodies may be under way', () => {
  async function begin(count: number, start: () => Promise<RawConnection>): Promise<RawConnection[]> {
    const connections: RawConnection[] = [];
    for (let at = 0; at < count; at++) connections.push(await start());
    return connections;
  }

  async function assertOneTooMany(most: number, start: () => Promise<RawConnection>): Promise<void> {
    const first = await begin(most, start);
    const [last] = await begin(1, start);
    assert.ok(last !== undefined);
    const body = bodyOf(BODY_BYTES);
    try {
      gateway.clock.advance(GRACE_S);
      refused(await last.answer(), 429, 'too_many_concurrent_requests');
      for (const connection of first) {
        await connection.send(body);
        refused(await connection.answer(), 404, 'model_not_found');
      }
    } finally {
      for (const connection of [...first, last]) connection[Symbol.dispose]();
    }
  }

  const busy = { key: { concurrency: 1000, rpm: 10_000 } };

  test(`${UPLOADS_PER_ACCOUNT_MAX} of one account are waited for, wherever they come from, and one more is not`, async () => {
    const { key, accountId } = await gateway.newCaller(busy);
    const other = await gateway.admin('POST', `/accounts/${accountId}/keys`, { name: 'other', ...busy.key });
    let count = 0;
    const start = () => upload(count % 2 === 0 ? key : other.json.key, [`X-Forwarded-For: 192.0.2.${++count}`]);
    await assertOneTooMany(UPLOADS_PER_ACCOUNT_MAX, start);
  });

  test(`${UPLOADS_PER_ADDRESS_MAX} of one address are waited for, whoever sends them, and one more is not`, async () => {
    const callers = await Promise.all(Array.from({ length: 5 }, () => gateway.newCaller(busy)));
    let count = 0;
    const start = () => upload(callers[count++ % callers.length]?.key ?? '', ['X-Forwarded-For: 198.51.100.7']);
    await assertOneTooMany(UPLOADS_PER_ADDRESS_MAX, start);
  });

  test('those of the first seconds are not counted', async () => {
    const { key } = await gateway.newCaller(busy);
    const all = await begin(UPLOADS_PER_ACCOUNT_MAX + 10, () => upload(key, ['X-Forwarded-For: 203.0.113.1']));
    const body = bodyOf(BODY_BYTES);
    for (const connection of all) {
      await connection.send(body);
      refused(await connection.answer(), 404, 'model_not_found');
      connection[Symbol.dispose]();
    }
  });
});

test('an operator’s body is held to the same pace', async () => {
  using connection = await RawConnection.open(gateway.url);
  const headers = [`Authorization: Bearer ${ADMIN_TOKEN}`, 'Content-Length: 1000', 'Expect: 100-continue'];
  await connection.send(requestText('POST /api/admin/accounts', headers));
  assert.equal((await connection.answer()).status, 100);
  gateway.clock.advance(GRACE_S + WINDOW_S);
  refused(await connection.answer(), 408, 'request_header_timeout');
});
