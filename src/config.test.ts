import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { inspect } from 'node:util';
import { type Config, ConfigError, type Environment, loadConfig, Secret } from './config.ts';
import { ADMIN_TOKENS_MAX } from './limits.ts';

const TOKEN = 'a-token-of-the-operator';
const ROOT_SECRET = 'a-root-secret-of-thirty-two-chars';
const DATABASE_URL = 'postgres://gate:hush@db.example:5432/tollgate';
const SHARED = { DATABASE_URL, TOLLGATE_ADMIN_TOKEN: TOKEN, TOLLGATE_SECRET: ROOT_SECRET };

let folder = '';

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-config-'));
});

after(() => {
  rmSync(folder, { recursive: true });
});

test('R-526: nothing set is a complete configuration without any secret of its own', () => {
  assert.deepEqual(loadConfig({}), {
    port: 8787,
    host: '127.0.0.1',
    role: 'both',
    stopDelayMs: 0,
    drainMs: 30_000,
    publicUrl: 'http://127.0.0.1:8787',
    dataFolder: './data',
    configFile: undefined,
    adminTokens: [],
    rootSecret: undefined,
    previousSecret: undefined,
    databaseUrl: undefined,
    replicaUrl: undefined,
    replicaLagSeconds: 5,
    redis: undefined,
    s3: undefined,
    oidc: undefined,
    defaultRpm: 60,
    defaultConcurrency: 15,
    tokenRpm: 60,
    tokenConcurrency: 15,
    connectionsMax: 10_000,
    connectionsPerAddressMax: 1_000,
    trustedProxies: [],
    corsOrigins: [],
    partnerKeyHeader: 'x-partner-api-key',
    fetchAllow: [],
    jobMinutes: { image: 15, audio: 30, video: 120 },
    transcriptDays: 30,
    requestLogDays: 30,
    imageWaitMs: 280_000,
    jobDays: -1,
    booksEveryMs: 600_000,
    exportsLedger: false,
    firstOperator: undefined,
    signUp: { mode: 'invite', credits: 0 },
    mail: undefined,
    cloud: {
      hosts: [],
      entra: {
        tenantId: undefined,
        clientId: undefined,
        tokenFile: undefined,
        authority: undefined,
        identityEndpoint: undefined,
        identityHeader: undefined,
      },
      google: { credentialsFile: undefined, metadataHost: undefined },
    },
    signals: { metrics: { port: undefined, host: '127.0.0.1', token: undefined }, slowRequestMs: 0, otlp: undefined },
    migrates: true,
    testClock: false,
    production: false,
    logLevel: 'info',
  });
});

test('a configuration cannot be changed once it is read', () => {
  const config: { port: number } = loadConfig({});
  assert.throws(() => {
    config.port = 1;
  }, TypeError);
});

