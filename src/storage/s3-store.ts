import { Readable } from 'node:stream';
import type { GetObjectCommandOutput, S3Client } from '@aws-sdk/client-s3';
import { unixSeconds } from '../clock.ts';
import { ConfigError, type S3Settings } from '../config.ts';
import { S3_CONNECT_TIMEOUT_MS, S3_CONNECTIONS_MAX, S3_IDLE_TIMEOUT_MS, S3_LINK_SECONDS_MAX } from '../limits.ts';
import { Incoming } from './incoming.ts';
import {
  assertKey,
  asUnavailable,
  type ByteRange,
  dispositionOf,
  type LinkOptions,
  type ObjectStore,
  type PutOptions,
  type StoredObject,
  storageUnavailable,
} from './object-store.ts';
import { PresignedLinks } from './presigned.ts';
import { upload } from './s3-upload.ts';

/** Throws ConfigError when the SDK finds no credentials or no region. The bucket itself is not asked for anything. */
export async function openS3Store(settings: S3Settings): Promise<ObjectStore> {
  const sdk = await loadSdk();
  const client = new sdk.S3Client(clientSettings(settings));
  try {
    const sample = await sdk.getSignedUrl(client, new sdk.GetObjectCommand({ Bucket: settings.bucket, Key: 'sample' }));
    const links = new PresignedLinks(sample.slice(0, sample.indexOf('sample?')));
    links.remember(await client.config.credentials());
    return new S3Store(sdk, client, settings.bucket, links);
  } catch (error) {
    client.destroy();
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError([`S3_BUCKET is set, but the AWS SDK does not find what else it needs: ${reason}`]);
  }
}

type Sdk = Awaited<ReturnType<typeof loadSdk>>;

/** Only a process that has a bucket pays for it. */
async function loadSdk() {
  const [client, presigner] = await Promise.all([
    import('@aws-sdk/client-s3'),
    import('@aws-sdk/s3-request-presigner'),
  ]);
  return { ...client, getSignedUrl: presigner.getSignedUrl };
}

function clientSettings({ endpoint, region }: S3Settings) {
  const agent = { keepAlive: true, maxSockets: S3_CONNECTIONS_MAX };
  return {
    ...(region === undefined ? {} : { region }),
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
    // Otherwise streams go out in a framing that other makes of store refuse, or keep as data.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: S3_CONNECT_TIMEOUT_MS,
      socketTimeout: S3_IDLE_TIMEOUT_MS,
      httpAgent: agent,
      httpsAgent: agent,
    },
  } as const;
}

/** Objects in a bucket, behind links that the bucket itself serves. */
class S3Store implements ObjectStore {
  readonly kind = 's3';
  readonly #sdk: Sdk;
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #links: PresignedLinks;

  constructor(sdk: Sdk, client: S3Client, bucket: string, links: PresignedLinks) {
    this.#sdk = sdk;
    this.#client = client;
    this.#bucket = bucket;
    this.#links = links;
  }

  async put(key: string, body: AsyncIterable<Buffer> | Buffer, options: PutOptions): Promise<{ bytes: number }> {
    const target = this.#target(key);
    const incoming = new Incoming(body, options);
    const { mimeType, signal } = options;
    try {
      await upload(this.#sdk, this.#client, { target, mimeType, chunks: incoming.chunks(), signal });
      return { bytes: incoming.bytes };
    } catch (error) {
      if (incoming.failure !== undefined) throw incoming.failure.reason;
      throw signal?.aborted === true ? signal.reason : storageUnavailable(error);
    }
  }

  async read(key: string, range?: ByteRange): Promise<StoredObject | undefined> {
    const target = this.#target(key);
    const part = range === undefined ? {} : { Range: `bytes=${range.start}-${range.end}` };
    try {
      const answer = await this.#client.send(new this.#sdk.GetObjectCommand({ ...target, ...part }));
      return { bytes: wholeBytesOf(answer), body: chunksOf(answer.Body) };
    } catch (error) {
      if (isNamed(error, 'NoSuchKey')) return undefined;
      if (isNamed(error, 'InvalidRange')) return this.#beyondTheEnd(key);
      throw storageUnavailable(error);
    }
  }

  async #beyondTheEnd(key: string): Promise<StoredObject> {
    const command = new this.#sdk.HeadObjectCommand(this.#target(key));
    const { ContentLength: bytes = 0 } = await asUnavailable(this.#client.send(command));
    return { bytes, body: Readable.from([]) };
  }

  async remove(key: string): Promise<void> {
    await asUnavailable(this.#client.send(new this.#sdk.DeleteObjectCommand(this.#target(key))));
  }

  async link(key: string, { mimeType, fileName, expiresAt, now }: LinkOptions): Promise<string> {
    const expiresIn = Math.min(unixSeconds(expiresAt) - unixSeconds(now), S3_LINK_SECONDS_MAX);
    const command = new this.#sdk.GetObjectCommand({
      ...this.#target(key),
      ResponseContentType: mimeType,
      ResponseContentDisposition: dispositionOf(fileName),
      ResponseCacheControl: `private, max-age=${expiresIn}`,
    });
    this.#links.remember(await asUnavailable(this.#client.config.credentials()));
    return asUnavailable(this.#sdk.getSignedUrl(this.#client, command, { expiresIn, signingDate: now }));
  }

  keyOfLink(url: string, now: Date): string | undefined {
    return this.#links.keyOf(url, now);
  }

  async close(): Promise<void> {
    this.#client.destroy();
  }

  #target(key: string): { Bucket: string; Key: string } {
    assertKey(key);
    return { Bucket: this.#bucket, Key: key };
  }
}

function wholeBytesOf({ ContentRange, ContentLength = 0 }: GetObjectCommandOutput): number {
  return ContentRange === undefined ? ContentLength : Number(ContentRange.split('/')[1]);
}

async function* chunksOf(body: GetObjectCommandOutput['Body']): AsyncGenerator<Buffer, void, void> {
  if (!(body instanceof Readable)) throw storageUnavailable(new Error('an object came without a body'));
  try {
    for await (const chunk of body) yield chunk;
  } catch (error) {
    throw storageUnavailable(error);
  }
}

function isNamed(error: unknown, name: string): boolean {
  return error instanceof Error && error.name === name;
}
