import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { request } from 'undici';
import { pngOf } from '../support/asked-forms.ts';
import { ADMIN_TOKEN } from '../support/gateway.ts';
import { residentBytes, skipMemory as skip } from '../support/memory.ts';
import { ownDatabase, Program } from '../support/program.ts';

const MIB = 1024 * 1024;
const UPLOADS = 10;
const FILES = 4;
const BOUNDARY = 'between-the-parts';

test('R-340: ten uploads of nearly 100 MiB at once need little memory', { skip, timeout: 240_000 }, async (t) => {
  const program = await Program.start(t, await ownDatabase(t));
  const account = await program.call('POST', '/api/admin/accounts', { key: ADMIN_TOKEN, body: { name: 'Ada' } });
  const keys = `/api/admin/accounts/${account.json.id}/keys`;
  const { key } = (await program.call('POST', keys, { key: ADMIN_TOKEN, body: { name: 'laptop' } })).json;
  const picture = pngOf({ bytes: 24 * MIB });
  assert.equal(await upload(program.url, key, picture), 404);
  const before = residentBytes(program, 'VmRSS');
  const answers = await Promise.all(Array.from({ length: UPLOADS }, () => upload(program.url, key, picture)));
  assert.deepEqual(new Set(answers), new Set([404]));
  const rise = residentBytes(program, 'VmHWM') - before;
  assert.ok(rise < 200 * MIB, `${Math.round(rise / MIB)} MiB more at the most`);
});

/** For a model that does not exist: everything is taken in, and nothing is done with it. */
async function upload(url: string, key: string, picture: Buffer): Promise<number> {
  const head = (name: string) => `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"`;
  const file = [Buffer.from(`${head('image[]')}; filename="a.png"\r\n\r\n`), picture, Buffer.from('\r\n')];
  const values = Buffer.from(`${head('prompt')}\r\n\r\na gate\r\n${head('model')}\r\n\r\nnone\r\n--${BOUNDARY}--\r\n`);
  const body = Readable.from([...Array.from({ length: FILES }, () => file).flat(), values]);
  const headers = { authorization: `Bearer ${key}`, 'content-type': `multipart/form-data; boundary=${BOUNDARY}` };
  const answer = await request(`${url}/v1/images/edits`, { method: 'POST', headers, body });
  await answer.body.dump();
  return answer.statusCode;
}
