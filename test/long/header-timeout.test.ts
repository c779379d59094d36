import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Gateway } from '../support/gateway.ts';
import { RawConnection, requestText } from '../support/raw-http.ts';

// Of the long tier because the limit of half a minute is that of the HTTP parser, whose clock no test moves.

let gateway: Gateway;
before(async () => {
  gateway = await Gateway.start();
});
after(() => gateway.stop());

test('R-021: who has not sent all headers after half a minute is told so, also after a request that was answered', async () => {
  using silent = await RawConnection.open(gateway.url);
  using slow = await RawConnection.open(gateway.url);
  using slowAgain = await RawConnection.open(gateway.url);
  await slow.send('GET /healthz HTTP/1.1\r\nHost: gate\r\nX-Half: ');
  await slowAgain.send(requestText('GET /healthz'));
  assert.equal((await slowAgain.answer()).status, 200);
  await slowAgain.send('GET /healthz HTTP/1.1\r\nHost: gate\r\nX-Half: ');
  for (const connection of [silent, slow, slowAgain]) {
    const answer = await connection.answer();
    assert.deepEqual([answer.status, answer.json?.error.code], [408, 'request_header_timeout'], answer.text);
    assert.match(answer.headers['x-request-id'] ?? '', /^req_/);
    assert.equal(await connection.end(), '');
  }
});
