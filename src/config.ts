import { isIP } from 'node:net';
import { isAddressRange, isEmail, isMailbox, isOrigin, isSmtpUrl } from './addresses.ts';
import { type CloudSettings, cloudSettings } from './cloud-settings.ts';
import {
  ADMIN_TOKEN_CHARS_MIN,
  ADMIN_TOKENS_MAX,
  BOOKS_MINUTES_MAX,
  CONCURRENCY_MAX,
  CONNECTIONS_MAX_MAX,
  DRAIN_SECONDS_MAX,
  IMAGE_WAIT_SECONDS_MAX,
  JOB_DAYS_MAX,
  JOB_DAYS_MIN,
  JOB_MINUTES_MAX,
  PASSWORD_CHARS_MAX,
  PASSWORD_CHARS_MIN,
  REPLICA_LAG_SECONDS_MAX,
  REQUEST_LOG_DAYS_MAX,
  RPM_MAX,
  SIGN_UP_CREDITS_MAX,
  STOP_DELAY_SECONDS_MAX,
} from './limits.ts';
import type { LogLevel } from './log.ts';
import { type OidcSettings, oidcSettings } from './oidc-settings.ts';
import { databaseUrlProblem, postgresUrlProblem } from './postgres-url.ts';
import { type RedisSettings, redisSettings } from './redis-settings.ts';
import { type S3Settings, s3Settings } from './s3-settings.ts';
import { type Environment, Secret, Settings } from './settings.ts';
import { type SignalSettings, signalSettings } from './signal-settings.ts';

export type { S3Settings } from './s3-settings.ts';
export { type Environment, Secret } from './settings.ts';

/** The process's settings, read once from the environment. Every default is in this file. */
export interface Config {
  readonly port: number;
  readonly host: string;
  readonly role: Role;
  /** How long it is unready and still serves, before it drains. */
  readonly stopDelayMs: number;
  /** How long requests and steps of jobs that run may take to end. */
  readonly drainMs: number;
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
  /** Where lists and reports may be read; undefined reads everything from the database itself. */
  readonly replicaUrl: Secret | undefined;
  /** How far behind the replica may be. */
  readonly replicaLagSeconds: number;
  /** Undefined counts rate limits in the memory of each process. */
  readonly redis: RedisSettings | undefined;
  /** Undefined means a folder under the data folder. */
  readonly s3: S3Settings | undefined;
  /** Undefined where people sign in with passwords and links alone. */
  readonly oidc: OidcSettings | undefined;
  readonly defaultRpm: number;
  readonly defaultConcurrency: number;
  /** Of all access tokens of an account together. */
  readonly tokenRpm: number;
  readonly tokenConcurrency: number;
  /** Open connections of the process, and of one address that is not a trusted proxy. */
  readonly connectionsMax: number;
  readonly connectionsPerAddressMax: number;
  /** Addresses and CIDR ranges whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[];
  readonly corsOrigins: readonly string[];
  /** The third credential header, in lower case. */
  readonly partnerKeyHeader: string;
  /** `host` or `host:port` that guarded fetches may reach although private. */
  readonly fetchAllow: readonly string[];
  /** How long an upstream may work on a job that it accepted. */
  readonly jobMinutes: { readonly image: number; readonly audio: number; readonly video: number };
  /** How long a request of the facade waits for its pictures. */
  readonly imageWaitMs: number;
  /** Negative keeps saved transcriptions for ever. */
  readonly transcriptDays: number;
  /** For how many days the request log is kept; 0 keeps none. */
  readonly requestLogDays: number;
  /** For how many days jobs that have ended are kept; negative keeps them for ever. */
  readonly jobDays: number;
  /** How old the last check of the books may become; 0 checks none by the clock. */
  readonly booksEveryMs: number;
  /** Whether each day's entries are written to the object store. */
  readonly exportsLedger: boolean;
  /** Made at a start that finds no operator. */
  readonly firstOperator: FirstOperator | undefined;
  readonly signUp: SignUpSettings;
  /** Undefined sends no mail: links are passed on by hand. */
  readonly mail: MailSettings | undefined;
  readonly cloud: CloudSettings;
  readonly signals: SignalSettings;
  /** Whether a start brings the schema up to this release, or asks that it is. */
  readonly migrates: boolean;
  readonly testClock: boolean;
  readonly production: boolean;
  readonly logLevel: LogLevel;
}

export interface FirstOperator {
  readonly email: string;
  readonly password: Secret;
}

export interface SignUpSettings {
  /** `closed`: by operators alone; `invite`: by invitation; `open`: also without one. */
  readonly mode: (typeof SIGN_UP_MODES)[number];
  /** What a person who signs up without an invitation is given, in whole credits. */
  readonly credits: number;
}

export interface MailSettings {
  /** `smtp://` or `smtps://`, with the name and password in it. */
  readonly url: Secret;
  /** An address, or a name and an address in angle brackets. */
  readonly from: string;
}

