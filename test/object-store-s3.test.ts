import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { ConfigError, loadConfig, Secret } from '../src/config.ts';
import { type ObjectStore, openObjectStore, StorageUnavailable } from '../src/storage/index.ts';
import { objectStoreContract } from './support/object-store-contract.ts';
import { freePort } from './support/program.ts';

// `npm run test:s3` starts a real server and runs all of this file; without it the rest of the file still runs.
const ENDPOINT = process.env.TEST_S3_ENDPOINT;
const BUCKET = `tollgate-${randomUUID()}`;
const PNG = { mimeType: 'image/png', bytesMax: 1000 };
const OWN_ENVIRONMENT = { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'secret-of-the-tests' };

if (ENDPOINT === undefined) {
  Object.assign(process.env, OWN_ENVIRONMENT);
  test('the contract against a real server', { skip: 'npm run test:s3 runs it' }, () => undefined);
} else {
  againstServer(ENDPOINT);
}

function againstServer(endpoint: string): void {
  let store: ObjectStore;

  before(async () => {
    const { CreateBucketCommand } = await import('@aws-sdk/client-s3');
    await withClient(endpoint, (client) => client.send(new CreateBucketCommand({ Bucket: BUCKET })));
    store = await open({ S3_BUCKET: BUCKET, S3_ENDPOINT: endpoint });
  });

  after(() => store.close());

  objectStoreContract('bucket', () => ({ store, now: () => new Date(), addressOf: (link) => link }));

  test('an upload that was given up leaves no parts behind', async () => {
    const { ListMultipartUploadsCommand } = await import('@aws-sdk/client-s3');
    const failure = new Error('the source broke');
    async function* broken(): AsyncGenerator<Buffer> {
      for (let part = 0; part < 3; part++) yield Buffer.alloc(5 * 1024 * 1024 + 1);
      throw failure;
    }
    await assert.rejects(store.put('broken', broken(), { ...PNG, bytesMax: 1e9 }), (error) => error === failure);
    const { Uploads = [] } = await withClient(endpoint, (client) =>
      client.send(new ListMultipartUploadsCommand({ Bucket: BUCKET })),
    );
    assert.deepEqual(Uploads, []);
  });

  test('a bucket that is not there is a fault of the store, not a missing object', async () => {
    const nowhere = await open({ S3_BUCKET: 'no-such-bucket', S3_ENDPOINT: endpoint });
    await assertUnavailable(nowhere);
    await nowhere.close();
  });

  test('credentials that the store does not take are a fault of the store', async () => {
    const stranger = await withEnvironment(OWN_ENVIRONMENT, () => open({ S3_BUCKET: BUCKET, S3_ENDPOINT: endpoint }));
    await assertUnavailable(stranger);
    await stranger.close();
  });
}

test('a store that cannot be reached is told as such', async () => {
  const store = await open({ S3_BUCKET: BUCKET, S3_ENDPOINT: `http://127.0.0.1:${await freePort()}` });
  await assertUnavailable(store);
  await store.close();
});

test('an address of one’s own has the bucket in its path, and the original has it in the host', async () => {
  const addresses = [
    [{ S3_ENDPOINT: 'https://minio.example:9000/' }, `https://minio.example:9000/${BUCKET}/a/b?`],
    [{ S3_ENDPOINT: 'http://store.example/s3' }, `http://store.example/s3/${BUCKET}/a/b?`],
    [{ S3_REGION: 'eu-central-1' }, `https://${BUCKET}.s3.eu-central-1.amazonaws.com/a/b?`],
  ] as const;
  for (const [settings, expected] of addresses) {
    const store = await open({ S3_BUCKET: BUCKET, ...settings });
    const link = await linkOf(store);
    assert.ok(link.startsWith(expected), link);
    assert.equal(store.keyOfLink(link, NOW), 'a/b');
    await store.close();
  }
});

