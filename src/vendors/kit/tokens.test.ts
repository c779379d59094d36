import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { UpstreamError } from '../../errors.ts';
import { TOKEN_AHEAD_MS, TOKEN_RETRY_MS, TOKENS_MAX } from '../../limits.ts';
import { asTokenFault, type Token, TokenCache } from './tokens.ts';

const LIFETIME_MS = 3_600_000;

let nowMs: number;
let cache: TokenCache;
let fetches: PromiseWithResolvers<Token>[];
const { signal } = new AbortController();

beforeEach(() => {
  nowMs = 0;
  fetches = [];
  cache = new TokenCache(() => nowMs);
});

function take(key = 'a', during = signal): Promise<string> {
  return cache.take(key, during, () => {
    const fetch = Promise.withResolvers<Token>();
    fetches.push(fetch);
    return fetch.promise;
  });
}

async function first(value = 'one'): Promise<void> {
  const taken = take();
  fetches[0]?.resolve({ value, lifetimeMs: LIFETIME_MS });
  assert.equal(await taken, value);
}

test('calls that come together share one refresh', async () => {
  const taken = [take(), take(), take()];
  assert.equal(fetches.length, 1);
  fetches[0]?.resolve({ value: 'one', lifetimeMs: LIFETIME_MS });
  assert.deepEqual(await Promise.all(taken), ['one', 'one', 'one']);
  assert.equal(await take(), 'one');
  assert.equal(fetches.length, 1);
});

test('each credential has a token of its own', async () => {
  const [one, other] = [take('a'), take('b')];
  fetches[0]?.resolve({ value: 'one', lifetimeMs: LIFETIME_MS });
  fetches[1]?.resolve({ value: 'other', lifetimeMs: LIFETIME_MS });
  assert.deepEqual(await Promise.all([one, other]), ['one', 'other']);
});

test('a token is renewed in the background before it ends, once for all calls', async () => {
  await first();
  nowMs = LIFETIME_MS - TOKEN_AHEAD_MS - 1;
  assert.equal(await take(), 'one');
  assert.equal(fetches.length, 1);
  nowMs += 1;
  assert.deepEqual(await Promise.all([take(), take()]), ['one', 'one']);
  assert.equal(fetches.length, 2);
  fetches[1]?.resolve({ value: 'two', lifetimeMs: LIFETIME_MS });
  await fetches[1]?.promise;
  await Promise.resolve();
  assert.equal(await take(), 'two');
});

test('a short token is renewed at half of its life', async () => {
  const taken = take();
  fetches[0]?.resolve({ value: 'one', lifetimeMs: 100_000 });
  await taken;
  nowMs = 49_999;
  await take();
  assert.equal(fetches.length, 1);
  nowMs = 50_000;
  await take();
  assert.equal(fetches.length, 2);
});

test('a renewal that fails is tried again later, and told when the token has ended', async () => {
  await first();
  nowMs = LIFETIME_MS - TOKEN_AHEAD_MS;
  await take();
  fetches[1]?.reject(new UpstreamError('server', 'down'));
  await assert.rejects(fetches[1]?.promise ?? Promise.resolve());
  nowMs += TOKEN_RETRY_MS - 1;
  assert.equal(await take(), 'one');
  assert.equal(fetches.length, 2, 'not yet again');
  nowMs += 1;
  assert.equal(await take(), 'one');
  assert.equal(fetches.length, 3);
  nowMs = LIFETIME_MS;
  const late = take();
  fetches[2]?.reject(new UpstreamError('server', 'still down'));
  await assert.rejects(late, { fault: 'server', message: 'still down' });
  const next = take();
  fetches[3]?.resolve({ value: 'two', lifetimeMs: LIFETIME_MS });
  assert.equal(await next, 'two', 'a failure is not remembered');
});

test('a call that is given up stops waiting, and the others get the token', async () => {
  const leaving = new AbortController();
  const [left, stayed] = [take('a', leaving.signal), take('a')];
  leaving.abort();
  await assert.rejects(left, { name: 'AbortError' });
  fetches[0]?.resolve({ value: 'one', lifetimeMs: LIFETIME_MS });
  assert.equal(await stayed, 'one');
  await assert.rejects(take('b', leaving.signal), { name: 'AbortError' });
});

test('a token that was refused is fetched again, unless it came just now', async () => {
  await first();
  cache.drop('a');
  assert.equal(await take(), 'one');
  nowMs = TOKEN_RETRY_MS;
  cache.drop('a');
  const taken = take();
  fetches[1]?.resolve({ value: 'two', lifetimeMs: LIFETIME_MS });
  assert.equal(await taken, 'two');
});

test('the cache is bounded', async () => {
  await first();
  for (let at = 0; at < TOKENS_MAX; at += 1) {
    const taken = take(`other-${at}`);
    fetches.at(-1)?.resolve({ value: 'x', lifetimeMs: LIFETIME_MS });
    await taken;
  }
  const again = take('a');
  fetches.at(-1)?.resolve({ value: 'again', lifetimeMs: LIFETIME_MS });
  assert.equal(await again, 'again');
});

for (const [fault, becomes] of [
  ['client', 'account'],
  ['config', 'account'],
  ['account', 'account'],
  ['rate', 'rate'],
  ['timeout', 'timeout'],
  ['server', 'server'],
] as const) {
  test(`a token that is not given by a fault of ${fault} is ${becomes}, in words and certain`, async () => {
    const refusing = asTokenFault('login.test', () => Promise.reject(new UpstreamError(fault, 'AADSTS1')));
    await assert.rejects(refusing, {
      fault: becomes,
      message: 'no token from login.test: AADSTS1',
      isUncertain: false,
    });
  });
}
