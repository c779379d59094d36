import { MCP_INLINE_AUDIO_BYTES_MAX, MCP_INLINE_IMAGE_BYTES_MAX, MCP_INLINE_IMAGE_PIXELS_MAX } from '../limits.ts';
import type { McpDeps } from './deps.ts';
import type { Block } from './tool.ts';

/** A result in the object store, with its link. */
export interface LinkedMedia {
  readonly objectKey: string;
  readonly url: string;
  readonly mimeType: string;
  readonly bytes: number;
  readonly width?: number | undefined;
  readonly height?: number | undefined;
  readonly seconds?: number | undefined;
}

/** What models can pass on is what stands in text: kind, size, and the link with its time. */
export function linkLine(media: LinkedMedia, name: string): string {
  const { mimeType, bytes, width, height, seconds, url } = media;
  const pixels = width === undefined || height === undefined ? '' : `${width}x${height}, `;
  const length = seconds === undefined ? '' : `${Math.round(seconds * 10) / 10} s, `;
  return `${name}: ${mimeType}, ${pixels}${length}${Math.ceil(bytes / 1024)} KiB. Link, valid 24 hours: ${url}`;
}

export function linkBlock({ url, mimeType }: LinkedMedia, name: string): Block {
  return { type: 'resource_link', uri: url, name, mimeType };
}

/**
 * A picture or sound that is small enough to stand in the answer as it is; nothing otherwise, and never a video: the client
 * pays tokens for every byte, and no production dependency scales a picture down.
 */
export async function inlineBlock({ objects }: Pick<McpDeps, 'objects'>, media: LinkedMedia): Promise<Block[]> {
  const type = inlineType(media);
  if (type === undefined) return [];
  const found = await objects.read(media.objectKey);
  if (found === undefined) return [];
  const data = Buffer.concat(await Array.fromAsync(found.body)).toString('base64');
  return [{ type, data, mimeType: media.mimeType }];
}

function inlineType({ mimeType, bytes, width, height }: LinkedMedia): 'image' | 'audio' | undefined {
  if (mimeType.startsWith('audio/')) return bytes <= MCP_INLINE_AUDIO_BYTES_MAX ? 'audio' : undefined;
  if (!mimeType.startsWith('image/') || bytes > MCP_INLINE_IMAGE_BYTES_MAX) return undefined;
  return Math.max(width ?? 0, height ?? 0) <= MCP_INLINE_IMAGE_PIXELS_MAX ? 'image' : undefined;
}
