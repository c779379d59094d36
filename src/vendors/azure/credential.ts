import { readFile } from 'node:fs/promises';
import { UpstreamError } from '../../errors.ts';
import type { Upstream } from '../kit/http.ts';
import { fetchToken, requireCloudHost, type TokenCall } from '../kit/token-endpoint.ts';
import { asTokenFault } from '../kit/tokens.ts';

const AUTHORITY = 'https://login.microsoftonline.com';
const SCOPE = 'https://ai.azure.com/.default';
const METADATA = 'http://169.254.169.254/metadata/identity/oauth2/token';
const ASSERTION = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const OWN_HOSTS = /\.(openai|services\.ai|cognitiveservices)\.azure\.(com|us|cn)$/;
/** What the process's own identity may be used for: models, and nothing else of the subscription. */
const OWN_SCOPES = /^https:\/\/(ai|cognitiveservices)\.azure\.(com|us|cn)\/\.default$/;

type Settings = NonNullable<Upstream['credential']>;

/** `Authorization` by a token of Entra ID. Throws UpstreamError. */
export async function entraHeaders(upstream: Upstream, credential: Settings): Promise<Record<string, string>> {
  const { pools, signal } = upstream;
  const token = await pools.tokens.take(keyOf(upstream), signal, async () =>
    fetchToken(upstream, await callOf(upstream, credential)),
  );
  return { authorization: `Bearer ${token}` };
}

/** True where a refused token can be replaced. */
export function dropToken(upstream: Upstream): boolean {
  upstream.pools.tokens.drop(keyOf(upstream));
  return upstream.credential !== undefined;
}

function keyOf({ credential, apiKey }: Upstream): string {
  return JSON.stringify(['azure', credential, apiKey]);
}

function callOf(upstream: Upstream, credential: Settings): TokenCall | Promise<TokenCall> {
  if (credential.kind === 'client_secret') {
    const form = { client_secret: upstream.apiKey };
    return grantCall(credential, credential.authority ?? AUTHORITY, form);
  }
  requireCloudHost(upstream.address, OWN_HOSTS, upstream.pools.cloud);
  if (!OWN_SCOPES.test(scopeOf(credential))) {
    throw new UpstreamError('config', 'an identity of the process is used with a scope of models only');
  }
  return credential.kind === 'workload_identity'
    ? federatedCall(upstream, credential)
    : managedCall(upstream, credential);
}

function scopeOf({ scope = SCOPE }: Settings): string {
  return scope;
}

function grantCall(settings: Settings, authority: string, proof: Readonly<Record<string, string>>): TokenCall {
  const { tenant_id: tenant = '', client_id = '' } = settings;
  const url = new URL(`/${encodeURIComponent(tenant)}/oauth2/v2.0/token`, authority);
  return { url, form: { grant_type: 'client_credentials', client_id, scope: scopeOf(settings), ...proof } };
}

/** The cluster renews the file, so it is read for each token. */
async function federatedCall({ pools }: Upstream, credential: Settings): Promise<TokenCall> {
  const { tokenFile, tenantId, clientId, authority = AUTHORITY } = pools.cloud.entra;
  const settings = { ...defaults({ tenant_id: tenantId, client_id: clientId }), ...credential };
  if (tokenFile === undefined || settings.tenant_id === undefined || settings.client_id === undefined) {
    const names = 'AZURE_FEDERATED_TOKEN_FILE, AZURE_TENANT_ID and AZURE_CLIENT_ID';
    throw new UpstreamError('account', `no workload identity: ${names} are not all set`);
  }
  const assertion = await asTokenFault('AZURE_FEDERATED_TOKEN_FILE', () => readFile(tokenFile, 'utf8'));
  return grantCall(settings, authority, { client_assertion_type: ASSERTION, client_assertion: assertion.trim() });
}

function defaults(settings: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(settings).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/** A web app has an endpoint of its own; a virtual machine has the metadata address. */
function managedCall({ pools }: Upstream, credential: Settings): TokenCall {
  const { identityEndpoint, identityHeader } = pools.cloud.entra;
  const isApp = identityEndpoint !== undefined && identityHeader !== undefined;
  const url = new URL(isApp ? identityEndpoint : METADATA);
  url.searchParams.set('api-version', isApp ? '2019-08-01' : '2018-02-01');
  url.searchParams.set('resource', scopeOf(credential).replace(/\/\.default$/, ''));
  if (credential.client_id !== undefined) url.searchParams.set('client_id', credential.client_id);
  return { url, headers: isApp ? { 'x-identity-header': identityHeader.reveal() } : { metadata: 'true' } };
}
