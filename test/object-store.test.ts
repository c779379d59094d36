import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Secret } from '../src/config.ts';
import { DataFolderError } from '../src/data-folder.ts';
import { OBJECT_READ_BYTES, UNFINISHED_OBJECT_KEPT_MS } from '../src/limits.ts';
import { FolderStore, type ObjectStore, openObjectStore, StorageUnavailable } from '../src/storage/index.ts';
import { canMount, fillDisk, smallDisk } from './support/disk.ts';
import { Gateway } from './support/gateway.ts';
import { objectStoreContract } from './support/object-store-contract.ts';
import { IS_ROOT, until, workFolder } from './support/postgres.ts';

const PUBLIC_URL = 'https://gate.example/prefix';
const OPTIONS = { mimeType: 'image/png', bytesMax: 100_000_000 };

let gateway: Gateway;
let stored: ObjectStore;

before(async () => {
  gateway = await Gateway.start();
  stored = await openObjectStore(gateway.config, { rootSecret: rootSecret() });
});

after(() => gateway.stop());

objectStoreContract('folder', () => ({
  store: stored,
  now: () => gateway.clock.now(),
  addressOf: (link) => gateway.url + link.slice(gateway.config.publicUrl.length),
}));

test('the folder and what is in it belong to its user alone', async (t) => {
  const folder = join(workFolder(t), 'data', 'objects');
  const store = await open(folder);
  await store.put('a/b', Buffer.from('x'), OPTIONS);
  assert.equal(statSync(folder).mode & 0o777, 0o700);
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const mode = statSync(join(entry.parentPath, entry.name)).mode & 0o777;
    assert.equal(mode, entry.isFile() ? 0o600 : 0o700, entry.name);
  }
});

test('a put leaves one file and no draft, whether it goes well or not', async (t) => {
  const folder = workFolder(t);
  const store = await open(folder);
  await store.put('a', Buffer.from('x'), OPTIONS);
  await store.put('a', Buffer.from('y'), OPTIONS);
  await assert.rejects(store.put('b', Buffer.from('xy'), { ...OPTIONS, bytesMax: 1 }));
  assert.deepEqual(filesIn(folder).length, 1);
});

