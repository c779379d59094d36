import assert from 'node:assert/strict';
import { plainImage } from '../../../test/support/plain-requests.ts';
import { ApiError, type Fault, UpstreamError } from '../../errors.ts';
import { type Submitted, type Upstream, UpstreamPools, type VendorWork } from '../index.ts';

interface Startable {
  readonly url: string;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts an emulator for calls by one upstream. It stops, and its connections are closed, however the run ends. */
export async function withUpstream(
  emulator: Startable,
  { model, apiKey }: Pick<Upstream, 'model' | 'apiKey'>,
  run: (upstream: Upstream) => Promise<void>,
): Promise<void> {
  await emulator.start();
  const pools = new UpstreamPools();
  const { signal } = new AbortController();
  try {
    await run({ model, address: emulator.url, apiKey, timeoutMs: 60_000, signal, pools });
  } finally {
    await pools.close();
    await emulator.stop();
  }
}

export type Picture = Parameters<typeof plainImage>[0];

/** Checked as the engine does it, and then submitted for as many as one call can bring. */
export async function submitPicture(
  { image = assert.fail('no pictures') }: Pick<VendorWork, 'image'>,
  upstream: Upstream,
  fields: Picture = {},
): Promise<Submitted> {
  const request = plainImage(fields);
  image.check(request, upstream.model);
  const count = image.perCall(request, upstream.model);
  return image.submit(request, { id: 'order-1', count, startWithinMs: 600_000 }, upstream);
}

export function isFault(fault: Fault, fields: Partial<UpstreamError> = {}): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof UpstreamError, String(error));
    assert.equal(error.fault, fault, error.message);
    for (const [name, value] of Object.entries(fields)) assert.equal(error[name as keyof UpstreamError], value, name);
    return true;
  };
}

/** In the words of all vendors. */
export function isRefused(field: string, why = ''): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof ApiError, String(error));
    assert.equal(error.code, 'unsupported_parameter');
    assert.equal(error.param, field);
    assert.ok(error.message.startsWith(`"${field}": this model ${why}`), error.message);
    return true;
  };
}
