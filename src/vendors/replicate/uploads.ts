import type { Upstream } from '../kit/http.ts';
import { mapMedia, withoutAddress } from '../kit/inline-media.ts';
import { objectAt, requiredString } from '../kit/json.ts';
import type { WireFields, WireMedia } from '../kit/mapping.ts';
import { beforeSubmission } from '../kit/preparation.ts';
import type { Media } from '../vendor.ts';
import { wire } from './wire.ts';

/** As a data URL it has 256 KiB, which is what the vendor takes inside an input. */
const INLINE_BYTES_MAX = 192 * 1024;
const CREATED: readonly number[] = [200, 201];

/** The input with what is too large for it at an address: its own, or one that the vendor gives to an upload. */
export function withUploads(input: WireFields, upstream: Upstream): Promise<Record<string, WireMedia>> {
  return mapMedia(input, async (media) => {
    if (media.bytes <= INLINE_BYTES_MAX) return withoutAddress(media);
    return media.url?.startsWith('https:') === true ? media.url : upload(media, upstream);
  });
}

/** A file that no prediction uses costs nothing and is deleted by the vendor. */
function upload(media: Media, upstream: Upstream): Promise<string> {
  const [, subtype = 'bin'] = media.mimeType.split('/');
  const part = { name: 'content', fileName: `input.${subtype}`, file: media };
  return beforeSubmission('upload', async () => {
    const answer = await wire.json(upstream, { path: '/files', body: { form: [part] }, accepts: CREATED });
    return requiredString(objectAt(answer, 'urls'), 'get');
  });
}