test('a killed process leaves no object, and its draft goes with a start an hour later', async (t) => {
  const folder = workFolder(t);
  const child = spawn(process.execPath, ['--input-type=module-typescript', '--eval', WRITER, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  child.kill('SIGKILL');
  await once(child, 'exit');
  const [draft = '', ...others] = filesIn(folder);
  assert.deepEqual(others, []);
  assert.equal(readFileSync(draft, 'utf8'), 'half');

  const store = await open(folder);
  assert.equal(await store.read('a'), undefined);
  assert.deepEqual(filesIn(folder), [draft], 'another process might be writing it');
  const hourAgo = (Date.now() - UNFINISHED_OBJECT_KEPT_MS) / 1000;
  utimesSync(draft, hourAgo + 60, hourAgo + 60);
  await open(folder);
  assert.deepEqual(filesIn(folder), [draft]);
  utimesSync(draft, hourAgo - 1, hourAgo - 1);
  await open(folder);
  assert.deepEqual(filesIn(folder), []);
});

test('another process on the same folder and secret reads what this one put, and knows its links', async (t) => {
  const folder = workFolder(t);
  const [one, two] = [await open(folder), await open(folder)];
  await one.put('a', Buffer.from('x'), OPTIONS);
  assert.equal((await two.read('a'))?.bytes, 1);
  const now = new Date();
  const link = await one.link('a', { ...OPTIONS, fileName: 'a.png', expiresAt: new Date(now.getTime() + 60_000), now });
  assert.ok(link.startsWith(`${PUBLIC_URL}/media/a?`));
  assert.equal(two.keyOfLink(link, now), 'a');
  const stranger = await FolderStore.open({ folder, publicUrl: PUBLIC_URL, rootSecret: new Secret('another secret') });
  assert.equal(stranger.keyOfLink(link, now), undefined);
  const elsewhere = await FolderStore.open({ folder, publicUrl: 'https://else.example', rootSecret: rootSecret() });
  assert.equal(elsewhere.keyOfLink(link, now), undefined);
});

test('an object that is removed or replaced while it is read is read to its end', async (t) => {
  const store = await open(workFolder(t));
  const bytes = 4 * OBJECT_READ_BYTES;
  await store.put('a', Buffer.alloc(bytes, 'old'), OPTIONS);
  const object = await store.read('a');
  await store.put('a', Buffer.from('new'), OPTIONS);
  await store.remove('a');
  const read = Buffer.concat(await Array.fromAsync(object?.body ?? []));
  assert.ok(read.equals(Buffer.alloc(bytes, 'old')));
});

test('a body that nobody reads on is held back, and its file is closed when the loop is left', async (t) => {
  const folder = workFolder(t);
  const store = await open(folder);
  await store.put('a', Buffer.alloc(20 * OBJECT_READ_BYTES), OPTIONS);
  const stream = (await store.open('a'))?.stream();
  assert.ok(stream !== undefined);
  for await (const chunk of stream) {
    assert.equal(chunk.length, OBJECT_READ_BYTES);
    assert.ok(stream.readableLength <= OBJECT_READ_BYTES);
    assert.equal(openFilesIn(folder), 1);
    break;
  }
  await until(() => openFilesIn(folder) === 0);
});

test('a stream that is given up while it reads closes its file once', async (t) => {
  const folder = workFolder(t);
  const store = await open(folder);
  await store.put('a', Buffer.alloc(2 * OBJECT_READ_BYTES), OPTIONS);
  for (let round = 0; round < 20; round++) {
    const stream = (await store.open('a'))?.stream();
    stream?.resume();
    stream?.destroy();
    // With a number that was closed twice, or under the read, this one would be the victim.
    const [, object] = await Promise.all([stream === undefined ? [] : once(stream, 'close'), store.read('a')]);
    assert.equal(Buffer.concat(await Array.fromAsync(object?.body ?? [])).length, 2 * OBJECT_READ_BYTES);
  }
  assert.equal(openFilesIn(folder), 0);
});

test('a file that got shorter is a fault of the store, not a short answer', async (t) => {
  const folder = workFolder(t);
  const store = await open(folder);
  await store.put('a', Buffer.alloc(100), OPTIONS);
  const object = await store.read('a');
  writeFileSync(filesIn(folder)[0] ?? '', 'short');
  await assert.rejects(Array.fromAsync(object?.body ?? []), StorageUnavailable);
});

test('a full disk is told as such, and what was written is given back', { skip: !canMount() }, async (t) => {
  const disk = smallDisk(t);
  const store = await open(join(disk, 'objects'));
  await store.put('a', Buffer.from('before'), OPTIONS);
  const giveBack = fillDisk(disk);
  await assert.rejects(store.put('a', Buffer.alloc(1_000_000), OPTIONS), (error) => {
    assert.ok(error instanceof StorageUnavailable);
    return /ENOSPC/.test(error.message);
  });
  giveBack();
  assert.equal(filesIn(join(disk, 'objects')).length, 1);
  assert.equal(String(Buffer.concat(await Array.fromAsync((await store.read('a'))?.body ?? []))), 'before');
});

test('a folder that cannot be used stops the start and names the setting', async (t) => {
  const folder = workFolder(t);
  writeFileSync(join(folder, 'objects'), 'a file');
  await assert.rejects(open(join(folder, 'objects')), (error) => {
    assert.ok(error instanceof DataFolderError);
    return /TOLLGATE_DATA/.test(error.message);
  });
});

test('a file that may not be read is a fault of the store', { skip: IS_ROOT }, async (t) => {
  const folder = workFolder(t);
  const store = await open(folder);
  await store.put('a', Buffer.from('x'), OPTIONS);
  chmodSync(filesIn(folder)[0] ?? '', 0);
  await assert.rejects(store.read('a'), StorageUnavailable);
});

test('a folder in the place of a file is a fault of the store', async (t) => {
  const folder = workFolder(t);
  const store = await open(folder);
  await store.put('a', Buffer.from('x'), OPTIONS);
  const path = filesIn(folder)[0] ?? '';
  await store.remove('a');
  mkdirSync(path);
  await assert.rejects(store.put('a', Buffer.from('x'), OPTIONS), StorageUnavailable);
  await assert.rejects(store.remove('a'), StorageUnavailable);
});

/** Writes half an object, says so, and waits to be killed. */
const WRITER = `
  import { FolderStore } from ${JSON.stringify(new URL('../src/storage/index.ts', import.meta.url).href)};
  import { Secret } from ${JSON.stringify(new URL('../src/config.ts', import.meta.url).href)};
  const store = await FolderStore.open({ folder: process.argv[1], publicUrl: 'http://a', rootSecret: new Secret('x') });
  async function* half() {
    yield Buffer.from('half');
    console.log('half');
    await new Promise((resolve) => setTimeout(resolve, 600_000));
  }
  await store.put('a', half(), { mimeType: 'image/png', bytesMax: 100 });
`;

function open(folder: string): Promise<FolderStore> {
  return FolderStore.open({ folder, publicUrl: PUBLIC_URL, rootSecret: rootSecret() });
}

function rootSecret(): Secret {
  assert.ok(gateway.config.rootSecret !== undefined);
  return gateway.config.rootSecret;
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

function openFilesIn(folder: string): number {
  const paths = readdirSync('/proc/self/fd').map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return '';
    }
  });
  return paths.filter((path) => path.startsWith(folder)).length;
}
