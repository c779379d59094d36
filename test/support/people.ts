import assert from 'node:assert/strict';
import { Browser } from './browser.ts';
import type { Answer, CallOptions, Gateway } from './gateway.ts';

export const PASSWORD = 'correct horse battery';

/** A person who is signed in, and the account that their session works in. */
export interface SignedInPerson {
  readonly browser: Browser;
  readonly id: string;
  readonly email: string;
  readonly accountId: string;
  /** What the browser sends with every request of one of our pages. */
  readonly headers: Readonly<Record<string, string>>;
  /** A console route; the answer is held to the published contract. */
  readonly call: (method: string, path: string, body?: unknown, options?: CallOptions) => Promise<Answer>;
}

let people = 0;

/** With an account of their own. */
export async function newOwner(gateway: Gateway, settings: object = {}): Promise<SignedInPerson> {
  const email = `owner-${++people}@example.com`;
  const account = await gateway.admin('POST', '/accounts', {
    name: `Owner ${people}`,
    email,
    password: PASSWORD,
    ...settings,
  });
  assert.equal(account.status, 200, account.text);
  return signedIn(gateway, email, account.json.id);
}

/** Joins the account of `host` by invitation. */
export async function newMember(gateway: Gateway, host: SignedInPerson, role: string): Promise<SignedInPerson> {
  const email = `${role}-${++people}@example.com`;
  const { json } = await host.call('POST', '/invitations', { email, role });
  const browser = new Browser(gateway.url, gateway.config.publicUrl);
  await browser.submit(await browser.open(new URL(json.url).pathname), { name: role, password: PASSWORD });
  return signedIn(gateway, email, host.accountId);
}

/** An operator of the deployment who belongs to no account. */
export async function newOperator(gateway: Gateway, operatorRole = 'operator'): Promise<SignedInPerson> {
  const email = `${operatorRole}-${++people}@example.com`;
  const { json } = await gateway.admin('POST', '/operators', { email, operator_role: operatorRole });
  const browser = new Browser(gateway.url, gateway.config.publicUrl);
  await browser.submit(await browser.open(new URL(json.url).pathname), { name: operatorRole, password: PASSWORD });
  return signedIn(gateway, email, '');
}

/** One more session of a person. */
export async function signedIn(gateway: Gateway, email: string, accountId: string): Promise<SignedInPerson> {
  const browser = new Browser(gateway.url, gateway.config.publicUrl);
  // All requests come from the one address of the tests, whose allowance fills with time.
  gateway.clock.advance(60);
  await browser.submit(await browser.open('/sign-in'), { email, password: PASSWORD });
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const session = await gateway.call('GET', '/api/console/session', { headers: { cookie } });
  assert.equal(session.status, 200, session.text);
  const origin = new URL(gateway.config.publicUrl).origin;
  const headers = { cookie, origin, 'x-csrf-token': session.json.csrf_token };
  return {
    browser,
    id: session.json.person.id,
    email,
    accountId,
    headers,
    call: (method, path, body, options = {}) =>
      gateway.call(method, `/api/console${path}`, {
        body,
        ...options,
        headers: { ...headers, ...options.headers },
      }),
  };
}
