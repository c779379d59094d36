import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { pino } from 'pino';
import { OpenAiEmulator } from '../src/vendors/openai/emulator.ts';
import { Gateway, type NewCaller } from './support/gateway.ts';
import { chatBody, paidCaller, tokenModel } from './support/paid-calls.ts';
import { until } from './support/postgres.ts';

type Line = Record<string, unknown>;

const CHAT = '/v1/chat/completions';
const lines: Line[] = [];
const log = pino({ level: 'info', base: null }, { write: (line) => lines.push(JSON.parse(line)) });
const upstream = new OpenAiEmulator();
let gateway: Gateway;
let caller: NewCaller;

before(async () => {
  await upstream.start();
  gateway = await Gateway.start({ log, settings: { TOLLGATE_SLOW_REQUEST_MS: '1' } });
  caller = await paidCaller(gateway);
  await gateway.putConfig({
    upstreams: [{ id: 'main', vendor: 'openai', base_url: upstream.url }],
    models: [tokenModel('talker', ['main'])],
  });
});
after(async () => {
  await gateway.stop();
  await upstream.stop();
});
beforeEach(() => {
  lines.length = 0;
});

async function slowLine(requestId: string | undefined): Promise<Line> {
  const find = () => lines.find(({ msg, request_id: id }) => msg === 'slow request' && id === requestId);
  await until(async () => find() !== undefined);
  return find() ?? assert.fail();
}

for (const stream of [false, true]) {
  test(`a slow chat leaves one line of where the time went, ${stream ? 'streamed' : 'whole'}`, async () => {
    const answer = await gateway.call('POST', CHAT, { key: caller.key, body: chatBody('talker', { stream }) });
    const line = await slowLine(answer.headers['x-request-id']);
    assert.deepEqual([line.route, line.model, line.status, line.upstream], [CHAT, 'talker', 200, 'main']);
    for (const phase of ['ms', 'auth_ms', 'hold_ms', 'upstream_ms', 'settle_ms']) {
      assert.equal(typeof line[phase], 'number', `${phase} in ${JSON.stringify(line)}`);
    }
    assert.equal(typeof line.first_byte_ms, stream ? 'number' : 'undefined');
    assert.ok(Number(line.ms) >= Number(line.auth_ms) + Number(line.hold_ms) + Number(line.upstream_ms));
    assert.equal(lines.filter(({ msg }) => msg === 'slow request').length, 1);
    assert.ok(!JSON.stringify(line).includes(caller.key));
  });
}

test('a threshold that no request reaches leaves no line, and neither does none', async () => {
  for (const slow of ['3600000', '0']) {
    const quick = await Gateway.start({
      log,
      database: gateway.database,
      settings: { TOLLGATE_SLOW_REQUEST_MS: slow },
    });
    const { headers } = await quick.call('GET', '/v1/models', { key: caller.key });
    const id = headers['x-request-id'];
    await until(async () => lines.some(({ request_id, route }) => request_id === id && route === '/v1/models'));
    assert.ok(!lines.some(({ msg, request_id }) => msg === 'slow request' && request_id === id));
    await quick.stop();
  }
});
