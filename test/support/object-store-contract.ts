import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { request } from 'undici';
import { OBJECT_KEY_CHARS_MAX, S3_PART_BYTES } from '../../src/limits.ts';
import { type ByteRange, type LinkOptions, type ObjectStore, ObjectTooLarge } from '../../src/storage/index.ts';

const MIB = 1024 * 1024;
const PNG = { mimeType: 'image/png', bytesMax: 1000 };

export interface StoreUnderTest {
  readonly store: ObjectStore;
  /** The clock by which links expire. */
  readonly now: () => Date;
  /** Where a link leads, when it is not what it says. */
  readonly addressOf: (link: string) => string;
}

/** What every object store promises, whatever lies behind it. */
export function objectStoreContract(name: string, subject: () => StoreUnderTest): void {
  const promise: Promised = (what, run) => {
    test(`${name}: ${what}`, () => run(subject()));
  };
  promiseKeeping(promise);
  promiseAllOrNothing(promise);
  promiseRanges(promise);
  promiseKeys(promise);
  promiseLinks(promise);
  promiseOwnLinks(promise);
}

type Promised = (what: string, run: (subject: StoreUnderTest) => Promise<void>) => void;

function promiseKeeping(promise: Promised): void {
  promise('what is put is read back', async ({ store }) => {
    const key = newKey();
    assert.deepEqual(await store.put(key, from(['one ', 'and ', '', 'two']), PNG), { bytes: 11 });
    assert.deepEqual(await textOf(store, key), { bytes: 11, text: 'one and two' });
    assert.deepEqual(await store.put(key, Buffer.from('in one piece'), PNG), { bytes: 12 });
    assert.deepEqual(await textOf(store, key), { bytes: 12, text: 'in one piece' });
  });

  promise('an empty object is an object', async ({ store }) => {
    for (const body of [Buffer.alloc(0), from([])]) {
      const key = newKey();
      assert.deepEqual(await store.put(key, body, PNG), { bytes: 0 });
      assert.deepEqual(await textOf(store, key), { bytes: 0, text: '' });
    }
  });

  promise('what is not there is undefined, and removing it harms nobody', async ({ store }) => {
    const key = newKey();
    assert.equal(await store.read(key), undefined);
    assert.equal(await store.read(key, { start: 0, end: 0 }), undefined);
    await store.remove(key);
    await store.put(key, Buffer.from('here'), PNG);
    await store.remove(key);
    assert.equal(await store.read(key), undefined);
    await store.remove(key);
  });

  promise('objects about the size of one part come back whole', async ({ store }) => {
    for (const bytes of [S3_PART_BYTES - 1, S3_PART_BYTES, S3_PART_BYTES + 1, 2 * S3_PART_BYTES]) {
      const key = newKey();
      const body = Buffer.alloc(bytes, randomUUID());
      assert.deepEqual(await store.put(key, body, { mimeType: 'video/mp4', bytesMax: bytes }), { bytes });
      const object = await store.read(key);
      assert.ok(Buffer.concat(await Array.fromAsync(object?.body ?? [])).equals(body), `${bytes} bytes`);
    }
  });

  promise('a stream of 100 MiB comes back byte for byte', async ({ store }) => {
    const key = newKey();
    const written = createHash('sha256');
    const chunk = Buffer.alloc(100_003, randomUUID());
    const bytes = 100 * MIB;
    async function* body(): AsyncGenerator<Buffer> {
      for (let left = bytes; left > 0; left -= chunk.length) {
        chunk.writeUInt32LE(left);
        const piece = Buffer.from(chunk.subarray(0, Math.min(left, chunk.length)));
        written.update(piece);
        yield piece;
      }
    }
    assert.deepEqual(await store.put(key, body(), { mimeType: 'video/mp4', bytesMax: bytes }), { bytes });
    const read = createHash('sha256');
    const object = await store.read(key);
    assert.equal(object?.bytes, bytes);
    for await (const piece of object?.body ?? []) read.update(piece);
    assert.equal(read.digest('hex'), written.digest('hex'));
    await store.remove(key);
  });
}

