import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { request } from 'undici';
import { OpenAiEmulator } from '../../src/vendors/openai/emulator.ts';
import { CLIP, earModel, TRANSCRIPTIONS } from '../support/booth.ts';
import type { Fields } from '../support/documents.ts';
import { headOf, tailOf, typeOf } from '../support/forms.ts';
import { ADMIN_TOKEN, type Answer } from '../support/gateway.ts';
import { residentBytes, skipMemory as skip } from '../support/memory.ts';
import { ownDatabase, Program } from '../support/program.ts';

const MIB = 1024 * 1024;
const BOUNDARY = 'between-the-parts';

test('R-418: a clip of 100 MiB reaches the upstream and needs little memory', { skip, timeout: 240_000 }, async (t) => {
  const upstream = new OpenAiEmulator({ isLenient: true });
  await upstream.start();
  t.after(() => upstream.stop());
  const program = await Program.start(t, await ownDatabase(t));
  const key = await configured(program, upstream.url);
  const transcribe = async (bytes: number) => {
    assert.equal(await send(program, key, bytes), 200);
    const [heard] = upstream.recordings.splice(0);
    upstream.requests.length = 0;
    assert.equal(heard?.file.bytes.length, bytes);
  };
  // Too large to be held as well, so that all of the code has run.
  await transcribe(4 * MIB);
  const before = residentBytes(program, 'VmRSS');
  await transcribe(100 * MIB);
  const rise = residentBytes(program, 'VmHWM') - before;
  assert.ok(rise < 48 * MIB, `${Math.round(rise / MIB)} MiB more at the most`);
});

/** A key with credits for a model behind this address. */
async function configured(program: Program, url: string): Promise<string> {
  const admin = async (method: string, path: string, body: Fields): Promise<Answer['json']> => {
    const answer = await program.call(method, `/api/admin${path}`, { key: ADMIN_TOKEN, body });
    assert.equal(answer.status, 200, answer.text);
    return answer.json;
  };
  const upstreams = [{ id: 'open', vendor: 'openai', base_url: url }];
  await admin('PUT', '/config', { upstreams, models: [earModel('booth/open', ['open'])] });
  const { id } = await admin('POST', '/accounts', { name: 'Ada' });
  await admin('POST', `/accounts/${id}/grants`, { credits: 100_000 });
  return (await admin('POST', `/accounts/${id}/keys`, { name: 'laptop' })).key;
}

async function send({ url }: Program, key: string, bytes: number): Promise<number> {
  const headers = { ...typeOf(BOUNDARY), authorization: `Bearer ${key}` };
  const answer = await request(url + TRANSCRIPTIONS, { method: 'POST', headers, body: Readable.from(form(bytes)) });
  await answer.body.dump();
  return answer.statusCode;
}

function* form(bytes: number): Iterable<Buffer> {
  yield headOf({ name: 'model' }, BOUNDARY);
  yield Buffer.from('booth/open\r\n');
  yield headOf({ name: 'file', fileName: 'a.wav' }, BOUNDARY);
  yield* silence(bytes);
  yield Buffer.from('\r\n');
  yield tailOf(BOUNDARY);
}

/** A sound of so many bytes, made while it is sent. */
function* silence(bytes: number): Iterable<Buffer> {
  const head = Buffer.from(CLIP.subarray(0, 44));
  head.writeUInt32LE(bytes - 8, 4);
  head.writeUInt32LE(bytes - head.length, 40);
  yield head;
  const piece = Buffer.alloc(64 * 1024);
  for (let left = bytes - head.length; left > 0; left -= piece.length) yield piece.subarray(0, left);
}
