import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { smallPng } from '../src/vendors/fal/emulator/files.ts';
import { form, headOf, tailOf, typeOf } from './support/forms.ts';
import type { Answer, NewCaller } from './support/gateway.ts';
import { crowd, rowsOf, storedFiles, sweep, tracesOf } from './support/keeping.ts';
import { VIDEOS, videoModel } from './support/media-models.ts';
import { paidCaller } from './support/paid-calls.ts';
import { until } from './support/postgres.ts';
import { RawConnection, requestText } from './support/raw-http.ts';
import { Studio } from './support/studio.ts';

const FILES = '/v1/files';
const MIB = 1024 * 1024;
const FILE_BYTES_MAX = 200 * MIB;
const QUOTA_FILES = 100;
const QUOTA_BYTES = 5 * 1024 * MIB;
const DAY = 24 * 3600;

const studio = new Studio();
const BY_CLIPS = videoModel(
  'studio/by-clips',
  [{ upstream: 'queue', model: 'bytedance/seedance-2.0/reference-to-video' }],
  ['reference_audios'],
);
before(async () => {
  await studio.start();
  await studio.gateway.putConfig(studio.document({}, [BY_CLIPS]));
});
after(() => studio.stop());

let caller: NewCaller;
beforeEach(async () => {
  caller = await paidCaller(studio.gateway);
});
afterEach(() => studio.gateway.assertBooksBalance());

function upload(bytes: Buffer, by: NewCaller = caller): Promise<Answer> {
  return studio.gateway.call('POST', FILES, { key: by.key, ...form([{ name: 'file', fileName: 'gate.png', bytes }]) });
}

async function kept(bytes: Buffer, by: NewCaller = caller): Promise<void> {
  const answer = await upload(bytes, by);
  assert.equal(answer.status, 200, answer.text);
}

function refused(answer: Answer, status: number, code: string): void {
  assert.deepEqual([answer.status, answer.json?.error?.code], [status, code], answer.text);
}

describe('how large a file may be', () => {
  const HEAD = headOf({ name: 'file', fileName: 'long.wav' }, 'large');
  const TAIL = Buffer.concat([Buffer.from('\r\n'), tailOf('large')]);

  /** How a sound of silence begins that has this many bytes in all. */
  function waveHead(bytes: number): Buffer {
    const head = Buffer.alloc(44);
    head.write('RIFF', 0, 'latin1');
    head.writeUInt32LE(bytes - 8, 4);
    head.write('WAVEfmt ', 8, 'latin1');
    head.writeUInt32LE(16, 16);
    head.writeUInt16LE(1, 20);
    head.writeUInt16LE(2, 22);
    head.writeUInt32LE(48_000, 24);
    head.writeUInt32LE(192_000, 28);
    head.writeUInt16LE(4, 32);
    head.writeUInt16LE(16, 34);
    head.write('data', 36, 'latin1');
    head.writeUInt32LE(bytes - 44, 40);
    return head;
  }

  /** Sent piece by piece, so that nobody ever holds it. */
  async function send(bytes: number): Promise<Answer> {
    using connection = await RawConnection.open(studio.gateway.url);
    await connection.send(requestHead(HEAD.length + bytes + TAIL.length));
    await connection.send(Buffer.concat([HEAD, waveHead(bytes)]));
    const silence = Buffer.alloc(MIB);
    for (let left = bytes - 44; left > 0; left -= MIB)
      await connection.send(left < MIB ? silence.subarray(0, left) : silence);
    await connection.send(TAIL);
    return await connection.answer();
  }

  function requestHead(length: number): string {
    const lines = [`Authorization: Bearer ${caller.key}`, `Content-Type: ${typeOf('large')['content-type']}`];
    return requestText(`POST ${FILES}`, [...lines, `Content-Length: ${length}`]);
  }

  test('R-486: 200 MiB are kept', async () => {
    const { status, json } = await send(FILE_BYTES_MAX);
    assert.deepEqual([status, json.bytes, json.mime_type], [200, FILE_BYTES_MAX, 'audio/wav']);
    const tail = await studio.fetched(json.url, { range: 'bytes=-4' });
    assert.equal(tail.headers['content-range'], `bytes ${FILE_BYTES_MAX - 4}-${FILE_BYTES_MAX - 1}/${FILE_BYTES_MAX}`);
    // More than any reference may have.
    const asked = { model: 'studio/by-clips', prompt: 'a gate', seconds: 5, reference_audios: [json.url] };
    const answer = await studio.gateway.call('POST', VIDEOS, { key: caller.key, body: asked });
    refused(answer, 400, 'invalid_input_url');
    await dropFiles();
  });

  test('R-486, R-508: one byte more is too large, and nothing of it stays', async () => {
    const { status, json } = await send(FILE_BYTES_MAX + 1);
    assert.deepEqual([status, json.error.code], [413, 'file_too_large']);
    assert.equal((await tracesOf(studio.gateway, caller)).files, 0);
    await until(() => storedFiles(studio.gateway).every((path) => !path.includes('unfinished')));
  });

  test('R-486: what says that it is larger is not even read', async () => {
    using connection = await RawConnection.open(studio.gateway.url);
    await connection.send(requestHead(300 * MIB));
    refused(await connection.answer(), 413, 'file_too_large');
  });

  async function dropFiles(): Promise<void> {
    studio.gateway.clock.advance(DAY + 1);
    await sweep(studio);
  }
});

describe('how many files an account keeps', () => {
  /** As if they had been uploaded, without their bytes. */
  async function has(files: number, bytes: number): Promise<void> {
    const { clock } = studio.gateway;
    await rowsOf(
      studio.gateway,
      `insert into files (id, account_id, object_key, filename, mime_type, bytes, created_at, expires_at)
       select 'file_' || $6 || place, $1, 'files/' || $6 || place, 'f', 'image/png', $3::bigint / $2, $4, $5
       from generate_series(1, $2::int) as place`,
      [caller.accountId, files, bytes, clock.now(), new Date(clock.nowMs() + DAY * 1000), randomUUID()],
    );
  }

  test('R-490: a hundred, and the next when the first are gone', async () => {
    await has(QUOTA_FILES - 1, 0);
    await kept(smallPng());
    const answer = await upload(smallPng());
    refused(answer, 429, 'file_quota_exceeded');
    assert.equal(answer.headers['retry-after'], '60');
    assert.equal((await tracesOf(studio.gateway, caller)).files, QUOTA_FILES);
    await kept(smallPng(), await paidCaller(studio.gateway));
    studio.gateway.clock.advance(DAY);
    await kept(smallPng());
  });

  test('R-490: five gibibytes, to the byte', async () => {
    const { length } = smallPng();
    await has(1, QUOTA_BYTES - 2 * length + 1);
    await kept(smallPng());
    refused(await upload(smallPng()), 429, 'file_quota_exceeded');
    studio.gateway.clock.advance(DAY);
    await has(1, QUOTA_BYTES - length);
    await kept(smallPng());
  });

  test('R-490: uploads at the same time do not get past it', async () => {
    caller = await crowd(studio.gateway, 1000);
    await has(QUOTA_FILES - 3, 0);
    const answers = await Promise.all(Array.from({ length: 20 }, () => upload(smallPng())));
    assert.equal(answers.filter(({ status }) => status === 200).length, 3);
    assert.equal((await tracesOf(studio.gateway, caller)).files, QUOTA_FILES);
  });
});
