import type { S3Client } from '@aws-sdk/client-s3';
import { S3_PART_BYTES } from '../limits.ts';

type Sdk = typeof import('@aws-sdk/client-s3');

export interface Upload {
  readonly target: { readonly Bucket: string; readonly Key: string };
  readonly mimeType: string;
  readonly chunks: AsyncIterable<Buffer>;
  readonly signal: AbortSignal | undefined;
}

/**
 * One part after the other through one buffer, so that each upload costs the memory of one part. The SDK's own uploader
 * makes new buffers for each, and ten large uploads at once took more than twice as much.
 */
export async function upload(sdk: Sdk, client: S3Client, { target, mimeType, chunks, signal }: Upload): Promise<void> {
  let begun: Begun | undefined;
  const parts: { PartNumber: number; ETag: string | undefined }[] = [];
  try {
    for await (const { Body, isLast } of partsOf(chunks)) {
      if (isLast && begun === undefined) {
        await client.send(new sdk.PutObjectCommand({ ...target, Body, ContentType: mimeType }));
        return;
      }
      begun ??= await begin(sdk, client, target, mimeType);
      const PartNumber = parts.length + 1;
      const command = new sdk.UploadPartCommand({ ...begun, PartNumber, Body });
      const { ETag } = await client.send(command, signal === undefined ? {} : { abortSignal: signal });
      parts.push({ PartNumber, ETag });
    }
    if (begun === undefined) throw new Error('an upload of no parts');
    await client.send(new sdk.CompleteMultipartUploadCommand({ ...begun, MultipartUpload: { Parts: parts } }));
  } catch (error) {
    if (begun !== undefined) await client.send(new sdk.AbortMultipartUploadCommand(begun)).catch(() => undefined);
    throw error;
  }
}

interface Begun {
  readonly Bucket: string;
  readonly Key: string;
  readonly UploadId: string | undefined;
}

async function begin(sdk: Sdk, client: S3Client, target: Upload['target'], mimeType: string): Promise<Begun> {
  const { UploadId } = await client.send(new sdk.CreateMultipartUploadCommand({ ...target, ContentType: mimeType }));
  return { ...target, UploadId };
}

/** At least one, even of nothing. The bytes of one are good until the next is asked for. */
async function* partsOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<{ Body: Buffer; isLast: boolean }, void, void> {
  const part = Buffer.allocUnsafeSlow(S3_PART_BYTES);
  let filled = 0;
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; ) {
      if (filled === part.length) {
        yield { Body: part, isLast: false };
        filled = 0;
      }
      const copied = chunk.copy(part, filled, at);
      filled += copied;
      at += copied;
    }
  }
  yield { Body: part.subarray(0, filled), isLast: true };
}
