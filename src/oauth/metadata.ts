import type { AdapterPayload } from 'oidc-provider';
import { SCOPES } from '../scopes.ts';
import type { OauthClient } from './store.ts';

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

/** Where the server is reached, under the deployment's address. */
export const OAUTH_PATHS = {
  authorize: '/oauth/authorize',
  token: '/oauth/token',
  revoke: '/oauth/revoke',
  introspect: '/oauth/introspect',
  device: '/oauth/device',
  consent: '/oauth/consent',
  devicePage: '/device',
  metadata: '/.well-known/oauth-authorization-server',
} as const;

/** RFC 8414: what an app's library asks for first. */
export function serverMetadata(publicUrl: string): Record<string, unknown> {
  const at = (path: string) => publicUrl + path;
  const methods = ['none', 'client_secret_basic', 'client_secret_post'];
  return {
    issuer: publicUrl,
    authorization_endpoint: at(OAUTH_PATHS.authorize),
    token_endpoint: at(OAUTH_PATHS.token),
    token_endpoint_auth_methods_supported: methods,
    revocation_endpoint: at(OAUTH_PATHS.revoke),
    revocation_endpoint_auth_methods_supported: methods,
    introspection_endpoint: at(OAUTH_PATHS.introspect),
    introspection_endpoint_auth_methods_supported: methods.slice(1),
    device_authorization_endpoint: at(OAUTH_PATHS.device),
    scopes_supported: SCOPES,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token', DEVICE_GRANT],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
  };
}

/** An app in the words of RFC 7591. The library compares secrets as texts, so it is given the digest (see `server.ts`). */
export function clientMetadata(client: OauthClient & { readonly secretDigest: Buffer | null }): AdapterPayload {
  return {
    client_id: client.id,
    client_name: client.name,
    redirect_uris: client.redirectUris,
    scope: client.scopes.join(' '),
    response_types: ['code'],
    grant_types: ['authorization_code', 'refresh_token', ...(client.deviceFlow ? [DEVICE_GRANT] : [])],
    application_type: 'web',
    token_endpoint_auth_method: client.secretDigest === null ? 'none' : 'client_secret_basic',
    ...(client.secretDigest === null ? {} : { client_secret: client.secretDigest.toString('hex') }),
    introspection: client.introspection,
  };
}