const accepted: readonly [name: string, value: string, expected: Partial<Config>][] = [
  ['PORT', '0', { port: 0, publicUrl: 'http://127.0.0.1:0' }],
  ['PORT', '65535', { port: 65_535, publicUrl: 'http://127.0.0.1:65535' }],
  ['HOST', '0.0.0.0', { host: '0.0.0.0', publicUrl: 'http://0.0.0.0:8787' }],
  ['HOST', 'localhost', { host: 'localhost', publicUrl: 'http://localhost:8787' }],
  ['HOST', '::1', { host: '::1', publicUrl: 'http://[::1]:8787' }],
  ['PUBLIC_URL', 'https://api.example.com', { publicUrl: 'https://api.example.com' }],
  ['PUBLIC_URL', 'https://example.com/gate//', { publicUrl: 'https://example.com/gate' }],
  ['TOLLGATE_DATA', '/srv/gate', { dataFolder: '/srv/gate' }],
  ['TOLLGATE_CONFIG', 'gate.yaml', { configFile: 'gate.yaml' }],
  ['S3_BUCKET', 'abc', { s3: { bucket: 'abc', endpoint: undefined, region: undefined } }],
  [
    'S3_BUCKET',
    `m.e-${'x'.repeat(59)}`,
    { s3: { bucket: `m.e-${'x'.repeat(59)}`, endpoint: undefined, region: undefined } },
  ],
  ['TOLLGATE_RPM', '1', { defaultRpm: 1 }],
  ['TOLLGATE_RPM', '1000000', { defaultRpm: 1_000_000 }],
  ['TOLLGATE_CONCURRENCY', '1', { defaultConcurrency: 1 }],
  ['TOLLGATE_CONCURRENCY', '100000', { defaultConcurrency: 100_000 }],
  ['TOLLGATE_TOKEN_RPM', '1', { tokenRpm: 1 }],
  ['TOLLGATE_TOKEN_RPM', '1000000', { tokenRpm: 1_000_000 }],
  ['TOLLGATE_TOKEN_CONCURRENCY', '1', { tokenConcurrency: 1 }],
  ['TOLLGATE_TOKEN_CONCURRENCY', '100000', { tokenConcurrency: 100_000 }],
  ['TOLLGATE_IMAGE_MINUTES', '1', { jobMinutes: { image: 1, audio: 30, video: 120 } }],
  ['TOLLGATE_MUSIC_MINUTES', '1440', { jobMinutes: { image: 15, audio: 1440, video: 120 } }],
  ['TOLLGATE_VIDEO_MINUTES', '600', { jobMinutes: { image: 15, audio: 30, video: 600 } }],
  ['TOLLGATE_IMAGE_WAIT_SECONDS', '60', { imageWaitMs: 60_000 }],
  ['TOLLGATE_TRANSCRIPT_DAYS', '-1', { transcriptDays: -1 }],
  ['TOLLGATE_JOB_DAYS', '32', { jobDays: 32 }],
  ['TOLLGATE_BOOKS_MINUTES', '0', { booksEveryMs: 0 }],
  ['TOLLGATE_BOOKS_MINUTES', '1440', { booksEveryMs: 86_400_000 }],
  ['TOLLGATE_LEDGER_EXPORT', '1', { exportsLedger: true }],
  ['TOLLGATE_TRANSCRIPT_DAYS', '36500', { transcriptDays: 36_500 }],
  ['TOLLGATE_TRUSTED_PROXIES', ' 10.0.0.0/8, ::1 ,', { trustedProxies: ['10.0.0.0/8', '::1'] }],
  ['TOLLGATE_TRUSTED_PROXIES', '10.0.0.1/32,fd00::/128', { trustedProxies: ['10.0.0.1/32', 'fd00::/128'] }],
  ['TOLLGATE_CORS_ORIGINS', 'https://a.example,http://b:8080', { corsOrigins: ['https://a.example', 'http://b:8080'] }],
  ['TOLLGATE_FETCH_ALLOW', 'minio:9000,cdn', { fetchAllow: ['minio:9000', 'cdn'] }],
  ['TOLLGATE_PARTNER_KEY_HEADER', 'X-Reseller-Key', { partnerKeyHeader: 'x-reseller-key' }],
  ['TOLLGATE_SIGNUP', 'closed', { signUp: { mode: 'closed', credits: 0 } }],
  ['TOLLGATE_SIGNUP', 'open', { signUp: { mode: 'open', credits: 0 } }],
  ['TOLLGATE_SIGNUP_CREDITS', '1000000', { signUp: { mode: 'invite', credits: 1_000_000 } }],
  ['TOLLGATE_TEST_CLOCK', '1', { testClock: true }],
  ['TOLLGATE_TEST_CLOCK', '0', { testClock: false }],
  ['NODE_ENV', 'production', { production: true }],
  ['NODE_ENV', 'test', { production: false }],
  ['LOG_LEVEL', 'silent', { logLevel: 'silent' }],
];

for (const [name, value, expected] of accepted) {
  test(`${name}=${value} is taken`, () => {
    assert.deepEqual(loadConfig({ [name]: value }), { ...loadConfig({}), ...expected });
  });
}

