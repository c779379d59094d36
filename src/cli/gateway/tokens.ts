import { systemClock } from '../../clock.ts';
import { CommandError } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import type { Connection } from './connection.ts';
import type { Profiles, Tokens } from './profiles.ts';

/** Before its end, so that it does not end on the way. */
const SPARE_SECONDS = 60;

/** Errors of the token endpoint have the shape of RFC 6749. */
export interface TokenAnswer {
  readonly access_token?: string;
  readonly refresh_token?: string;
  readonly expires_in?: number;
  readonly scope?: string;
  readonly error?: string;
  readonly error_description?: string;
}

export async function postForm<Value>(
  connection: Connection,
  path: string,
  form: Record<string, string>,
): Promise<Value> {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const body = new URLSearchParams(form).toString();
  const answer = await connection.send('POST', connection.address + path, { headers, body });
  const text = await answer.body.text();
  try {
    return JSON.parse(text) as Value;
  } catch {
    throw new CommandError(`${connection.address}${path} answered ${answer.status} and no JSON.`, {
      exitCode: EXIT.unreachable,
    });
  }
}

export function tokensOf(answer: TokenAnswer, clientId: string): Tokens | undefined {
  const { access_token, refresh_token, expires_in = 0 } = answer;
  if (access_token === undefined || refresh_token === undefined) return undefined;
  return { access_token, refresh_token, expires_at: nowSeconds() + expires_in, client_id: clientId };
}

/** The access token of a device login, refreshed where it is about to end. */
export async function currentAccessToken(connection: Connection, profiles: Profiles): Promise<string | undefined> {
  const { address } = connection;
  const { tokens } = profiles.of(address) ?? {};
  if (tokens === undefined || isFresh(tokens)) return tokens?.access_token;
  return profiles.locked(async () => {
    // Another process may have refreshed it while this one waited for the lock.
    const profile = profiles.of(address) ?? {};
    const stored = profile.tokens ?? tokens;
    if (isFresh(stored)) return stored.access_token;
    const form = { grant_type: 'refresh_token', refresh_token: stored.refresh_token, client_id: stored.client_id };
    const answer = await postForm<TokenAnswer>(connection, '/oauth/token', form);
    const renewed = tokensOf(answer, stored.client_id);
    if (renewed === undefined) throw ended(address, answer);
    profiles.replace(address, { ...profile, tokens: renewed });
    return renewed.access_token;
  });
}

function isFresh({ expires_at }: Tokens): boolean {
  return expires_at - SPARE_SECONDS > nowSeconds();
}

function nowSeconds(): number {
  return Math.floor(systemClock.nowMs() / 1000);
}

function ended(address: string, { error = 'no token' }: TokenAnswer): CommandError {
  const message = `The login at ${address} has ended (${error}). Run "tollgate login --url ${address}" again.`;
  return new CommandError(message, { exitCode: EXIT.credential, code: error });
}
