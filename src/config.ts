import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { isAddressRange, isHttpUrl, isOrigin, isPostgresUrl } from './addresses.ts';
import { ADMIN_TOKEN_CHARS_MIN, ADMIN_TOKENS_MAX, CONCURRENCY_MAX, JOB_MINUTES_MAX, RPM_MAX } from './limits.ts';
import type { LogLevel } from './log.ts';

/** The process's settings, read once from the environment. Every default is in this file. */
export interface Config {
  readonly port: number;
  readonly host: string;
  /** Without a trailing slash. */
  readonly publicUrl: string;
  readonly dataFolder: string;
  /** A path that must exist when given; undefined means `tollgate.yaml` if present, else the built-in catalogue. */
  readonly configFile: string | undefined;
  /** Any of them is the operator's; empty means the one that is kept in the data folder. */
  readonly adminTokens: readonly Secret[];
  readonly rootSecret: Secret | undefined;
  /** Opens what it sealed and verifies what it signed, while the root secret is being replaced. */
  readonly previousSecret: Secret | undefined;
  /** Undefined means the embedded server under the data folder. */
  readonly databaseUrl: Secret | undefined;
  /** Undefined means a folder under the data folder. */
  readonly s3: S3Settings | undefined;
  readonly defaultRpm: number;
  readonly defaultConcurrency: number;
  /** Of all access tokens of an account together. */
  readonly tokenRpm: number;
  readonly tokenConcurrency: number;
  /** Addresses and CIDR ranges whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[];
  readonly corsOrigins: readonly string[];
  /** The third credential header, in lower case. */
  readonly partnerKeyHeader: string;
  /** `host` or `host:port` that guarded fetches may reach although private. */
  readonly fetchAllow: readonly string[];
  /** How long an upstream may work on a job that it accepted. */
  readonly jobMinutes: { readonly image: number; readonly audio: number; readonly video: number };
  /** Negative keeps saved transcriptions for ever. */
  readonly transcriptDays: number;
  readonly testClock: boolean;
  readonly production: boolean;
  readonly logLevel: LogLevel;
}

/** Credentials are no settings of ours: the AWS SDK finds them where it always does. */
export interface S3Settings {
  readonly bucket: string;
  /** Without a trailing slash. Undefined means the original S3. */
  readonly endpoint: string | undefined;
  /** Undefined leaves it to the AWS SDK. */
  readonly region: string | undefined;
}

