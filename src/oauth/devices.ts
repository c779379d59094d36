import type { Actor } from '../audit/index.ts';
import type { Queries } from '../db/index.ts';
import type { OauthDeps } from './deps.ts';
import { digestOf } from './digest.ts';
import { type Consent, giveConsent } from './grants.ts';
import { findDevice, lockDevice, saveDevice } from './records-store.ts';

/** A device that waits for a person's decision (RFC 8628). */
export interface PendingDevice {
  /** As the device shows it. */
  readonly userCode: string;
  readonly clientId: string;
  readonly scopes: readonly string[];
}

/** Undefined for a code that never was, has expired, or was answered. Letters are taken in either case, signs are passed over. */
export async function findPendingDevice(
  queries: Queries,
  enteredCode: string,
  now: Date,
): Promise<PendingDevice | undefined> {
  const code = normalized(enteredCode);
  const device = await findDevice(queries, digestOf(code), now);
  if (device === undefined) return undefined;
  const { clientId, scope } = device;
  return { userCode: `${code.slice(0, 4)}-${code.slice(4)}`, clientId, scopes: (scope ?? '').split(' ') };
}

/** The grant and the device's answer are one change. False when it was answered or has expired meanwhile. */
export async function allowDevice(
  deps: OauthDeps,
  by: Actor,
  { clientId, scopes, userCode }: PendingDevice,
  consent: Omit<Consent, 'clientId' | 'scopes'>,
): Promise<boolean> {
  return deps.db.transaction(async (tx) => {
    const digest = digestOf(normalized(userCode));
    const waiting = await lockDevice(tx, digest, deps.clock.now());
    if (waiting === undefined) return false;
    const grant = await giveConsent(tx, deps, by, { ...consent, clientId, scopes });
    const answer = { accountId: consent.personId, grantId: grant.id, scope: scopes.join(' ') };
    await saveDevice(tx, digest, { payload: { ...waiting.payload, ...answer }, grantId: grant.id });
    return true;
  });
}

/** False when it was answered or has expired meanwhile. */
export async function denyDevice({ db, clock }: OauthDeps, { userCode }: PendingDevice): Promise<boolean> {
  return db.transaction(async (tx) => {
    const digest = digestOf(normalized(userCode));
    const waiting = await lockDevice(tx, digest, clock.now());
    if (waiting === undefined) return false;
    const answer = { error: 'access_denied', errorDescription: 'The person did not allow it.' };
    await saveDevice(tx, digest, { payload: { ...waiting.payload, ...answer }, grantId: null });
    return true;
  });
}

function normalized(enteredCode: string): string {
  return enteredCode.toUpperCase().replace(/\W/g, '');
}
