import { generateKeyPairSync } from 'node:crypto';
import type { Configuration, ErrorOut, KoaContextWithOIDC } from 'oidc-provider';
import * as errors from 'oidc-provider/lib/helpers/errors.js';
import { Check, Prompt } from 'oidc-provider/lib/helpers/interaction_policy/index.js';
import { SCOPES } from '../scopes.ts';
import { deriveKeys } from '../seal.ts';
import { orTemporarilyUnavailable, recordAdapter } from './adapter.ts';
import type { ServerDeps } from './deps.ts';
import { findLatestGrant } from './grants-store.ts';
import {
  ACCESS_TOKEN_SECONDS,
  AUTHORIZATION_CODE_SECONDS,
  CONSENT_SECONDS,
  DEVICE_CODE_SECONDS,
  REFRESH_TOKEN_SECONDS,
} from './lifetimes.ts';
import { OAUTH_PATHS } from './metadata.ts';
import { mcpResource } from './protected-resource.ts';

/** How the library is set: the code flow and what stands beside it, nothing of OpenID Connect. */
export function librarySettings(
  deps: ServerDeps,
  renderError: (ctx: KoaContextWithOIDC, out: ErrorOut) => void,
): Configuration {
  return {
    adapter: recordAdapter(deps),
    scopes: [...SCOPES],
    extraParams: { scope: refuseUnknownScopes },
    responseTypes: ['code'],
    clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post'],
    extraClientMetadata: { properties: ['introspection'] },
    allowOmittingSingleRegisteredRedirectUri: false,
    clockTolerance: 0,
    pkce: { required: () => true },
    routes: {
      authorization: OAUTH_PATHS.authorize,
      token: OAUTH_PATHS.token,
      revocation: OAUTH_PATHS.revoke,
      introspection: OAUTH_PATHS.introspect,
      device_authorization: OAUTH_PATHS.device,
      code_verification: OAUTH_PATHS.devicePage,
    },
    enableHttpPostMethods: true,
    ttl: {
      AuthorizationCode: AUTHORIZATION_CODE_SECONDS,
      AccessToken: ACCESS_TOKEN_SECONDS,
      RefreshToken: REFRESH_TOKEN_SECONDS,
      DeviceCode: DEVICE_CODE_SECONDS,
      Interaction: CONSENT_SECONDS,
    },
    rotateRefreshToken: true,
    issueRefreshToken: () => true,
    // What a person allowed outlives the visit in which it was allowed.
    expiresWithSession: () => false,
    revokeGrantPolicy: ({ oidc }) => oidc.route !== 'revocation' || oidc.entities.RefreshToken !== undefined,
    clientBasedCORS: isOwnOrigin,
    cookies: cookies(deps),
    interactions: { policy: POLICY, url: (_ctx, { uid }) => `${OAUTH_PATHS.consent}/${uid}` },
    findAccount: (_ctx, personId) => ({ accountId: personId, claims: () => ({ sub: personId }) }),
    loadExistingGrant: (ctx) => existingGrant(deps, ctx),
    renderError,
    features: { ...FEATURES, resourceIndicators: resourceIndicators(deps) },
    clientDefaults: { id_token_signed_response_alg: 'Ed25519' },
    jwks: { keys: [unusedKey()] },
  };
}

type Features = NonNullable<Configuration['features']>;

const FEATURES: Features = {
  devInteractions: { enabled: false },
  dPoP: { enabled: false },
  pushedAuthorizationRequests: { enabled: false },
  rpInitiatedLogout: { enabled: false },
  userinfo: { enabled: false },
  revocation: { enabled: true, allowedPolicy: (_ctx, client, token) => token.clientId === client.clientId },
  introspection: {
    enabled: true,
    // Of its own tokens only: what another app may do is for that app, the person and the operator to know.
    allowedPolicy: (_ctx, client, token) => client.introspection === true && token.clientId === client.clientId,
  },
  deviceFlow: { enabled: true, charset: 'base-20', mask: '****-****', deviceInfo: () => ({}) },
};