/** Every bad setting at once, each with its name and what was expected. Never holds a secret's value. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`Tollgate cannot start with these settings:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

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
    role: settings.choice('TOLLGATE_ROLE', 'both', ROLES),
    stopDelayMs: 1000 * settings.integer('TOLLGATE_STOP_DELAY_SECONDS', 0, 0, STOP_DELAY_SECONDS_MAX),
    drainMs: 1000 * settings.integer('TOLLGATE_DRAIN_SECONDS', 30, 0, DRAIN_SECONDS_MAX),
    publicUrl: settings.origin('PUBLIC_URL', `http://${isIP(host) === 6 ? `[${host}]` : host}:${port}`),
    dataFolder: settings.text('TOLLGATE_DATA', './data'),
    configFile: settings.optional('TOLLGATE_CONFIG'),
    adminTokens: adminTokens(settings),
    rootSecret: settings.secret('TOLLGATE_SECRET', 32),
    previousSecret: settings.secret('TOLLGATE_SECRET_PREVIOUS', 32),
    databaseUrl,
    replicaUrl: settings.secret('DATABASE_REPLICA_URL'),
    replicaLagSeconds: settings.integer('DATABASE_REPLICA_LAG_SECONDS', 5, 2, REPLICA_LAG_SECONDS_MAX),
    redis: redisSettings(settings),
    s3: s3Settings(settings),
    oidc: oidcSettings(settings),
    defaultRpm: settings.integer('TOLLGATE_RPM', 60, 1, RPM_MAX),
    defaultConcurrency: settings.integer('TOLLGATE_CONCURRENCY', 15, 1, CONCURRENCY_MAX),
    tokenRpm: settings.integer('TOLLGATE_TOKEN_RPM', 60, 1, RPM_MAX),
    tokenConcurrency: settings.integer('TOLLGATE_TOKEN_CONCURRENCY', 15, 1, CONCURRENCY_MAX),
    connectionsMax: settings.integer('TOLLGATE_CONNECTIONS', 10_000, 1, CONNECTIONS_MAX_MAX),
    connectionsPerAddressMax: settings.integer('TOLLGATE_CONNECTIONS_PER_ADDRESS', 1_000, 1, CONNECTIONS_MAX_MAX),
    trustedProxies: settings.list('TOLLGATE_TRUSTED_PROXIES', 'addresses or CIDR ranges', isAddressRange),
    corsOrigins: settings.list('TOLLGATE_CORS_ORIGINS', 'origins such as https://app.example.com', isOrigin),
    partnerKeyHeader: settings.header('TOLLGATE_PARTNER_KEY_HEADER', 'x-partner-api-key'),
    fetchAllow: settings.list('TOLLGATE_FETCH_ALLOW', 'entries host or host:port', (item) => /^[^\s/@]+$/.test(item)),
    jobMinutes: jobMinutes(settings),
    imageWaitMs: 1000 * settings.integer('TOLLGATE_IMAGE_WAIT_SECONDS', 280, 1, IMAGE_WAIT_SECONDS_MAX),
    transcriptDays: settings.integer('TOLLGATE_TRANSCRIPT_DAYS', 30, -1_000_000, 36_500),
    requestLogDays: settings.integer('TOLLGATE_REQUEST_LOG_DAYS', 30, 0, REQUEST_LOG_DAYS_MAX),
    jobDays: jobDays(settings),
    booksEveryMs: 60_000 * settings.integer('TOLLGATE_BOOKS_MINUTES', 10, 0, BOOKS_MINUTES_MAX),
    exportsLedger: settings.flag('TOLLGATE_LEDGER_EXPORT'),
    firstOperator: firstOperator(settings),
    signUp: {
      mode: settings.choice('TOLLGATE_SIGNUP', 'invite', SIGN_UP_MODES),
      credits: settings.integer('TOLLGATE_SIGNUP_CREDITS', 0, 0, SIGN_UP_CREDITS_MAX),
    },
    mail: mailSettings(settings),
    cloud: cloudSettings(settings),
    signals: signalSettings(settings),
    migrates: settings.choice('TOLLGATE_MIGRATE', 'auto', ['auto', 'off']) === 'auto',
    testClock: settings.flag('TOLLGATE_TEST_CLOCK'),
    production,
    logLevel: settings.choice('LOG_LEVEL', 'info', LOG_LEVELS),
  };
  if (config.testClock && production)
    settings.complain('TOLLGATE_TEST_CLOCK', 'cannot be used with NODE_ENV=production');
  checkReplica(settings, config);
  if (databaseUrl !== undefined) requireSharedSecrets(settings, config);
  else if (config.role !== 'both')
    settings.complain(
      'TOLLGATE_ROLE',
      'other than both needs DATABASE_URL: no other process reaches the embedded database',
    );
  // No settings of the gateway: where commands that reach one find its address and a credential, in the same shell.
  for (const name of ['TOLLGATE_KEY', 'TOLLGATE_URL', 'TOLLGATE_CLIENT']) settings.optional(name);
  settings.refuseUnknown();
  if (settings.problems.length > 0) throw new ConfigError(settings.problems);
  return Object.freeze(config);
}

function jobMinutes(settings: Settings): Config['jobMinutes'] {
  return {
    image: settings.integer('TOLLGATE_IMAGE_MINUTES', 15, 1, JOB_MINUTES_MAX),
    audio: settings.integer('TOLLGATE_MUSIC_MINUTES', 30, 1, JOB_MINUTES_MAX),
    video: settings.integer('TOLLGATE_VIDEO_MINUTES', 120, 1, JOB_MINUTES_MAX),
  };
}

function jobDays(settings: Settings): number {
  const days = settings.integer('TOLLGATE_JOB_DAYS', -1, -1, JOB_DAYS_MAX);
  if (days >= 0 && days < JOB_DAYS_MIN)
    settings.complain('TOLLGATE_JOB_DAYS', `must be at least ${JOB_DAYS_MIN}, or -1 to keep jobs for ever`);
  return days;
}

/** What a process does: answers callers (`serve`), works on jobs and on duties of the deployment (`work`), or both. */
export type Role = (typeof ROLES)[number];
const ROLES = ['both', 'serve', 'work'] as const;

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const satisfies LogLevel[];
export const SIGN_UP_MODES = ['closed', 'invite', 'open'] as const;