function promiseAllOrNothing(promise: Promised): void {
  promise('readers see an object only when it is complete', async ({ store }) => {
    const key = newKey();
    const { body, go } = halfWay('first ', 'second');
    const written = store.put(key, body, PNG);
    await go.reached;
    assert.equal(await store.read(key), undefined);
    go.on();
    await written;
    assert.equal((await textOf(store, key))?.text, 'first second');
  });

  promise('readers see the old object until the new one is complete', async ({ store }) => {
    const key = newKey();
    await store.put(key, Buffer.from('old'), PNG);
    const { body, go } = halfWay('new', 'er');
    const written = store.put(key, body, PNG);
    await go.reached;
    assert.equal((await textOf(store, key))?.text, 'old');
    go.on();
    await written;
    assert.equal((await textOf(store, key))?.text, 'newer');
  });

  promise('an object of the most bytes is kept, and of one more nothing is', async ({ store }) => {
    const key = newKey();
    const limit = { mimeType: 'image/png', bytesMax: 10 };
    for (const body of [Buffer.alloc(11), from(['12345', '678901'])]) {
      await assert.rejects(store.put(key, body, limit), (error) => error instanceof ObjectTooLarge);
      assert.equal(await store.read(key), undefined);
    }
    assert.deepEqual(await store.put(key, from(['12345', '67890']), limit), { bytes: 10 });
    await assert.rejects(store.put(key, Buffer.alloc(11), limit), ObjectTooLarge);
    assert.equal((await textOf(store, key))?.text, '1234567890');
  });

  promise('an object that turns out too large after many parts leaves nothing, and its source is let go', async (s) => {
    const key = newKey();
    let isLetGo = false;
    async function* endless(): AsyncGenerator<Buffer> {
      try {
        for (;;) yield Buffer.alloc(MIB);
      } finally {
        isLetGo = true;
      }
    }
    const limit = { mimeType: 'video/mp4', bytesMax: 12 * MIB };
    await assert.rejects(s.store.put(key, endless(), limit), ObjectTooLarge);
    assert.ok(isLetGo);
    assert.equal(await s.store.read(key), undefined);
  });

  promise('what the source throws is thrown, and nothing is kept', async ({ store }) => {
    const key = newKey();
    const failure = new RangeError('the source broke');
    async function* broken(): AsyncGenerator<Buffer> {
      yield Buffer.alloc(100);
      throw failure;
    }
    await assert.rejects(store.put(key, broken(), PNG), (error) => error === failure);
    assert.equal(await store.read(key), undefined);
  });

  promise('a signal gives up even a source that hangs, and nothing is kept', async ({ store }) => {
    const key = newKey();
    const leaving = new AbortController();
    const reason = new Error('the caller left');
    const { body, go } = halfWay('first', 'second');
    const written = store.put(key, body, { ...PNG, signal: leaving.signal });
    await go.reached;
    leaving.abort(reason);
    await assert.rejects(written, (error) => error === reason);
    assert.equal(await store.read(key), undefined);
    await assert.rejects(
      store.put(key, from(['late']), { ...PNG, signal: leaving.signal }),
      (error) => error === reason,
    );
    assert.equal(await store.read(key), undefined);
  });
}

function promiseRanges(promise: Promised): void {
  const cases: readonly [range: ByteRange, text: string][] = [
    [{ start: 0, end: 9 }, '0123456789'],
    [{ start: 0, end: 0 }, '0'],
    [{ start: 9, end: 9 }, '9'],
    [{ start: 3, end: 5 }, '345'],
    [{ start: 8, end: 100 }, '89'],
    [{ start: 10, end: 12 }, ''],
  ];
  promise('a range gives its bytes and the size of the whole', async ({ store }) => {
    const key = newKey();
    await store.put(key, from(['01234', '56789']), PNG);
    for (const [range, text] of cases) assert.deepEqual(await textOf(store, key, range), { bytes: 10, text });
  });

  promise('a range of an empty object is empty', async ({ store }) => {
    const key = newKey();
    await store.put(key, Buffer.alloc(0), PNG);
    assert.deepEqual(await textOf(store, key, { start: 0, end: 9 }), { bytes: 0, text: '' });
  });

  promise('a loop over a body may be left early', async ({ store }) => {
    const key = newKey();
    await store.put(key, Buffer.alloc(3 * MIB), { mimeType: 'video/mp4', bytesMax: 3 * MIB });
    const object = await store.read(key);
    for await (const piece of object?.body ?? []) {
      assert.ok(piece.length < MIB);
      break;
    }
    assert.equal((await store.read(key, { start: 0, end: 0 }))?.bytes, 3 * MIB);
  });
}