test('a link of another bucket or made with other credentials is not ours', async () => {
  const S3_ENDPOINT = 'https://minio.example:9000';
  const [store, neighbour] = [
    await open({ S3_BUCKET: BUCKET, S3_ENDPOINT }),
    await open({ S3_BUCKET: 'other', S3_ENDPOINT }),
  ];
  const environment = { AWS_ACCESS_KEY_ID: 'AKIDOTHER', AWS_SECRET_ACCESS_KEY: 'x' };
  const stranger = await withEnvironment(environment, () => open({ S3_BUCKET: BUCKET, S3_ENDPOINT }));
  const forged = { AWS_ACCESS_KEY_ID: process.env.AWS_ACCESS_KEY_ID ?? '', AWS_SECRET_ACCESS_KEY: 'guessed' };
  const forger = await withEnvironment(forged, () => open({ S3_BUCKET: BUCKET, S3_ENDPOINT }));
  assert.equal(store.keyOfLink(await linkOf(store), NOW), 'a/b');
  for (const other of [neighbour, stranger, forger]) {
    const link = await linkOf(other);
    assert.equal(other.keyOfLink(link, NOW), 'a/b');
    assert.equal(store.keyOfLink(link, NOW), undefined, link);
  }
  for (const other of [store, neighbour, stranger, forger]) await other.close();
});

test('a link longer than the store allows ends with what it allows', async () => {
  const store = await open({ S3_BUCKET: BUCKET, S3_ENDPOINT: 'https://minio.example' });
  const expiresAt = new Date(NOW.getTime() + 8 * 24 * 3600 * 1000);
  assert.match(await store.link('a', { ...PNG, fileName: 'a.png', expiresAt, now: NOW }), /&X-Amz-Expires=604800&/);
  await store.close();
});

test('a bucket without credentials or region stops the start and says what is missing', async () => {
  const nothing = {
    AWS_ACCESS_KEY_ID: undefined,
    AWS_SECRET_ACCESS_KEY: undefined,
    AWS_EC2_METADATA_DISABLED: 'true',
    AWS_SHARED_CREDENTIALS_FILE: '/nowhere',
    AWS_CONFIG_FILE: '/nowhere',
  };
  const refused = (what: RegExp) => (error: unknown) => error instanceof ConfigError && what.test(error.message);
  await withEnvironment(nothing, () =>
    assert.rejects(
      open({ S3_BUCKET: BUCKET, S3_REGION: 'eu-central-1' }),
      refused(/S3_BUCKET is set, but .*credentials/),
    ),
  );
  await withEnvironment({ ...nothing, ...OWN_ENVIRONMENT, AWS_REGION: undefined }, () =>
    assert.rejects(open({ S3_BUCKET: BUCKET }), refused(/S3_BUCKET is set, but .*[Rr]egion/)),
  );
});

const NOW = new Date('2030-01-15T12:00:00Z');

function open(settings: Record<string, string>): Promise<ObjectStore> {
  return openObjectStore(loadConfig(settings), { rootSecret: new Secret('not used') });
}

function linkOf(store: ObjectStore): Promise<string> {
  const expiresAt = new Date(NOW.getTime() + 900_000);
  return store.link('a/b', { mimeType: 'image/png', fileName: 'a.png', expiresAt, now: NOW });
}

async function assertUnavailable(store: ObjectStore): Promise<void> {
  await assert.rejects(store.put('a', Buffer.from('x'), PNG), StorageUnavailable);
  await assert.rejects(store.read('a'), StorageUnavailable);
  await assert.rejects(store.remove('a'), StorageUnavailable);
}

async function withClient<Result>(
  endpoint: string,
  use: (client: import('@aws-sdk/client-s3').S3Client) => Promise<Result>,
): Promise<Result> {
  const { S3Client } = await import('@aws-sdk/client-s3');
  const client = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true });
  try {
    return await use(client);
  } finally {
    client.destroy();
  }
}

/** The SDK reads its own settings from the environment of the process. */
async function withEnvironment<Result>(
  values: Record<string, string | undefined>,
  run: () => Promise<Result>,
): Promise<Result> {
  const before = { ...process.env };
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
  try {
    return await run();
  } finally {
    for (const name of Object.keys(values)) delete process.env[name];
    Object.assign(process.env, before);
  }
}