const refused: readonly [name: string, values: readonly string[], problem: RegExp][] = [
  ['PORT', ['-1', '65536', '80.5', '0x50', 'http', ' ', '1e3'], /^PORT must be a whole number from 0 to 65535, not "/],
  ['HOST', ['my host', 'http://localhost', 'localhost:80', '[::1]'], /^HOST must be an address or a host name, not "/],
  ['TOLLGATE_RPM', ['0', '1000001', 'lots', '60 '], /^TOLLGATE_RPM must be a whole number from 1 to 1000000/],
  ['TOLLGATE_CONCURRENCY', ['0', '100001', '-5'], /^TOLLGATE_CONCURRENCY must be a whole number from 1 to 100000/],
  ['TOLLGATE_VIDEO_MINUTES', ['0', '1441', '1.5'], /^TOLLGATE_VIDEO_MINUTES must be a whole number/],
  ['TOLLGATE_TRANSCRIPT_DAYS', ['36501', '-1000001', '1.5'], /^TOLLGATE_TRANSCRIPT_DAYS must be a whole number/],
  ['TOLLGATE_SIGNUP', ['on', 'Open'], /^TOLLGATE_SIGNUP must be one of closed, invite, open, not "/],
  ['TOLLGATE_BOOKS_MINUTES', ['-1', '1441', '0.5'], /^TOLLGATE_BOOKS_MINUTES must be a whole number from 0 to 1440/],
  ['TOLLGATE_JOB_DAYS', ['0', '31', '-2', '36501'], /^TOLLGATE_JOB_DAYS must be/],
  ['TOLLGATE_SIGNUP_CREDITS', ['-1', '1000001', '0.5'], /^TOLLGATE_SIGNUP_CREDITS must be a whole number from 0 to/],
  ['TOLLGATE_INIT_OPERATOR_PASSWORD', ['correct horse'], /^TOLLGATE_INIT_OPERATOR_PASSWORD is not a setting/],
  ['MAIL_FROM', ['gate@example.com'], /^MAIL_FROM does nothing without SMTP_URL$/],
  ['TOLLGATE_TEST_CLOCK', ['true', 'yes', '2'], /^TOLLGATE_TEST_CLOCK must be one of 0, 1, not "/],
  ['LOG_LEVEL', ['verbose', 'INFO'], /^LOG_LEVEL must be one of trace, debug, .*, not "/],
  [
    'PUBLIC_URL',
    ['example.com', 'ftp://example.com', 'https://', '/gate'],
    /^PUBLIC_URL must be an http or https address/,
  ],
  ['TOLLGATE_DATA', ['a\0b'], /^TOLLGATE_DATA must not contain NUL$/],
  [
    'TOLLGATE_TRUSTED_PROXIES',
    ['10.0.0.0/33', '::1/129', 'proxy.example', '10.0.0.0/', '10.0.0.0/8/8', '10.0.0.0/-1'],
    /^TOLLGATE_TRUSTED_PROXIES must be a comma list of addresses or CIDR ranges; these are not: /,
  ],
  [
    'TOLLGATE_CORS_ORIGINS',
    ['*', 'app.example.com', 'https://a.example/', 'https://a.example/path', 'https://A.example'],
    /^TOLLGATE_CORS_ORIGINS must be a comma list of origins such as https:\/\/app\.example\.com; these are not: /,
  ],
  [
    'TOLLGATE_FETCH_ALLOW',
    ['http://minio:9000', 'a b', 'me@host'],
    /^TOLLGATE_FETCH_ALLOW must be a comma list of entries/,
  ],
  [
    'TOLLGATE_PARTNER_KEY_HEADER',
    ['x key', 'x:key', 'x'.repeat(65)],
    /^TOLLGATE_PARTNER_KEY_HEADER must be a header name/,
  ],
  ['TOLLGATE_KEYS', ['1'], /^TOLLGATE_KEYS is not a setting of Tollgate$/],
  ['TOLLGATE_PORT', [''], /^TOLLGATE_PORT is not a setting of Tollgate$/],
  ['TOLLGATE_RPM_FILE', ['/rpm'], /^TOLLGATE_RPM_FILE is not a setting of Tollgate$/],
  [
    'REDIS_URL',
    [
      'cache:6379',
      'http://cache',
      'redis://',
      'redis://cache:0',
      'redis://cache:65536',
      'redis://cache/first',
      'redis://one,two',
      'redis://cache?timeout=1',
      'redis://cache?prefix=a%20b',
      'redis://:%zz@cache',
      'redis+sentinel://one:26379',
      'redis+cluster://one/1',
      'redis+other://one',
    ],
    /^REDIS_URL must be an address such as redis:\/\/:password@host:6379\/0, redis\+sentinel:.* or redis\+cluster:/,
  ],
  [
    'TOLLGATE_LIMITS_WITHOUT_REDIS',
    ['fail', 'local'],
    /^TOLLGATE_LIMITS_WITHOUT_REDIS does nothing without REDIS_URL$/,
  ],
  [
    'S3_BUCKET',
    ['ab', 'x'.repeat(64), 'Media', 'my_media', '-media', 'media.', 'me/dia', 'http://media'],
    /^S3_BUCKET must be 3 to 63 lower-case letters, digits, dots and dashes$/,
  ],
  ['S3_ENDPOINT', ['https://minio.example'], /^S3_ENDPOINT does nothing without S3_BUCKET$/],
  ['S3_REGION', ['eu-central-1'], /^S3_REGION does nothing without S3_BUCKET$/],
];

for (const [name, values, problem] of refused) {
  for (const value of values) {
    test(`R-526: ${name}=${JSON.stringify(value)} is refused by name`, () => {
      assertProblems({ [name]: value }, [problem]);
    });
  }
}

test('a bucket may have a region, and one at an address of its own has one in any case', () => {
  const s3 = (settings: Environment) => loadConfig({ S3_BUCKET: 'media', ...settings }).s3;
  const endpoint = 'https://minio.example:9000';
  assert.deepEqual(s3({ S3_REGION: 'eu-central-1' }), { bucket: 'media', endpoint: undefined, region: 'eu-central-1' });
  assert.deepEqual(s3({ S3_ENDPOINT: `${endpoint}/` }), { bucket: 'media', endpoint, region: 'us-east-1' });
  assert.deepEqual(s3({ S3_ENDPOINT: endpoint, S3_REGION: 'auto' }), { bucket: 'media', endpoint, region: 'auto' });
  assertProblems({ S3_BUCKET: 'media', S3_ENDPOINT: 'minio:9000', S3_REGION: 'eu central' }, [
    /^S3_ENDPOINT must be an http or https address/,
    /^S3_REGION must be a name of letters/,
  ]);
});

test('one wrong entry of a list is named without the right ones', () => {
  assertProblems({ TOLLGATE_TRUSTED_PROXIES: '10.0.0.0/8,nonsense,::1' }, [/these are not: nonsense$/]);
});

test('a setting that is empty counts as unset', () => {
  const names = ['PORT', 'HOST', 'DATABASE_URL', 'TOLLGATE_SECRET', 'TOLLGATE_RPM', 'TOLLGATE_CONFIG', 'REDIS_URL'];
  assert.deepEqual(loadConfig(Object.fromEntries(names.map((name) => [name, '']))), loadConfig({}));
});

test('variables of other programs do not matter', () => {
  assert.deepEqual(loadConfig({ PATH: '/bin', TOLL: 'x', tollgate_rpm: 'x', NODE_OPTIONS: '--x' }), loadConfig({}));
});

test('R-526: every bad setting is reported at once', () => {
  const settings = { PORT: 'x', TOLLGATE_RPM: '0', LOG_LEVEL: 'x', TOLLGATE_NEW: '1', PUBLIC_URL: 'x', REDIS_URL: 'x' };
  assertProblems(settings, [
    /^PORT /,
    /^PUBLIC_URL /,
    /^REDIS_URL /,
    /^TOLLGATE_RPM /,
    /^LOG_LEVEL /,
    /^TOLLGATE_NEW /,
  ]);
});

test('the message of a refusal is one line for each problem', () => {
  assert.throws(() => loadConfig({ PORT: 'x', TOLLGATE_NEW: '1' }), {
    message:
      'Tollgate cannot start with these settings:\n' +
      '  - PORT must be a whole number from 0 to 65535, not "x"\n' +
      '  - TOLLGATE_NEW is not a setting of Tollgate',
  });
});

test('R-526: a database of the operator’s own needs both secrets', () => {
  const { TOLLGATE_ADMIN_TOKEN: _token, ...withoutToken } = SHARED;
  const { TOLLGATE_SECRET: _secret, ...withoutSecret } = SHARED;
  assertProblems(withoutToken, [/^TOLLGATE_ADMIN_TOKEN is required with DATABASE_URL$/]);
  assertProblems(withoutSecret, [/^TOLLGATE_SECRET is required with DATABASE_URL$/]);
  assertProblems({ DATABASE_URL }, [/^TOLLGATE_ADMIN_TOKEN is required/, /^TOLLGATE_SECRET is required/]);
  assert.equal(loadConfig(SHARED).databaseUrl?.reveal(), DATABASE_URL);
});

for (const address of ['mysql://db/tollgate', 'db.example', 'https://db.example']) {
  test(`DATABASE_URL=${address} is refused`, () => {
    assertProblems({ ...SHARED, DATABASE_URL: address }, [/^DATABASE_URL must be an address such as postgres:/]);
  });
}

test('a replica needs a database to be one of, an address that names servers, and a lag within bounds', () => {
  const DATABASE_REPLICA_URL = 'postgres://gate@h2,h3/tollgate?target_session_attrs=prefer-standby';
  const { replicaUrl, replicaLagSeconds } = loadConfig({
    ...SHARED,
    DATABASE_REPLICA_URL,
    DATABASE_REPLICA_LAG_SECONDS: '60',
  });
  assert.deepEqual([replicaUrl?.reveal(), replicaLagSeconds], [DATABASE_REPLICA_URL, 60]);
  assertProblems({ DATABASE_REPLICA_URL }, [/^DATABASE_REPLICA_URL does nothing without DATABASE_URL$/]);
  assertProblems({ ...SHARED, DATABASE_REPLICA_URL: 'db2' }, [/^DATABASE_REPLICA_URL must be an address such as/]);
  assertProblems({ ...SHARED, DATABASE_REPLICA_LAG_SECONDS: '1' }, [/^DATABASE_REPLICA_LAG_SECONDS must be a whole/]);
});

for (const address of ['postgresql://db/tollgate', 'postgres://me@localhost/t?host=%2Frun%2Fpostgresql']) {
  test(`DATABASE_URL=${address} is taken`, () => {
    assert.equal(loadConfig({ ...SHARED, DATABASE_URL: address }).databaseUrl?.reveal(), address);
  });
}

const shortest: readonly [name: string, charsMin: number][] = [
  ['TOLLGATE_ADMIN_TOKEN', 16],
  ['TOLLGATE_SECRET', 32],
  ['TOLLGATE_SECRET_PREVIOUS', 32],
];

for (const [name, charsMin] of shortest) {
  test(`${name} has at least ${charsMin} characters`, () => {
    assert.ok(loadConfig({ [name]: 'x'.repeat(charsMin) }));
    assertProblems({ [name]: 'x'.repeat(charsMin - 1) }, [new RegExp(`^${name} must have at least ${charsMin}`)]);
  });
}

test('a secret may stand in a file, of which the first line counts', () => {
  const config = loadConfig({
    DATABASE_URL_FILE: written('database-url', `${DATABASE_URL}\n`),
    TOLLGATE_ADMIN_TOKEN_FILE: written('admin-token', `${TOKEN}\r\nand a remark\n`),
    TOLLGATE_SECRET_FILE: written('secret', ROOT_SECRET),
    TOLLGATE_SECRET_PREVIOUS_FILE: written('previous', `${ROOT_SECRET} of old\n`),
  });
  assert.equal(config.databaseUrl?.reveal(), DATABASE_URL);
  assert.deepEqual(
    config.adminTokens.map((token) => token.reveal()),
    [TOKEN],
  );
  assert.equal(config.rootSecret?.reveal(), ROOT_SECRET);
  assert.equal(config.previousSecret?.reveal(), `${ROOT_SECRET} of old`);
});

test('R-526: a secret’s file that is missing, a folder or empty is refused by name', () => {
  assertProblems({ TOLLGATE_SECRET_FILE: join(folder, 'none') }, [/^TOLLGATE_SECRET_FILE names a file that cannot be/]);
  assertProblems({ TOLLGATE_SECRET_FILE: folder }, [/^TOLLGATE_SECRET_FILE names a file that cannot be read: /]);
  assertProblems({ TOLLGATE_SECRET_FILE: written('empty', '') }, [/^TOLLGATE_SECRET_FILE names an empty file$/]);
  assertProblems({ TOLLGATE_SECRET_FILE: written('blank', `\n${ROOT_SECRET}`) }, [
    /^TOLLGATE_SECRET_FILE names an empty/,
  ]);
});

test('a secret that is given twice is refused, and so is a short one from a file', () => {
  const path = written('twice', ROOT_SECRET);
  assertProblems({ TOLLGATE_SECRET: ROOT_SECRET, TOLLGATE_SECRET_FILE: path }, [
    /^TOLLGATE_SECRET and TOLLGATE_SECRET_FILE are both set; keep one$/,
  ]);
  assertProblems({ TOLLGATE_SECRET_FILE: written('short', 'short') }, [/^TOLLGATE_SECRET must have at least 32/]);
});

const tokenList = (count: number) => Array.from({ length: count }, (_, at) => `${TOKEN}-${at}`);

test('TOLLGATE_ADMIN_TOKEN takes a comma list, directly and from a file, of at most eight', () => {
  const revealed = (env: Record<string, string>) => loadConfig(env).adminTokens.map((token) => token.reveal());
  const most = tokenList(ADMIN_TOKENS_MAX);
  assert.deepEqual(revealed({ TOLLGATE_ADMIN_TOKEN: most.join(',') }), most);
  assert.deepEqual(revealed({ TOLLGATE_ADMIN_TOKEN_FILE: written('tokens', `${most.join(',')}\n`) }), most);
  assert.deepEqual(revealed({}), []);
  assertProblems({ TOLLGATE_ADMIN_TOKEN: tokenList(ADMIN_TOKENS_MAX + 1).join(',') }, [/ must be at most 8 tokens$/]);
});

for (const list of [`${TOKEN},`, `,${TOKEN}`, `${TOKEN},,${TOKEN}`, `${TOKEN},fifteen-letters`]) {
  test(`TOLLGATE_ADMIN_TOKEN=${list} is refused: each of the list is a token of its own`, () => {
    assertProblems({ TOLLGATE_ADMIN_TOKEN: list }, [/^TOLLGATE_ADMIN_TOKEN must have at least 16 characters$/]);
  });
}

for (const token of [`${TOKEN}, ${TOKEN}`, `${TOKEN} `, ` ${TOKEN}`, 'ein-schlüssel-mit-umlaut']) {
  test(`TOLLGATE_ADMIN_TOKEN=${JSON.stringify(token)} is refused, since no header carries it unchanged`, () => {
    assertProblems({ TOLLGATE_ADMIN_TOKEN: token }, [/^TOLLGATE_ADMIN_TOKEN must be printable ASCII without spaces$/]);
  });
}

test('the test clock is refused in production', () => {
  assertProblems({ TOLLGATE_TEST_CLOCK: '1', NODE_ENV: 'production' }, [
    /^TOLLGATE_TEST_CLOCK cannot be used with NODE_ENV=production$/,
  ]);
});

test('no refusal quotes a secret', () => {
  const secrets = { TOLLGATE_ADMIN_TOKEN: 'hush-1', TOLLGATE_SECRET: 'hush-2', DATABASE_URL: 'hush-3://u:hush-4@db' };
  assert.throws(
    () => loadConfig({ ...secrets, TOLLGATE_UNKNOWN_SECRET: 'hush-5', REDIS_URL: 'redis://:hush-6@cache/first' }),
    (error) => error instanceof ConfigError && error.problems.length === 5 && !inspect(error).includes('hush'),
  );
});

test('a secret shows nothing of itself wherever it is printed', () => {
  const secret = new Secret('hush');
  const config = { secret };
  const shown = [
    String(secret),
    JSON.stringify(config),
    inspect(config),
    inspect(config, { showHidden: true, depth: 9 }),
  ];
  for (const text of shown) {
    assert.ok(!text.includes('hush'), text);
    assert.ok(text.includes('[secret]'), text);
  }
  assert.equal(secret.reveal(), 'hush');
});

function written(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** Exactly these problems, in this order. */
function assertProblems(env: Environment, expected: readonly RegExp[]): void {
  assert.throws(
    () => loadConfig(env),
    (error) => {
      assert.ok(error instanceof ConfigError);
      assert.equal(error.problems.length, expected.length, error.message);
      for (const [place, pattern] of expected.entries()) assert.match(error.problems[place] ?? '', pattern);
      return true;
    },
  );
}

test('the identities that a cloud gives are read under its own names, and addresses among them are checked', () => {
  const env = {
    AZURE_TENANT_ID: 't',
    IDENTITY_HEADER: 'hush',
    GCE_METADATA_HOST: 'meta:80',
    TOLLGATE_CLOUD_HOSTS: 'a,b:1',
  };
  const { cloud } = loadConfig(env);
  assert.deepEqual([cloud.entra.tenantId, cloud.google.metadataHost, cloud.hosts], ['t', 'meta:80', ['a', 'b:1']]);
  assert.doesNotMatch(inspect(cloud, { depth: 9 }), /hush/);
  assert.throws(
    () => loadConfig({ AZURE_AUTHORITY_HOST: 'login' }),
    /AZURE_AUTHORITY_HOST must be an http or https address/,
  );
});