function promiseKeys(promise: Promised): void {
  const wrong = ['', '/', 'a/', '/a', 'a//b', '..', '../a', 'a/../b', 'a.b', 'A', 'a b', 'a\0', 'a%2fb', 'ä'];
  promise('a key that is none is refused everywhere', async ({ store, now }) => {
    for (const key of [...wrong, 'x'.repeat(OBJECT_KEY_CHARS_MAX + 1)]) {
      await assert.rejects(store.put(key, Buffer.from('x'), PNG), /not a key/);
      await assert.rejects(store.read(key), /not a key/);
      await assert.rejects(store.remove(key), /not a key/);
      await assert.rejects(store.link(key, linkOptions(now())), /not a key/);
    }
  });

  promise('the longest key is taken, and a key may begin with another', async ({ store }) => {
    const short = newKey();
    const longest = `${short}/${'x'.repeat(OBJECT_KEY_CHARS_MAX - short.length - 1)}`;
    for (const key of [longest, short, `${short}/a`, `${short}-a`]) await store.put(key, Buffer.from(key), PNG);
    for (const key of [longest, short, `${short}/a`, `${short}-a`]) {
      assert.equal((await textOf(store, key))?.text, key);
    }
  });
}

function promiseLinks(promise: Promised): void {
  promise('R-244: a link is fetched without a credential, with the type and name it was made for', async (s) => {
    const key = newKey();
    await s.store.put(key, Buffer.from('0123456789'), PNG);
    const link = await s.store.link(key, linkOptions(s.now()));
    const { status, headers, text } = await fetched(s, link);
    assert.deepEqual([status, text], [200, '0123456789']);
    assert.equal(headers['content-type'], 'image/webp');
    assert.equal(headers['content-disposition'], 'inline; filename="picture-1.webp"');
    assert.equal(headers['content-length'], '10');
    assert.match(String(headers['cache-control']), /^private, max-age=(899|900)$/);
  });

  promise('R-245: a link serves ranges', async (s) => {
    const key = newKey();
    await s.store.put(key, Buffer.from('0123456789'), PNG);
    const link = await s.store.link(key, linkOptions(s.now()));
    const { status, headers, text } = await fetched(s, link, { range: 'bytes=2-4' });
    assert.deepEqual([status, text, headers['content-range']], [206, '234', 'bytes 2-4/10']);
    const beyond = await fetched(s, link, { range: 'bytes=10-' });
    assert.equal(beyond.status, 416);
  });

  promise('R-241: a link that has expired is refused', async (s) => {
    const key = newKey();
    await s.store.put(key, Buffer.from('x'), PNG);
    const past = new Date(s.now().getTime() - 600_000);
    const expired = { ...linkOptions(past), expiresAt: new Date(past.getTime() + 599_000) };
    assert.equal((await fetched(s, await s.store.link(key, expired))).status, 403);
    const holds = { ...linkOptions(past), expiresAt: new Date(past.getTime() + 900_000) };
    assert.equal((await fetched(s, await s.store.link(key, holds))).status, 200);
  });

  promise('R-247: a link for one object does not open another, and a wrong signature opens none', async (s) => {
    const [key, other] = [newKey(), newKey()];
    for (const name of [key, other]) await s.store.put(name, Buffer.from('x'), PNG);
    const link = await s.store.link(key, linkOptions(s.now()));
    assert.equal((await fetched(s, link)).status, 200);
    assert.equal((await fetched(s, link.replace(key, other))).status, 403);
    assert.equal((await fetched(s, changedAt(link, link.length - 1))).status, 403);
    assert.equal((await fetched(s, link.replace('webp', 'html'))).status, 403);
  });

  promise('a link to what is not there answers 404', async (s) => {
    assert.equal((await fetched(s, await s.store.link(newKey(), linkOptions(s.now())))).status, 404);
  });

  promise(
    'R-240: links made more than a second apart differ, even when they expire together',
    async ({ store, now }) => {
      const key = newKey();
      const options = linkOptions(now());
      const later = { ...options, now: new Date(options.now.getTime() + 1001) };
      assert.notEqual(await store.link(key, options), await store.link(key, later));
    },
  );

  promise('a file name that could say more than a name is refused', async ({ store, now }) => {
    for (const fileName of ['', 'a"b', 'a;b', 'a/b', '.hidden', 'a\r\nb', 'ä.png', 'x'.repeat(101)]) {
      await assert.rejects(store.link('a', { ...linkOptions(now()), fileName }), /not a safe file name/);
    }
    assert.ok(await store.link('a', { ...linkOptions(now()), fileName: 'x'.repeat(100) }));
  });
}

