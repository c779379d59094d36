import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Gateway } from '../../../test/support/gateway.ts';
import {
  chatBody,
  moneyOf,
  OpenStream,
  paidCaller,
  spentInTheEnd,
  tokenModel,
} from '../../../test/support/paid-calls.ts';
import { OpenAiEmulator } from '../openai/emulator.ts';
import { CohereEmulator, refusal } from './emulator.ts';

const KEY = 'co-key';
const CHAT = '/v1/chat/completions';
const [input, output] = [4, 2];
const PRICE = (input + 1 + 4 * output) / 1000;

describe('in the whole program', () => {
  const cohere = new CohereEmulator(KEY);
  const spare = new OpenAiEmulator({ embeds: 'openai' });
  let gateway: Gateway;
  before(async () => {
    await Promise.all([cohere.start(), spare.start()]);
    gateway = await Gateway.start();
    await gateway.putConfig({
      upstreams: [
        { id: 'first', vendor: 'cohere', base_url: cohere.url, api_key: KEY, priority: 10 },
        { id: 'spare', vendor: 'openai', base_url: spare.url, priority: 5 },
      ],
      models: [
        tokenModel('house/writer', ['first', 'spare']),
        tokenModel('house/vectors', ['first', 'spare'], { endpoints: ['embeddings'] }),
      ],
    });
  });
  after(async () => {
    await gateway.stop();
    await Promise.all([cohere.stop(), spare.stop()]);
  });

  test('a whole answer and a stream cost what was billed', async () => {
    const caller = await paidCaller(gateway);
    const whole = await gateway.call('POST', CHAT, { key: caller.key, body: chatBody('house/writer') });
    assert.equal(whole.status, 200, whole.text);
    assert.equal(whole.json.choices[0].message.content, 'Good day.');
    assert.equal((await moneyOf(gateway, caller)).spent, PRICE);
    await using stream = await OpenStream.open(gateway, CHAT, {
      key: caller.key,
      body: chatBody('house/writer', { stream: true }),
    });
    assert.match((await stream.rest()).text, /day\./);
    assert.equal(await spentInTheEnd(gateway, caller), 2 * PRICE);
  });

  test('vectors are made, and an empty account is another upstream’s chance and no word to the caller', async () => {
    const caller = await paidCaller(gateway);
    const embed = () =>
      gateway.call('POST', '/v1/embeddings', { key: caller.key, body: { model: 'house/vectors', input: 'One' } });
    const made = await embed();
    assert.equal(made.status, 200, made.text);
    assert.equal(made.json.data[0].embedding.length, 1536);
    cohere.script({ kind: 'instead', ...refusal(402, 'please add a payment method') });
    const other = await gateway.call('POST', CHAT, { key: caller.key, body: chatBody('house/writer') });
    assert.equal(other.status, 200, other.text);
    assert.equal(other.json.choices[0].message.content, 'Hello there.');
    assert.doesNotMatch(other.text, /payment|cohere/i);
  });
});
