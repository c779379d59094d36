import { html } from '../../html.ts';
import {
  type AuthorizationServer,
  type AuthorizationServerLoader,
  findClient,
  findLatestGrant,
  giveConsent,
  OAUTH_PATHS,
  type OauthClient,
  type OauthDeps,
  type OauthGrant,
  type PendingAuthorization,
  payingAccounts,
} from '../../oauth/index.ts';
import type { sessions } from '../../people/index.ts';
import type { BrowserSessions } from '../edge/session.ts';
import { accountOf, consentPage, LIMIT_PROBLEM, limitOf } from './consent-form.ts';
import type { PageAnswer, PageCall, Pages } from './pages.ts';

/** Where a person decides what an app may do, and whose credits it spends. */
export function consentPages(
  pages: Pages,
  deps: OauthDeps,
  browser: BrowserSessions,
  loadOauth: AuthorizationServerLoader,
): void {
  const url = `${OAUTH_PATHS.consent}/:uid`;

  pages.get(url, async (call) => {
    const authorization = await findAuthorization(call);
    if (!('client' in authorization)) return authorization;
    const { oauth, pending, client, signedIn, earlier } = authorization;
    if (!pending.asksFor.consent && covers(earlier, pending.scopes)) {
      await oauth.decide(pending, { personId: signedIn.person.id });
      return continuePage(client, pending);
    }
    return askForConsent(authorization);
  });

  pages.post(url, async (call) => {
    const authorization = await findAuthorization(call);
    if (!('client' in authorization)) return authorization;
    const { oauth, pending, client, signedIn } = authorization;
    const { form, request } = call;
    browser.refuseForged(signedIn, form.get('csrf') ?? '');
    if (form.get('decision') !== 'allow') {
      await oauth.decide(pending, 'denied');
      return { goTo: pending.resumePath };
    }
    const limit = limitOf(form);
    if (limit === undefined) return askForConsent(authorization, LIMIT_PROBLEM);
    const actor = { name: signedIn.person.email, requestId: request.id };
    const consent = {
      ...limit,
      clientId: client.id,
      accountId: accountOf(form),
      personId: signedIn.person.id,
      scopes: pending.scopes,
    };
    const grant = await deps.db.transaction((tx) => giveConsent(tx, deps, actor, consent));
    await oauth.decide(pending, { personId: signedIn.person.id, grantId: grant.id });
    return { goTo: pending.resumePath };
  });

  async function askForConsent({ pending, ...who }: Authorization, problem?: string): Promise<PageAnswer> {
    const { redirectUri: formTarget, scopes } = pending;
    const accounts = await payingAccounts(deps.db, who.signedIn.person.id);
    const next = `You will be sent to ${new URL(formTarget).host}.`;
    return consentPage({ ...who, scopes, accounts, csrf: browser.csrfToken(who.signedIn), next, formTarget, problem });
  }

  /** The authorization that the browser is at, or where the person has to go first. */
  async function findAuthorization({ request, reply, param }: PageCall): Promise<Authorization | PageAnswer> {
    const oauth = await loadOauth();
    const pending = await oauth.findPending(request.raw, reply.raw, param('uid'));
    if (pending === undefined) return GONE;
    const signedIn = await browser.find(request);
    const here = encodeURIComponent(`${OAUTH_PATHS.consent}/${pending.uid}`);
    if (signedIn === undefined) return { goTo: `/sign-in?next=${here}` };
    if (pending.sessionId !== undefined && pending.sessionId !== signedIn.session.id)
      return { goTo: pending.startPath };
    if (pending.asksFor.signIn && pending.sessionId !== undefined) return { goTo: `/sign-in?again=1&next=${here}` };
    const client = await findClient(deps.db, pending.clientId);
    if (client === undefined) return GONE;
    const earlier = await findLatestGrant(deps.db, client.id, signedIn.person.id);
    return { oauth, pending, client, signedIn, earlier };
  }
}

interface Authorization {
  readonly oauth: AuthorizationServer;
  readonly pending: PendingAuthorization;
  readonly client: OauthClient;
  readonly signedIn: sessions.SignedIn;
  /** What the person let this app do before. */
  readonly earlier: OauthGrant | undefined;
}

const GONE: PageAnswer = {
  title: 'Expired',
  status: 404,
  body: html`<h1>This request is over</h1><p>It was answered, has expired, or was begun in another browser. Go back to the app and try again.</p>`,
};

function covers(grant: OauthGrant | undefined, scopes: readonly string[]): boolean {
  return grant !== undefined && scopes.every((scope) => grant.scopes.includes(scope));
}

/** A form may lead only where its page said, and the page where the person signed in could not know the app. */
function continuePage(client: OauthClient, { resumePath }: PendingAuthorization): PageAnswer {
  return {
    title: 'Continue',
    continueTo: resumePath,
    body: html`<h1>Back to ${client.name}</h1><p><a href="${resumePath}">Continue</a></p>`,
  };
}
