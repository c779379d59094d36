import assert from 'node:assert/strict';
import type { ImageRequest } from '../../src/requests/index.ts';
import { findVendor, type Vendor } from '../../src/vendors/index.ts';

type ImageWork = NonNullable<Vendor['image']>;
export type ImageCall = Parameters<ImageWork['submit']>[0];
type Media = ImageCall['referenceImages'][number];

function imageWork(): ImageWork {
  const work = findVendor('openai')?.image;
  assert.ok(work);
  return work;
}

export const image = imageWork();

/** A request that asks for nothing but a prompt. */
export function imageRequest(fields: Partial<ImageCall> = {}): ImageRequest<Media> {
  return {
    kind: 'image',
    model: 'public',
    prompt: 'A lighthouse',
    n: 1,
    size: undefined,
    resolution: undefined,
    aspectRatio: undefined,
    quality: undefined,
    style: undefined,
    negativePrompt: undefined,
    background: undefined,
    outputFormat: undefined,
    responseFormat: undefined,
    seed: undefined,
    watermark: undefined,
    referenceImages: [],
    mask: undefined,
    extra: {},
    ...fields,
  };
}

export function mediaOf(bytes: Buffer, mimeType: string): Media {
  return { mimeType, bytes: bytes.length, url: undefined, read: async () => bytes };
}

export function orderOf(count = 1): Parameters<ImageWork['submit']>[1] {
  return { id: 'call_1', count, startWithinMs: 60_000 };
}
