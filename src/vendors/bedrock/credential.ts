import { UpstreamError } from '../../errors.ts';
import type { Upstream } from '../kit/http.ts';
import { requireCloudHost } from '../kit/token-endpoint.ts';
import { asTokenFault } from '../kit/tokens.ts';
import type { SignedRequest } from '../kit/wire.ts';

const SERVICE = 'bedrock';
const OWN_HOSTS = /\.(amazonaws\.com(\.cn)?|api\.aws)$/;
/** How long what the library gave is used before it is asked again; it renews its own in time. */
const LIBRARY_MS = 120_000;

type Settings = NonNullable<Upstream['credential']>;

interface Identity {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** Signature version 4 by AWS's own library. Throws UpstreamError. */
export async function signedHeaders(
  upstream: Upstream,
  credential: Settings,
  { method, path, headers, body }: SignedRequest,
): Promise<Record<string, string>> {
  const credentials = await identityOf(upstream, credential);
  const [{ SignatureV4 }, { Sha256 }] = await Promise.all([
    import('@smithy/signature-v4'),
    import('@smithy/core/checksum'),
  ]);
  const { protocol, hostname, host } = new URL(upstream.address);
  const [pathname = '', search = ''] = path.split('?');
  if (body !== null && typeof body !== 'string' && !Buffer.isBuffer(body)) {
    throw new UpstreamError('config', 'a body that is streamed cannot be signed');
  }
  const signer = new SignatureV4({
    credentials,
    region: regionOf(upstream, credential),
    service: SERVICE,
    sha256: Sha256,
  });
  const signed = await signer.sign({
    method,
    protocol,
    hostname,
    path: pathname,
    query: Object.fromEntries(new URLSearchParams(search)),
    headers: { ...headers, host },
    body: body ?? undefined,
  });
  const { host: _host, ...proof } = signed.headers;
  return proof;
}

/** True where refused credentials can be replaced. */
export function dropIdentity(upstream: Upstream): boolean {
  upstream.pools.tokens.drop(keyOf(upstream));
  return upstream.credential?.kind === 'default_chain';
}

async function identityOf(upstream: Upstream, credential: Settings): Promise<Identity> {
  if (credential.kind === 'access_key') {
    return { accessKeyId: credential.access_key_id ?? '', secretAccessKey: upstream.apiKey };
  }
  requireCloudHost(upstream.address, OWN_HOSTS, upstream.pools.cloud);
  const { tokens } = upstream.pools;
  const { profile } = credential;
  const chain = await tokens.take(JSON.stringify(['aws library', profile]), upstream.signal, async () => {
    const { defaultProvider } = await import('@aws-sdk/credential-provider-node');
    return { value: defaultProvider(profile === undefined ? {} : { profile }), lifetimeMs: Number.MAX_SAFE_INTEGER };
  });
  return tokens.take(keyOf(upstream), upstream.signal, () =>
    asTokenFault('the chain of credentials', async () => ({ value: await chain(), lifetimeMs: LIBRARY_MS })),
  );
}

function keyOf({ credential }: Upstream): string {
  return JSON.stringify(['bedrock', credential]);
}

/** The host names it, unless it is a private endpoint. */
function regionOf({ address }: Upstream, { region }: Settings): string {
  const found = region ?? /^bedrock-[a-z-]+\.([a-z0-9-]+)\./.exec(new URL(address).hostname)?.[1];
  if (found === undefined)
    throw new UpstreamError('config', 'the host names no region, and neither does the credential');
  return found;
}
