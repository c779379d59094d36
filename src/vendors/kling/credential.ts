import type { Upstream } from '../kit/http.ts';
import { asTokenFault, type Token } from '../kit/tokens.ts';

const LIFETIME_MINUTES = 30;
/** A token is valid from a moment before, for a vendor whose clock is behind. */
const SKEW_SECONDS = 5;

type Settings = NonNullable<Upstream['credential']>;

/** `Authorization` by a token signed with the secret key. Throws UpstreamError. */
export async function signedHeaders(upstream: Upstream, credential: Settings): Promise<Record<string, string>> {
  const { pools, signal, apiKey } = upstream;
  const token = await pools.tokens.take(keyOf(upstream), signal, () => signedToken(credential, apiKey));
  return { authorization: `Bearer ${token}` };
}

/** True where a refused token can be replaced. */
export function dropToken(upstream: Upstream): boolean {
  upstream.pools.tokens.drop(keyOf(upstream));
  return upstream.credential !== undefined;
}

function keyOf({ credential, apiKey }: Upstream): string {
  return JSON.stringify(['kling', credential, apiKey]);
}

async function signedToken({ access_key_id: issuer = '' }: Settings, secret: string): Promise<Token> {
  return asTokenFault('the secret key', async () => {
    const { SignJWT } = await import('jose');
    const value = await new SignJWT()
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .setIssuer(issuer)
      .setNotBefore(`${SKEW_SECONDS} seconds ago`)
      .setExpirationTime(`${LIFETIME_MINUTES} minutes from now`)
      .sign(new TextEncoder().encode(secret));
    return { value, lifetimeMs: LIFETIME_MINUTES * 60_000 };
  });
}