/** A value that must not be printed: it shows as a mark in logs, JSON and templates. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return '[secret]';
  }

  toJSON(): string {
    return '[secret]';
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return '[secret]';
  }
}

/** Every bad setting at once, each with its name and what was expected. Never holds a secret's value. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`Tollgate cannot start with these settings:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Throws ConfigError with every problem. */
export function loadConfig(env: Environment): Config {
  const settings = new Settings(env);
  const port = settings.integer('PORT', 8787, 0, 65_535);
  const host = settings.host('HOST', '127.0.0.1');
  const databaseUrl = settings.secret('DATABASE_URL');
  const production = env.NODE_ENV === 'production';
  const config: Config = {
    port,
    host,
    publicUrl: settings.origin('PUBLIC_URL', `http://${isIP(host) === 6 ? `[${host}]` : host}:${port}`),
    dataFolder: settings.text('TOLLGATE_DATA', './data'),
    configFile: settings.optional('TOLLGATE_CONFIG'),
    adminTokens: settings.adminTokens(),
    rootSecret: settings.secret('TOLLGATE_SECRET', 32),
    previousSecret: settings.secret('TOLLGATE_SECRET_PREVIOUS', 32),
    databaseUrl,
    s3: settings.s3(),
    defaultRpm: settings.integer('TOLLGATE_RPM', 60, 1, RPM_MAX),
    defaultConcurrency: settings.integer('TOLLGATE_CONCURRENCY', 15, 1, CONCURRENCY_MAX),
    tokenRpm: settings.integer('TOLLGATE_TOKEN_RPM', 60, 1, RPM_MAX),
    tokenConcurrency: settings.integer('TOLLGATE_TOKEN_CONCURRENCY', 15, 1, CONCURRENCY_MAX),
    trustedProxies: settings.list('TOLLGATE_TRUSTED_PROXIES', 'addresses or CIDR ranges', isAddressRange),
    corsOrigins: settings.list('TOLLGATE_CORS_ORIGINS', 'origins such as https://app.example.com', isOrigin),
    partnerKeyHeader: settings.header('TOLLGATE_PARTNER_KEY_HEADER', 'x-partner-api-key'),
    fetchAllow: settings.list('TOLLGATE_FETCH_ALLOW', 'entries host or host:port', (item) => /^[^\s/@]+$/.test(item)),
    jobMinutes: {
      image: settings.integer('TOLLGATE_IMAGE_MINUTES', 15, 1, JOB_MINUTES_MAX),
      audio: settings.integer('TOLLGATE_MUSIC_MINUTES', 30, 1, JOB_MINUTES_MAX),
      video: settings.integer('TOLLGATE_VIDEO_MINUTES', 120, 1, JOB_MINUTES_MAX),
    },
    transcriptDays: settings.integer('TOLLGATE_TRANSCRIPT_DAYS', 30, -1_000_000, 36_500),
    testClock: settings.flag('TOLLGATE_TEST_CLOCK'),
    production,
    logLevel: settings.choice('LOG_LEVEL', 'info', LOG_LEVELS),
  };
  if (config.testClock && production)
    settings.complain('TOLLGATE_TEST_CLOCK', 'cannot be used with NODE_ENV=production');
  if (databaseUrl !== undefined) settings.requireSharedSecrets(config);
  settings.refuseUnavailable();
  // No setting: where the commands that a start prints look for a caller's key, so it may well be there.
  settings.optional('TOLLGATE_KEY');
  settings.refuseUnknown();
  if (settings.problems.length > 0) throw new ConfigError(settings.problems);
  return Object.freeze(config);
}

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const satisfies LogLevel[];

class Settings {
  readonly problems: string[] = [];
  readonly #env: Environment;
  readonly #known = new Set<string>();

  constructor(env: Environment) {
    this.#env = env;
  }

  complain(name: string, problem: string): void {
    this.problems.push(`${name} ${problem}`);
  }

  optional(name: string): string | undefined {
    this.#known.add(name);
    const value = this.#env[name];
    return value === undefined || value === '' ? undefined : value;
  }

  text(name: string, fallback: string): string {
    const value = this.optional(name) ?? fallback;
    if (value.includes('\0')) this.complain(name, 'must not contain NUL');
    return value;
  }

  host(name: string, fallback: string): string {
    const value = this.optional(name) ?? fallback;
    if (isIP(value) !== 0 || /^[A-Za-z0-9._-]+$/.test(value)) return value;
    this.complain(name, `must be an address or a host name, not ${JSON.stringify(value)}`);
    return fallback;
  }

  integer(name: string, fallback: number, min: number, max: number): number {
    const text = this.optional(name);
    if (text === undefined) return fallback;
    const value = /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    this.complain(name, `must be a whole number from ${min} to ${max}, not ${JSON.stringify(text)}`);
    return fallback;
  }

  flag(name: string): boolean {
    return this.choice(name, '0', ['0', '1'] as const) === '1';
  }

  choice<Choice extends string>(name: string, fallback: Choice, choices: readonly Choice[]): Choice {
    const text = this.optional(name);
    const chosen = text === undefined ? fallback : choices.find((choice) => choice === text);
    if (chosen === undefined) this.complain(name, `must be one of ${choices.join(', ')}, not ${JSON.stringify(text)}`);
    return chosen ?? fallback;
  }

