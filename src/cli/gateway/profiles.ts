import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { systemClock } from '../../clock.ts';
import type { Environment } from '../../config.ts';
import { CommandError } from '../command.ts';
import { reasonOf } from '../finding.ts';

const LOCK_MS_MAX = 15_000;
const LOCK_STALE_MS = 60_000;
const LOCK_LOOK_MS = 50;

/** What a person has for one gateway: a key, or the tokens of a device login; an operator's token beside it. */
export interface Profile {
  readonly key?: string;
  readonly tokens?: Tokens;
  readonly admin_token?: string;
}

export interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
  /** Unix seconds. */
  readonly expires_at: number;
  readonly client_id: string;
}

interface Stored {
  /** The address of the last login. */
  readonly current?: string;
  readonly profiles: Readonly<Record<string, Profile>>;
}

/** The profiles of this user, by address, in one file that the user alone can read. */
export class Profiles {
  readonly path: string;

  constructor(environment: Environment) {
    const { XDG_CONFIG_HOME, HOME } = environment;
    this.path = join(XDG_CONFIG_HOME || join(HOME || homedir(), '.config'), 'tollgate', 'profiles.json');
  }

  get current(): string | undefined {
    return this.#read().current;
  }

  of(address: string): Profile | undefined {
    return this.#read().profiles[address];
  }

  /** Adds to what is stored of the address, which becomes the current one. */
  async save(address: string, change: Profile): Promise<void> {
    await this.locked(() => this.replace(address, { ...this.of(address), ...change }));
  }

  /** False where nothing was stored of it. */
  async remove(address: string): Promise<boolean> {
    return this.locked(() => {
      const { current, profiles } = this.#read();
      const { [address]: gone, ...rest } = profiles;
      if (gone === undefined) return false;
      this.#write({ ...(current !== undefined && current !== address && { current }), profiles: rest });
      return true;
    });
  }

  /** Only while the lock is held. */
  replace(address: string, profile: Profile): void {
    const { profiles } = this.#read();
    this.#write({ current: address, profiles: { ...profiles, [address]: profile } });
  }

  /** Runs under a lock file: two processes that refresh one token at once would revoke the grant. */
  async locked<Result>(work: () => Result | Promise<Result>): Promise<Result> {
    const lock = `${this.path}.lock`;
    mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
    const deadline = performance.now() + LOCK_MS_MAX;
    while (!tryLock(lock)) {
      if (performance.now() > deadline)
        throw new CommandError(`${lock} is held by another command. Delete it if none runs.`);
      await pause(LOCK_LOOK_MS);
    }
    try {
      return await work();
    } finally {
      rmSync(lock, { force: true });
    }
  }

  #read(): Stored {
    let text: string;
    try {
      text = readFileSync(this.path, 'utf8');
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return { profiles: {} };
      throw new CommandError(`${this.path} cannot be read: ${reasonOf(error)}.`);
    }
    try {
      const { current, profiles = {} } = JSON.parse(text) as Partial<Stored>;
      return { ...(current !== undefined && { current }), profiles };
    } catch {
      throw new CommandError(`${this.path} is not JSON. Delete it and log in again.`);
    }
  }

  /** Appears whole or not at all. */
  #write(stored: Stored): void {
    const draft = `${this.path}.${process.pid}`;
    writeFileSync(draft, `${JSON.stringify(stored, null, 2)}\n`, { mode: 0o600 });
    chmodSync(draft, 0o600);
    renameSync(draft, this.path);
  }
}

/** A lock that its process left behind when it was killed is removed after a minute. */
function tryLock(path: string): boolean {
  try {
    writeFileSync(path, String(process.pid), { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    const made = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
    if (made !== undefined && systemClock.nowMs() - made > LOCK_STALE_MS) rmSync(path, { force: true });
    return false;
  }
}
