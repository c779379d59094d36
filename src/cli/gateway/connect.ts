import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { withoutTrailingSlashes } from '../../addresses.ts';
import type { Environment } from '../../config.ts';
import { CommandError, type Invocation, UsageError } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { Connection } from './connection.ts';
import { Profiles } from './profiles.ts';
import { currentAccessToken } from './tokens.ts';

const DEFAULT_ADDRESS = 'http://127.0.0.1:8787';

/** Connects as an account: with TOLLGATE_KEY, else with what a login has stored for the address. */
export function connect(invocation: Invocation): Connection {
  const { environment, signal } = invocation;
  const profiles = new Profiles(environment);
  const key = environment.TOLLGATE_KEY || undefined;
  const address = addressOf(invocation, profiles, key !== undefined);
  const bearer = async () => {
    const found = key ?? profiles.of(address)?.key ?? (await currentAccessToken(connection, profiles));
    if (found !== undefined) return found;
    const message = `There is no key for ${address}. Set TOLLGATE_KEY, or run "tollgate login --url ${address}".`;
    throw new CommandError(message, { exitCode: EXIT.credential });
  };
  const connection = new Connection(address, bearer, signal);
  return connection;
}

/** Connects as operator: with the first TOLLGATE_ADMIN_TOKEN, a stored one, or that of a data folder on this machine. */
export function connectOperator(invocation: Invocation): Connection {
  const { environment, signal } = invocation;
  const profiles = new Profiles(environment);
  const token = tokenFromSettings(environment);
  const address = addressOf(invocation, profiles, token !== undefined);
  const bearer = async () => {
    const found = token ?? profiles.of(address)?.admin_token ?? (await tokenOfDataFolder(address, environment));
    if (found !== undefined) return found;
    const message = `There is no admin token for ${address}. Set TOLLGATE_ADMIN_TOKEN, or run "tollgate login --admin".`;
    throw new CommandError(message, { exitCode: EXIT.credential });
  };
  return new Connection(address, bearer, signal);
}

/** For a login: where it goes to, without a credential. */
export function connectWithout(invocation: Invocation, bearer?: string): Connection {
  const address = addressOf(invocation, new Profiles(invocation.environment), false);
  return new Connection(address, async () => bearer, invocation.signal);
}

/** A credential from the environment never goes to the address of a stored login: the two belong to different gateways. */
function addressOf({ options, environment }: Invocation, profiles: Profiles, isFromSettings: boolean): string {
  const text = options.url ?? (environment.TOLLGATE_URL || undefined);
  if (text !== undefined) return checkedAddress(text);
  return (isFromSettings ? undefined : profiles.current) ?? DEFAULT_ADDRESS;
}

function checkedAddress(text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw new UsageError(`"${text}" is no address such as https://api.example.com.`);
  }
  return withoutTrailingSlashes(text);
}

function tokenFromSettings(environment: Environment): string | undefined {
  const { TOLLGATE_ADMIN_TOKEN, TOLLGATE_ADMIN_TOKEN_FILE } = environment;
  const text = TOLLGATE_ADMIN_TOKEN || (TOLLGATE_ADMIN_TOKEN_FILE && readFileSync(TOLLGATE_ADMIN_TOKEN_FILE, 'utf8'));
  return text?.split(',')[0]?.trim() || undefined;
}

/** It leaves this machine for no other. */
async function tokenOfDataFolder(address: string, { TOLLGATE_DATA }: Environment): Promise<string | undefined> {
  if (!/^(127\.\d+\.\d+\.\d+|localhost|\[::1\])$/.test(new URL(address).hostname)) return undefined;
  const { readKeptSecret } = await import('../../data-folder.ts');
  return readKeptSecret(resolve(TOLLGATE_DATA || './data'), 'admin-token')?.reveal();
}
