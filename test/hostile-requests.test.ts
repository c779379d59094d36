import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { Gateway } from './support/gateway.ts';
import { paidCaller } from './support/paid-calls.ts';
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