  list(name: string, expected: string, accepts: (item: string) => boolean): readonly string[] {
    const items = (this.optional(name) ?? '')
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '');
    const bad = items.filter((item) => !accepts(item));
    if (bad.length > 0) this.complain(name, `must be a comma list of ${expected}; these are not: ${bad.join(', ')}`);
    return items;
  }

  origin(name: string, fallback: string): string {
    const value = (this.optional(name) ?? fallback).replace(/\/+$/, '');
    if (!isHttpUrl(value)) this.complain(name, `must be an http or https address such as https://api.example.com`);
    return value;
  }

  header(name: string, fallback: string): string {
    const value = this.text(name, fallback).toLowerCase();
    if (!/^[a-z0-9-]{1,64}$/.test(value)) this.complain(name, 'must be a header name of letters, digits and dashes');
    return value;
  }

  /** NAME, or the first line of the file that NAME_FILE names. */
  secret(name: string, charsMin = 1): Secret | undefined {
    const direct = this.optional(name);
    const path = this.optional(`${name}_FILE`);
    if (direct !== undefined && path !== undefined) this.complain(name, `and ${name}_FILE are both set; keep one`);
    const value = direct ?? (path === undefined ? undefined : this.#firstLine(name, path));
    if (value === undefined) return undefined;
    if (value.length < charsMin) this.complain(name, `must have at least ${charsMin} characters`);
    return new Secret(value);
  }

  /** A comma list, so that a token can be replaced while the old one is still in use. */
  adminTokens(): readonly Secret[] {
    const name = 'TOLLGATE_ADMIN_TOKEN';
    const tokens = this.secret(name)?.reveal().split(',') ?? [];
    if (tokens.some((token) => token.length < ADMIN_TOKEN_CHARS_MIN))
      this.complain(name, `must have at least ${ADMIN_TOKEN_CHARS_MIN} characters`);
    if (tokens.some((token) => !/^[\x21-\x7e]*$/.test(token)))
      this.complain(name, 'must be printable ASCII without spaces');
    if (tokens.length > ADMIN_TOKENS_MAX) this.complain(name, `must be at most ${ADMIN_TOKENS_MAX} tokens`);
    return tokens.map((token) => new Secret(token));
  }

  #firstLine(name: string, path: string): string | undefined {
    try {
      const line = readFileSync(path, 'utf8').split(/\r?\n/, 1)[0];
      if (line !== undefined && line !== '') return line;
      this.complain(`${name}_FILE`, 'names an empty file');
      return undefined;
    } catch {
      this.complain(`${name}_FILE`, `names a file that cannot be read: ${path}`);
      return undefined;
    }
  }

  s3(): S3Settings | undefined {
    const bucket = this.optional('S3_BUCKET');
    const region = this.optional('S3_REGION');
    const endpoint = this.optional('S3_ENDPOINT') === undefined ? undefined : this.origin('S3_ENDPOINT', '');
    if (region !== undefined && !/^[A-Za-z0-9_-]{1,64}$/.test(region))
      this.complain('S3_REGION', 'must be a name of letters, digits, dashes and underscores, such as eu-central-1');
    if (bucket === undefined) {
      if (endpoint !== undefined) this.complain('S3_ENDPOINT', 'does nothing without S3_BUCKET');
      if (region !== undefined) this.complain('S3_REGION', 'does nothing without S3_BUCKET');
      return undefined;
    }
    if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket))
      this.complain('S3_BUCKET', 'must be 3 to 63 lower-case letters, digits, dots and dashes');
    // A store of one's own seldom has regions, yet every signature names one.
    return { bucket, endpoint, region: region ?? (endpoint === undefined ? undefined : 'us-east-1') };
  }

  /** With a shared database every process must agree on these, so none may make its own. */
  requireSharedSecrets(config: Config): void {
    if (!isPostgresUrl(config.databaseUrl?.reveal() ?? '')) {
      this.complain('DATABASE_URL', 'must be an address such as postgres://user:password@host:5432/tollgate');
    }
    if (config.adminTokens.length === 0) this.complain('TOLLGATE_ADMIN_TOKEN', 'is required with DATABASE_URL');
    if (config.rootSecret === undefined) this.complain('TOLLGATE_SECRET', 'is required with DATABASE_URL');
  }

  /** Ignoring it would leave an operator believing that limits are shared when they are not. */
  refuseUnavailable(): void {
    if (this.optional('REDIS_URL') !== undefined)
      this.complain('REDIS_URL', 'is not supported by this release; unset it');
  }

  refuseUnknown(): void {
    for (const name of Object.keys(this.#env)) {
      if (name.startsWith('TOLLGATE_') && !this.#known.has(name)) this.complain(name, 'is not a setting of Tollgate');
    }
  }
}
