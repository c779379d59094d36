import { readFile } from 'node:fs/promises';
import { UpstreamError } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { parseObject, type Upstream } from '../kit/http.ts';
import { requiredString, stringAt } from '../kit/json.ts';
import { fetchToken, requireCloudHost } from '../kit/token-endpoint.ts';
import { asTokenFault, type Token } from '../kit/tokens.ts';

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
const TOKEN_URL = 'https://oauth2.googleapis.com/token';
const STS_URL = 'https://sts.googleapis.com/v1/token';
const METADATA_HOST = '169.254.169.254';
const METADATA_PATH = '/computeMetadata/v1/instance/service-accounts/default/token';
const OWN_HOSTS = /^([a-z0-9-]+-)?aiplatform(\.(us|eu)\.rep)?\.googleapis\.com$/;
/** How long a token of the library is used before the library is asked again; it renews its own in time. */
const LIBRARY_TOKEN_MS = 120_000;

type Settings = NonNullable<Upstream['credential']>;

/** `Authorization` by a token of Google. Throws UpstreamError. */
export async function googleHeaders(upstream: Upstream, credential: Settings): Promise<Record<string, string>> {
  const { pools, signal } = upstream;
  const token = await pools.tokens.take(keyOf(upstream), signal, () => tokenOf(upstream, credential));
  const { quota_project: project } = credential;
  return { authorization: `Bearer ${token}`, ...(project !== undefined && { 'x-goog-user-project': project }) };
}

/** True where a refused token can be replaced. */
export function dropToken(upstream: Upstream): boolean {
  upstream.pools.tokens.drop(keyOf(upstream));
  return upstream.credential !== undefined;
}

function keyOf({ credential, apiKey }: Upstream): string {
  return JSON.stringify(['vertex', credential, apiKey]);
}

async function tokenOf(upstream: Upstream, credential: Settings): Promise<Token> {
  if (credential.kind === 'service_account') {
    const key = parsed(Buffer.from(upstream.apiKey, 'base64').toString('utf8'), 'api_key');
    return signedToken(upstream, key, credential.token_url);
  }
  requireCloudHost(upstream.address, OWN_HOSTS, upstream.pools.cloud);
  const { credentialsFile, metadataHost = METADATA_HOST } = upstream.pools.cloud.google;
  if (credentialsFile === undefined) {
    const url = new URL(METADATA_PATH, `http://${metadataHost}`);
    return fetchToken(upstream, { url, headers: { 'metadata-flavor': 'Google' } });
  }
  const file = 'GOOGLE_APPLICATION_CREDENTIALS';
  const key = parsed(await asTokenFault(file, () => readFile(credentialsFile, 'utf8')), file);
  // The file is the deployment's, so its own addresses are believed.
  if (key.type === 'external_account') return federatedToken(upstream, credentialsFile, key);
  return signedToken(upstream, key, stringAt(key, 'token_uri'));
}

function parsed(text: string, from: string): JsonObject {
  const key = parseObject(text);
  if (key !== undefined) return key;
  throw new UpstreamError('account', `no token: ${from} holds no JSON of a service account`);
}

/**
 * An assertion signed by Google's own library with the account's key, exchanged for a token. The library makes the
 * request, and the wire sends it: it would retry by itself, and to an address that cannot be set.
 */
async function signedToken(upstream: Upstream, key: JsonObject, tokenUrl = TOKEN_URL): Promise<Token> {
  if (key.type !== 'service_account') {
    throw new UpstreamError('account', `no token: a key of type ${stringAt(key, 'type')} is not taken`);
  }
  return asTokenFault('the key of the service account', async () => {
    const { JWT } = await import('google-auth-library');
    let token: Promise<Token> | undefined;
    const account = { email: requiredString(key, 'client_email'), key: requiredString(key, 'private_key') };
    const keyId = stringAt(key, 'private_key_id');
    const client = new JWT({
      ...account,
      ...(keyId !== undefined && { keyId }),
      scopes: [SCOPE],
      transporterOptions: {
        adapter: async (config) => {
          const form = Object.fromEntries(config.data instanceof URLSearchParams ? config.data : []);
          token = fetchToken(upstream, { url: new URL(tokenUrl), form });
          const fetched = await token.catch(() => undefined);
          const expires_in = (fetched?.lifetimeMs ?? 0) / 1000;
          // As it would have been read from an answer; a failure is thrown below.
          const data = JSON.parse(JSON.stringify({ access_token: fetched?.value, expires_in }));
          return Object.assign(new Response(), { config, data });
        },
      },
    });
    await client.authorize();
    return token ?? Promise.reject(new UpstreamError('server', 'the library asked for no token'));
  });
}

/** The whole exchange is the library's; it is kept, since it has a cache of its own. */
async function federatedToken({ pools, signal }: Upstream, file: string, terms: JsonObject): Promise<Token> {
  const client = await pools.tokens.take(JSON.stringify(['google library', file, terms]), signal, async () => {
    const { ExternalAccountClient } = await import('google-auth-library');
    const options = {
      ...terms,
      type: requiredString(terms, 'type'),
      audience: requiredString(terms, 'audience'),
      subject_token_type: requiredString(terms, 'subject_token_type'),
      token_url: stringAt(terms, 'token_url') ?? STS_URL,
      scopes: [SCOPE],
    };
    return { value: ExternalAccountClient.fromJSON(options), lifetimeMs: Number.MAX_SAFE_INTEGER };
  });
  return asTokenFault('the workload identity federation', async () => {
    const answer = await client?.getAccessToken();
    if (typeof answer?.token !== 'string') throw new UpstreamError('account', 'the library knows no such credential');
    return { value: answer.token, lifetimeMs: LIBRARY_TOKEN_MS };
  });
}
