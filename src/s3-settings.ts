import type { Settings } from './settings.ts';

/** Credentials are no settings of ours: the AWS SDK finds them where it always does. */
export interface S3Settings {
  readonly bucket: string;
  /** Without a trailing slash. Undefined means the original S3. */
  readonly endpoint: string | undefined;
  /** Undefined leaves it to the AWS SDK. */
  readonly region: string | undefined;
}

export function s3Settings(settings: Settings): S3Settings | undefined {
  const bucket = settings.optional('S3_BUCKET');
  const region = settings.optional('S3_REGION');
  const endpoint = settings.optional('S3_ENDPOINT') === undefined ? undefined : settings.origin('S3_ENDPOINT', '');
  if (region !== undefined && !/^[A-Za-z0-9_-]{1,64}$/.test(region))
    settings.complain('S3_REGION', 'must be a name of letters, digits, dashes and underscores, such as eu-central-1');
  if (bucket === undefined) {
    if (endpoint !== undefined) settings.complain('S3_ENDPOINT', 'does nothing without S3_BUCKET');
    if (region !== undefined) settings.complain('S3_REGION', 'does nothing without S3_BUCKET');
    return undefined;
  }
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket))
    settings.complain('S3_BUCKET', 'must be 3 to 63 lower-case letters, digits, dots and dashes');
  // A store of one's own seldom has regions, yet every signature names one.
  return { bucket, endpoint, region: region ?? (endpoint === undefined ? undefined : 'us-east-1') };
}
