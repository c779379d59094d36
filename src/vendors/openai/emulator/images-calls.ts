import assert from 'node:assert/strict';
import { plainImage } from '../../../../test/support/plain-requests.ts';
import type { ImageRequest } from '../../../schemas/index.ts';
import { inMemoryMedia, type Upstream, type Vendor } from '../../index.ts';
import type { OpenAiEmulator, OpenAiOptions } from '../emulator.ts';
import { work as vendor } from '../work.ts';
import { withEmulator } from './calls.ts';

type ImageWork = NonNullable<Vendor['image']>;
export type ImageCall = Parameters<ImageWork['submit']>[0];
type Media = ImageCall['referenceImages'][number];

function imageWork(): ImageWork {
  const work = vendor.image;
  assert.ok(work);
  return work;
}

export const image = imageWork();

/** A request that asks for nothing but a prompt. */
export function imageRequest(fields: Partial<ImageCall> = {}): ImageRequest<Media> {
  return plainImage({ prompt: 'A lighthouse', ...fields });
}

export function mediaOf(bytes: Buffer, mimeType: string): Media {
  return inMemoryMedia(bytes, mimeType);
}

export function orderOf(count = 1): Parameters<ImageWork['submit']>[1] {
  return { id: 'call_1', count, startWithinMs: 60_000 };
}

/** An upstream that has the author's model. */
export function withImages(
  run: (emulator: OpenAiEmulator, upstream: Upstream) => Promise<void>,
  options: OpenAiOptions = {},
): Promise<void> {
  return withEmulator(options, (emulator, upstream) => run(emulator, { ...upstream, model: 'gpt-image-2' }));
}

/** What comes of a request: each picture, or where it is. */
export async function pictures(
  fields: Partial<ImageCall>,
  upstream: Upstream,
  count = 1,
): Promise<(Buffer | string)[]> {
  const request = imageRequest({ n: count, ...fields });
  image.check(request, upstream.model);
  const submitted = await image.submit(request, orderOf(count), upstream);
  assert.ok(submitted.state === 'succeeded');
  return submitted.outputs.map((output) =>
    'data' in output ? output.data : 'url' in output ? output.url : output.path,
  );
}
