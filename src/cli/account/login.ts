import { Writable } from 'node:stream';
import { text as readAll } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { SCOPES } from '../../scopes.ts';
import { CommandError, type Invocation, UsageError } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { connectWithout } from '../gateway/connect.ts';
import type { Connection } from '../gateway/connection.ts';
import { type Profile, Profiles, type Tokens } from '../gateway/profiles.ts';
import { openTerminal } from '../gateway/terminal.ts';
import { postForm, type TokenAnswer, tokensOf } from '../gateway/tokens.ts';
import { print } from '../output.ts';

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
/** RFC 8628: the interval where the server names none, and what `slow_down` adds to it. */
const INTERVAL_SECONDS = 5;

/** Stores a key, the tokens of a device login, or the admin token for one address. */
export async function loginCommand(invocation: Invocation): Promise<number> {
  const { options, environment } = invocation;
  const client = options.client ?? (environment.TOLLGATE_CLIENT || undefined);
  if (client !== undefined && options.admin !== undefined)
    throw new UsageError('--admin and --client exclude each other.');
  const connection = connectWithout(invocation);
  const profile =
    client === undefined ? await credentialOf(invocation) : { tokens: await deviceLogin(connection, client, options) };
  const profiles = new Profiles(environment);
  await profiles.save(connection.address, profile);
  const [kind] = Object.keys(profile);
  print(options, { address: connection.address, stored: kind, path: profiles.path }, () => [
    `Logged in at ${connection.address}. The credential is in ${profiles.path}, which only you can read.`,
  ]);
  return EXIT.done;
}

export async function logoutCommand(invocation: Invocation): Promise<number> {
  const connection = connectWithout(invocation);
  const { address } = connection;
  const profiles = new Profiles(invocation.environment);
  const tokens = profiles.of(address)?.tokens;
  if (tokens !== undefined) await revoke(connection, tokens);
  const wasThere = await profiles.remove(address);
  print(invocation.options, { address, removed: wasThere }, () =>
    wasThere ? `Logged out of ${address}.` : `Nothing was stored for ${address}.`,
  );
  return EXIT.done;
}

/** RFC 7009: a refresh token ends the whole grant. A gateway that is away does not keep the file from being cleared. */
async function revoke(connection: Connection, { refresh_token, client_id }: Tokens): Promise<void> {
  const form = { token: refresh_token, client_id };
  await postForm(connection, '/oauth/revoke', form).catch(() => undefined);
}

/** A key or the admin token, from standard input and never from the command line, where others could read it. */
async function credentialOf(invocation: Invocation): Promise<Profile> {
  const isAdmin = invocation.options.admin !== undefined;
  const secret = await readSecret(isAdmin ? 'Admin token: ' : 'API key: ', invocation.signal);
  if (secret === '') throw new UsageError('tollgate login needs a key, typed or on standard input.');
  await connectWithout(invocation, secret).get(isAdmin ? '/api/admin/config/schema' : '/v1/key');
  return isAdmin ? { admin_token: secret } : { key: secret };
}

async function readSecret(prompt: string, signal: AbortSignal): Promise<string> {
  if (!process.stdin.isTTY) return (await readAll(process.stdin)).trim();
  // What is typed is not shown: the reader writes its echo to nowhere.
  const nowhere = new Writable({ write: (_piece, _encoding, done) => done() });
  const terminal = openTerminal(nowhere, '', signal);
  process.stderr.write(prompt);
  try {
    for await (const line of terminal) return line.trim();
    signal.throwIfAborted();
    return '';
  } finally {
    terminal.close();
    process.stderr.write('\n');
  }
}

interface DeviceCode {
  readonly device_code?: string;
  readonly user_code: string;
  readonly verification_uri: string;
  readonly verification_uri_complete?: string;
  readonly expires_in: number;
  readonly interval?: number;
  readonly error?: string;
  readonly error_description?: string;
}

/** The device flow (RFC 8628): a person allows this program in a browser, on this machine or another. */
async function deviceLogin(connection: Connection, client: string, options: Invocation['options']): Promise<Tokens> {
  const form = { client_id: client, scope: options.scope ?? SCOPES.join(' ') };
  const begun = await postForm<DeviceCode>(connection, '/oauth/device', form);
  const { device_code, user_code, verification_uri, verification_uri_complete = verification_uri } = begun;
  if (device_code === undefined) throw loginRefusal(begun.error, begun.error_description);
  process.stderr.write(`Open ${verification_uri_complete}\nand allow the code ${user_code}.\n`);
  let seconds = begun.interval ?? INTERVAL_SECONDS;
  const deadline = performance.now() + begun.expires_in * 1000;
  while (performance.now() < deadline) {
    await pause(seconds * 1000, undefined, { signal: connection.signal });
    const poll = { grant_type: DEVICE_GRANT, device_code, client_id: client };
    const answer = await postForm<TokenAnswer>(connection, '/oauth/token', poll);
    const tokens = tokensOf(answer, client);
    if (tokens !== undefined) return tokens;
    if (answer.error === 'slow_down') seconds += INTERVAL_SECONDS;
    else if (answer.error !== 'authorization_pending') throw loginRefusal(answer.error, answer.error_description);
  }
  throw new CommandError('The code has expired. Run "tollgate login" again.', { exitCode: EXIT.timeout });
}

function loginRefusal(code = 'no_answer', description = 'The login was refused.'): CommandError {
  const message = code === 'access_denied' ? 'The login was denied in the browser.' : description;
  return new CommandError(`${message} (${code})`, { exitCode: EXIT.credential, code });
}