/** RFC 8707: a token that was asked for with `resource` opens that and nothing else; without one it opens every route. */
function resourceIndicators({ config }: ServerDeps): NonNullable<Features['resourceIndicators']> {
  return {
    enabled: true,
    defaultResource: () => [],
    useGrantedResource: () => true,
    getResourceServerInfo: (_ctx, resource) => {
      if (resource !== mcpResource(config.publicUrl)) throw new errors.InvalidTarget('requested resource is not known');
      return { scope: SCOPES.join(' '), accessTokenFormat: 'opaque' };
    },
  };
}

/** The gateway's own session says who is here; a person who is not is asked to sign in, then whether the app may. */
const POLICY: Prompt[] = [
  new Prompt(
    { name: 'login', requestable: true },
    new Check('no_session', 'The person is not signed in.', 'login_required', ({ oidc }) => {
      return oidc.session?.accountId === undefined;
    }),
  ),
  new Prompt(
    { name: 'consent', requestable: true },
    new Check('scopes_missing', 'The person has not allowed this yet.', 'consent_required', ({ oidc }) => {
      const allowed = new Set(oidc.grant?.getOIDCScope().split(' '));
      return [...oidc.requestParamScopes].some((scope) => !allowed.has(scope));
    }),
  ),
];

/**
 * A scope that nothing stands for is a mistake that is better told than passed over; so is asking for nothing. It is looked
 * for in the request itself, since the library has dropped what it does not know from the value by now.
 */
function refuseUnknownScopes({ oidc, query }: KoaContextWithOIDC, value: string | undefined): void {
  const known: readonly string[] = SCOPES;
  if (value === undefined) throw new errors.InvalidScope('scope must be requested', '');
  const sent = oidc.body?.scope ?? query.scope;
  const unknown = (typeof sent === 'string' ? sent : value)
    .split(' ')
    .find((scope) => scope !== '' && !known.includes(scope));
  if (unknown !== undefined) throw new errors.InvalidScope('requested scope is not known', unknown);
}

/** Pages of a public app's own origins may ask for tokens; the origins are those of its redirect addresses. */
function isOwnOrigin(
  _ctx: KoaContextWithOIDC,
  origin: string,
  client: { readonly clientAuthMethod?: string | undefined; readonly redirectUris?: readonly string[] | undefined },
): boolean {
  if (client.clientAuthMethod !== 'none') return false;
  return (client.redirectUris ?? []).some((uri) => URL.parse(uri)?.origin === origin);
}

/** What was just allowed, else what was allowed before; never another person's, who may have signed in meanwhile. */
async function existingGrant({ db }: ServerDeps, { oidc }: KoaContextWithOIDC) {
  const { client, session, result } = oidc;
  if (client === undefined || session?.accountId === undefined) return undefined;
  const { accountId: personId } = session;
  const id =
    result?.consent?.grantId ??
    (await orTemporarilyUnavailable(() => findLatestGrant(db, client.clientId, personId)))?.id;
  const grant = id === undefined ? undefined : await oidc.provider.Grant.find(id);
  return grant?.accountId === personId && grant.clientId === client.clientId ? grant : undefined;
}

/** The library takes no app without a way to sign ID tokens, though none is ever issued: the key lives with the process. */
function unusedKey() {
  return generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
}

/** The library's own, which tell one authorization from another; who is signed in is told by the gateway's. */
function cookies(deps: ServerDeps): NonNullable<Configuration['cookies']> {
  const family = deps.config.publicUrl.startsWith('https:') ? '__Secure-tollgate_' : 'tollgate_';
  const options = { httpOnly: true, sameSite: 'lax', signed: true } as const;
  return {
    names: { session: `${family}oauth`, interaction: `${family}consent`, resume: `${family}resume` },
    short: options,
    // For a session of the library's own, which there is not; it asks for this before it takes requests by POST.
    long: { ...options, sameSite: 'none' },
    keys: deriveKeys(deps, 'oauth cookies').map((key) => key.toString('base64')),
  };
}
