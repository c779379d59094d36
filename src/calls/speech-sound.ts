import { UpstreamError } from '../errors.ts';
import { SNIFF_BYTES } from '../limits.ts';
import { asMeasured, type Sniffed, sniff } from '../media/index.ts';
import type { Speech } from '../vendors/index.ts';

/** What a clip is, by its bytes. */
export interface Sound {
  readonly mimeType: string;
  /** Without the dot. */
  readonly extension: string;
  /** Undefined for samples without a header. */
  readonly sniffed: Sniffed | undefined;
  readonly samples: Samples | undefined;
}

type Samples = NonNullable<Speech['samples']>;

const MP3: Sniffed = { kind: 'audio', mimeType: 'audio/mpeg', extension: 'mp3' };

/**
 * What begins with these bytes; undefined while more of them are needed to tell, which is never beyond SNIFF_BYTES.
 * Throws UpstreamError for nothing at all, for text such as an error in JSON or HTML, and for pictures.
 */
export function soundOf(head: Buffer, isAll: boolean, samples: Samples | undefined): Sound | undefined {
  const isEnough = isAll || head.length >= SNIFF_BYTES;
  if (head.length === 0) {
    if (isAll) throw new UpstreamError('garbled', 'the answer is empty');
    return undefined;
  }
  if (looksLikeText(head)) {
    if (!isEnough && head.length < TEXT_BYTES) return undefined;
    throw new UpstreamError('garbled', `text in place of audio: ${head.toString('latin1', 0, 200)}`);
  }
  if (samples !== undefined) return { ...typeOfSamples(samples), sniffed: undefined, samples };
  const sniffed = sniff(head);
  if (sniffed?.kind === 'image') throw new UpstreamError('garbled', `${sniffed.mimeType} in place of audio`);
  // The usual format, with something in front of it that players pass over.
  const found = sniffed ?? (isEnough ? MP3 : undefined);
  return found && asSound(found);
}

/** Speech has no pictures: a container that might hold some is one of sound alone. */
function asSound(found: Sniffed): Sound {
  const sniffed = asMeasured(found, { hasVideo: false });
  return { mimeType: sniffed.mimeType, extension: sniffed.extension, sniffed, samples: undefined };
}

function typeOfSamples({ rate, channels }: Samples): { mimeType: string; extension: string } {
  return { mimeType: `audio/pcm; rate=${rate}; channels=${channels}`, extension: 'pcm' };
}

/** Sound that begins with printable characters is told from a text by what follows them. */
const TEXT_BYTES = 64;
const CONTROL_BYTES_MAX = 0x1f;
const WHITE_SPACE = [0x09, 0x0a, 0x0d];

function looksLikeText(head: Buffer): boolean {
  const start = head.subarray(0, TEXT_BYTES);
  if (start.some((byte) => byte <= CONTROL_BYTES_MAX && !WHITE_SPACE.includes(byte))) return false;
  try {
    // A character that is cut off at the end does not matter.
    new TextDecoder('utf-8', { fatal: true }).decode(start, { stream: true });
    return true;
  } catch {
    return false;
  }
}