/** A comma list, so that a token can be replaced while the old one is still in use. */
function adminTokens(settings: Settings): readonly Secret[] {
  const name = 'TOLLGATE_ADMIN_TOKEN';
  const tokens = settings.secret(name)?.reveal().split(',') ?? [];
  if (tokens.some((token) => token.length < ADMIN_TOKEN_CHARS_MIN))
    settings.complain(name, `must have at least ${ADMIN_TOKEN_CHARS_MIN} characters`);
  if (tokens.some((token) => !/^[\x21-\x7e]*$/.test(token)))
    settings.complain(name, 'must be printable ASCII without spaces');
  if (tokens.length > ADMIN_TOKENS_MAX) settings.complain(name, `must be at most ${ADMIN_TOKENS_MAX} tokens`);
  return tokens.map((token) => new Secret(token));
}

/** With a shared database every process must agree on these, so none may make its own. */
function requireSharedSecrets(settings: Settings, config: Config): void {
  const problem = databaseUrlProblem(config.databaseUrl?.reveal() ?? '');
  if (problem !== undefined) settings.complain('DATABASE_URL', problem);
  if (config.adminTokens.length === 0) settings.complain('TOLLGATE_ADMIN_TOKEN', 'is required with DATABASE_URL');
  if (config.rootSecret === undefined) settings.complain('TOLLGATE_SECRET', 'is required with DATABASE_URL');
}

function checkReplica(settings: Settings, { databaseUrl, replicaUrl }: Config): void {
  if (replicaUrl === undefined) return;
  const problem = postgresUrlProblem(replicaUrl.reveal());
  if (problem !== undefined) settings.complain('DATABASE_REPLICA_URL', problem);
  if (databaseUrl === undefined) settings.complain('DATABASE_REPLICA_URL', 'does nothing without DATABASE_URL');
}

function firstOperator(settings: Settings): FirstOperator | undefined {
  const email = settings.optional('TOLLGATE_INIT_OPERATOR_EMAIL');
  const password = settings.secretFile('TOLLGATE_INIT_OPERATOR_PASSWORD', PASSWORD_CHARS_MIN, PASSWORD_CHARS_MAX);
  if (email !== undefined && !isEmail(email))
    settings.complain('TOLLGATE_INIT_OPERATOR_EMAIL', `must be an email address, not ${JSON.stringify(email)}`);
  const file = settings.optional('TOLLGATE_INIT_OPERATOR_PASSWORD_FILE');
  if ((email === undefined) !== (file === undefined))
    settings.complain(
      'TOLLGATE_INIT_OPERATOR_EMAIL',
      'and TOLLGATE_INIT_OPERATOR_PASSWORD_FILE go together; set both or neither',
    );
  return email === undefined || password === undefined ? undefined : { email, password };
}

function mailSettings(settings: Settings): MailSettings | undefined {
  const url = settings.secret('SMTP_URL');
  const from = settings.optional('MAIL_FROM');
  if (url !== undefined && !isSmtpUrl(url.reveal()))
    settings.complain('SMTP_URL', 'must be an address such as smtp://user:password@mail.example.com:587');
  if (from !== undefined && !isMailbox(from))
    settings.complain('MAIL_FROM', `must be an address, or a name and <address>, not ${JSON.stringify(from)}`);
  if (url === undefined && from !== undefined) settings.complain('MAIL_FROM', 'does nothing without SMTP_URL');
  if (url !== undefined && from === undefined) settings.complain('MAIL_FROM', 'is required with SMTP_URL');
  return url === undefined || from === undefined ? undefined : { url, from };
}
