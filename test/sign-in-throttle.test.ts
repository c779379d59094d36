import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { Agent, request } from 'undici';
import { BUCKETS_MAX, SIGN_INS_PER_ADDRESS_RPM, SIGN_INS_PER_EMAIL_RPM, SIGN_INS_RPM } from '../src/limits.ts';
import type { Throttle } from '../src/throttle/index.ts';
// Before what derives, as its own comment says.
import { derivations } from './support/derivations.ts';
import { Gateway } from './support/gateway.ts';

const GUESSES = 10_000;
const AT_ONCE = 32;

let gateway: Gateway;
const agent = new Agent({ connections: AT_ONCE });
before(async () => {
  gateway = await Gateway.start({ settings: { TOLLGATE_TRUSTED_PROXIES: '127.0.0.1' } });
});
after(async () => {
  await agent.destroy();
  await gateway.stop();
});
beforeEach(() => {
  // Every bucket is full again, and none fills during a test: the clock stands.
  gateway.clock.advance(60);
  derivations.count = 0;
});

/** How often each status was answered to so many guesses, the names and addresses of which are given by number. */
async function guess(
  count: number,
  guessed: (number: number) => { readonly email: string; readonly address: string },
): Promise<Record<number, number>> {
  const statuses: Record<number, number> = {};
  let next = 0;
  const send = async () => {
    while (next < count) {
      const { email, address } = guessed(next++);
      const { statusCode, body } = await request(`${gateway.url}/sign-in`, {
        method: 'POST',
        dispatcher: agent,
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          origin: gateway.config.publicUrl,
          'x-forwarded-for': address,
        },
        body: new URLSearchParams({ email, password: 'a wrong password' }).toString(),
      });
      await body.dump();
      statuses[statusCode] = (statuses[statusCode] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, send));
  return statuses;
}

async function refusals(): Promise<number> {
  const { data } = (await gateway.admin('GET', '/audit?limit=100')).json;
  return data.filter(({ action, at }: { action: string; at: number }) => {
    return action === 'session.refused' && at * 1000 === gateway.clock.nowMs();
  }).length;
}

test('10,000 guesses at one account cost as many derivations as its allowance, and leave as many rows in the audit', async () => {
  await gateway.admin('POST', '/accounts', {
    name: 'Ada',
    email: 'ada@example.com',
    password: 'correct horse battery',
  });
  derivations.count = 0;
  const statuses = await guess(GUESSES, (number) => ({ email: 'ada@example.com', address: `10.0.0.${number % 250}` }));
  assert.deepEqual(statuses, { 401: SIGN_INS_PER_EMAIL_RPM, 429: GUESSES - SIGN_INS_PER_EMAIL_RPM });
  assert.equal(derivations.count, SIGN_INS_PER_EMAIL_RPM);
  assert.equal(await refusals(), SIGN_INS_PER_EMAIL_RPM);
});

test('10,000 guesses at 1,000 accounts from one address cost as many derivations as the address’s allowance', async () => {
  const statuses = await guess(GUESSES, (number) => ({
    email: `person-${number % 1000}@example.com`,
    address: '203.0.113.9',
  }));
  // Some of the allowance may be refused for want of a slot, since so many come at once.
  const { 401: checked = 0, 429: refused = 0 } = statuses;
  assert.ok(checked > 0 && checked <= SIGN_INS_PER_ADDRESS_RPM, `${checked} of ${GUESSES}`);
  assert.deepEqual([derivations.count, await refusals(), refused], [checked, checked, GUESSES - checked]);
});

test('guesses from every address of an IPv6 network count for one', async () => {
  const statuses = await guess(1000, (number) => ({
    email: `person-${number}@example.com`,
    address: `2001:db8:1:2::${number.toString(16)}`,
  }));
  assert.ok((statuses[401] ?? 0) <= SIGN_INS_PER_ADDRESS_RPM);
  assert.equal(derivations.count, statuses[401]);
});

test('10,000 guesses from as many addresses at as many accounts cost no more than the process allows itself', async () => {
  await guess(GUESSES, (number) => ({
    email: `person-${number}@example.com`,
    address: `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}`,
  }));
  assert.ok(derivations.count <= SIGN_INS_RPM, `${derivations.count} derivations`);
});

test('100,000 emails that are guessed from one address leave as many buckets as its allowance', async () => {
  // The rule itself, without the sockets: what the throttle is asked for is what it keeps.
  const { MemoryThrottle } = await import('../src/throttle/index.ts');
  const { takeTurn } = await import('../src/people/turn.ts');
  const memory = new MemoryThrottle(gateway.clock);
  const subjects = new Set<string>();
  const throttle: Throttle = {
    status: memory.status,
    take: (subject, allowance) => {
      subjects.add(subject);
      return memory.take(subject, allowance);
    },
  };
  const turn = (address: string, number: number) =>
    takeTurn({ throttle }, 'sign-in', { address, email: `${'x'.repeat(200)}${number}@example.com` }).catch(
      () => undefined,
    );
  for (let number = 0; number < 100_000; number++) await turn('203.0.113.9', number);
  assert.equal(subjects.size, 1 + SIGN_INS_PER_ADDRESS_RPM);
  // From as many addresses there is one for each email, of the same few characters: BUCKETS_MAX then bounds them.
  subjects.clear();
  for (let number = 0; number < 1000; number++) await turn(`10.0.${number >> 8}.${number & 255}`, number);
  assert.equal(subjects.size, 2000);
  assert.ok([...subjects].every((subject) => subject.length < 64));
  assert.ok(BUCKETS_MAX <= 200_000);
});
