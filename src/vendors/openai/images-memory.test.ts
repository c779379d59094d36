import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline, Readable } from 'node:stream';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { UPSTREAM_PICTURES_BYTES_MAX } from '../../limits.ts';
import { UpstreamPools } from '../index.ts';
import { image, imageRequest, orderOf } from './emulator/images-calls.ts';

const MIB = 1024 * 1024;
const START = '{"data":[{"b64_json":"';
const END = '"}]}';
const PIECE = Buffer.alloc(MIB, 'iVBORw0K');

function* answerOf(length: number): Generator<Buffer> {
  yield Buffer.from(START);
  let bytes = length - START.length - END.length;
  for (; bytes > 0; bytes -= PIECE.length) yield PIECE.subarray(0, bytes);
  yield Buffer.from(END);
}

/** The first segment of its path says how many bytes it answers. */
const server = createServer((request, response) => {
  request.resume();
  pipeline(Readable.from(answerOf(Number(request.url?.split('/')[1]))), response, () => undefined);
});
const addressFor = (bytes: number) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/${bytes}`;
before(() => once(server.listen(0, '127.0.0.1').unref(), 'listening'));
after(() => server.close());

async function read(bytes: number): Promise<number> {
  const [pools, { signal }] = [new UpstreamPools(), new AbortController()];
  const upstream = { model: 'gpt-image-2', address: addressFor(bytes), apiKey: '', timeoutMs: 60_000, signal, pools };
  try {
    const submitted = await image.submit(imageRequest(), orderOf(), upstream);
    const [output] = submitted.state === 'succeeded' ? submitted.outputs : [];
    return output !== undefined && 'data' in output ? output.data.length : 0;
  } finally {
    await pools.close();
  }
}

test('an answer is read up to its bound, and not one byte more', async () => {
  const most = UPSTREAM_PICTURES_BYTES_MAX;
  assert.equal(await read(most), Math.floor(((most - START.length - END.length) * 3) / 4));
  await assert.rejects(read(most + 1), { fault: 'garbled', isUncertain: true });
});

test('a large answer is never in memory as text, as JSON and as bytes together', async () => {
  const program = `
    import { UpstreamPools } from '${import.meta.resolve('../index.ts')}';
    import { work } from '${import.meta.resolve('./work.ts')}';
    import { imageRequest, orderOf } from '${import.meta.resolve('./emulator/images-calls.ts')}';
    const pools = new UpstreamPools();
    const read = (address) => work.image.submit(imageRequest(), orderOf(), {
      model: 'gpt-image-2', address, apiKey: '', timeoutMs: 60_000, signal: new AbortController().signal, pools,
    });
    await read('${addressFor(MIB)}');
    const before = process.resourceUsage().maxRSS;
    const { outputs } = await read('${addressFor(30 * MIB)}');
    console.log(JSON.stringify([outputs[0].data.length, (process.resourceUsage().maxRSS - before) * 1024]));
    await pools.close();
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
  const [length, grown]: [number, number] = JSON.parse(stdout);
  assert.ok(length > 22 * MIB, `${length} bytes were read`);
  // The pieces and the whole are 45 MiB, and some of what was dropped is not gone yet. Parsing all of it takes 145.
  assert.ok(grown < 110 * MIB, `memory grew by ${Math.round(grown / MIB)} MiB`);
});