function promiseOwnLinks(promise: Promised): void {
  promise('its own links are recognised until they expire', async ({ store, now }) => {
    const key = newKey();
    const options = linkOptions(now());
    const link = await store.link(key, options);
    const at = (seconds: number) => new Date(options.now.getTime() + seconds * 1000);
    assert.equal(store.keyOfLink(link, options.now), key);
    assert.equal(store.keyOfLink(link, at(899)), key);
    assert.equal(store.keyOfLink(link, at(901)), undefined);
  });

  promise('R-247: a link of which any one character was changed is not recognised', async ({ store, now }) => {
    const options = linkOptions(now());
    const link = await store.link(newKey(), options);
    for (let at = 0; at < link.length; at++) {
      assert.equal(store.keyOfLink(changedAt(link, at), options.now), undefined, `${link} at ${at}`);
    }
    for (const text of ['', link.slice(0, -1), `${link}0`, `${link}&x=1`, `${link}?`, link.replace('?', '?x=1&')]) {
      assert.equal(store.keyOfLink(text, options.now), undefined, text);
    }
  });
}

const newKey = () => `test/${randomUUID()}`;

function linkOptions(now: Date): LinkOptions {
  const expiresAt = new Date(now.getTime() + 900_000);
  return { mimeType: 'image/webp', fileName: 'picture-1.webp', expiresAt, now };
}

/** Another character that could stand there as well. */
export function changedAt(text: string, at: number): string {
  return `${text.slice(0, at)}${text[at] === 'a' ? 'b' : 'a'}${text.slice(at + 1)}`;
}

async function* from(pieces: readonly string[]): AsyncGenerator<Buffer> {
  for (const piece of pieces) yield Buffer.from(piece);
}

/** A body that stops in its middle until it is told to go on. */
function halfWay(first: string, second: string) {
  const reached = Promise.withResolvers<void>();
  const onwards = Promise.withResolvers<void>();
  async function* body(): AsyncGenerator<Buffer> {
    yield Buffer.from(first);
    reached.resolve();
    await onwards.promise;
    yield Buffer.from(second);
  }
  return { body: body(), go: { reached: reached.promise, on: onwards.resolve } };
}

async function textOf(store: ObjectStore, key: string, range?: ByteRange) {
  const object = await store.read(key, range);
  if (object === undefined) return undefined;
  const pieces = await Array.fromAsync(object.body);
  return { bytes: object.bytes, text: Buffer.concat(pieces).toString('latin1') };
}

async function fetched({ addressOf }: StoreUnderTest, link: string, headers: Record<string, string> = {}) {
  const answer = await request(addressOf(link), { headers, reset: true });
  return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() };
}
