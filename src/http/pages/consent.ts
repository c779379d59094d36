import { AMOUNT_MICRO_MAX, creditsFromNumber, creditsToNumber } from '../../credits.ts';
import {
  type AuthorizationServer,
  findClient,
  findLatestGrant,
  giveConsent,
  type LimitReset,
  OAUTH_PATHS,
  type OauthClient,
  type OauthDeps,
  type OauthGrant,
  type PendingAuthorization,
  payingAccounts,
} from '../../oauth/index.ts';
import type { sessions } from '../../people/index.ts';
import { SCOPE_WORDS, type Scope } from '../../scopes.ts';
import type { BrowserSessions } from '../session.ts';
import { type Html, html } from './html.ts';
import type { PageAnswer, PageCall, Pages } from './pages.ts';

/** Where a person decides what an app may do, and whose credits it spends. */
export function consentPages(
  pages: Pages,
  deps: OauthDeps,
  browser: BrowserSessions,
  oauth: AuthorizationServer,
): void {
  const url = `${OAUTH_PATHS.consent}/:uid`;

  pages.get(url, async (call) => {
    const asked = await askedOf(call);
    if (!('client' in asked)) return asked;
    const { pending, client, signedIn, earlier } = asked;
    if (!pending.asksFor.consent && covers(earlier, pending.scopes)) {
      await oauth.decide(pending, { personId: signedIn.person.id });
      return continuePage(client, pending);
    }
    return consentPage(asked, await payingAccounts(deps.db, signedIn.person.id), browser.csrfToken(signedIn));
  });

  pages.post(url, async (call) => {
    const asked = await askedOf(call);
    if (!('client' in asked)) return asked;
    const { pending, client, signedIn } = asked;
    const { form, request } = call;
    browser.refuseForged(signedIn, form.get('csrf') ?? '');
    if (form.get('decision') !== 'allow') {
      await oauth.decide(pending, 'denied');
      return { goTo: pending.resumePath };
    }
    const limit = limitOf(form);
    if (limit === undefined) {
      const accounts = await payingAccounts(deps.db, signedIn.person.id);
      return consentPage(asked, accounts, browser.csrfToken(signedIn), LIMIT_PROBLEM);
    }
    const actor = { name: signedIn.person.email, requestId: request.id };
    const consent = {
      ...limit,
      clientId: client.id,
      accountId: form.get('account') ?? '',
      personId: signedIn.person.id,
      scopes: pending.scopes,
    };
    const grant = await deps.db.transaction((tx) => giveConsent(tx, deps, actor, consent));
    await oauth.decide(pending, { personId: signedIn.person.id, grantId: grant.id });
    return { goTo: pending.resumePath };
  });

  /** The authorization that the browser is at, or where the person has to go first. */
  async function askedOf({ request, reply, param }: PageCall): Promise<Asked | PageAnswer> {
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
    return { pending, client, signedIn, earlier: await findLatestGrant(deps.db, client.id, signedIn.person.id) };
  }
}

interface Asked {
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

const LIMIT_PROBLEM = 'A limit is a number of credits with at most six decimals, or empty for none.';

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

function consentPage(
  { pending, client, signedIn, earlier }: Asked,
  accounts: readonly { readonly id: string; readonly name: string }[],
  csrf: string,
  problem?: string,
): PageAnswer {
  const chosen = earlier?.accountId ?? signedIn.membership?.accountId;
  const body = html`${clientHead(client)}
<p class="soft">asks to use Tollgate as ${signedIn.person.email}</p>
${problem === undefined ? '' : html`<p class="note" role="alert">${problem}</p>`}
<ul>${pending.scopes.map((scope) => scopeItem(scope, earlier))}</ul>
<form method="post"><input type="hidden" name="csrf" value="${csrf}">
${accounts.length === 0 ? html`<p class="note">None of your accounts lets you spend its credits, so there is nothing to allow.</p>` : html`${accountField(accounts, chosen)}${limitFields(earlier)}<button name="decision" value="allow">Allow</button>`}
<button class="plain" name="decision" value="deny">Deny</button></form>
<p class="soft small">You will be sent to ${new URL(pending.redirectUri).host}. You can take this back at any time.</p>`;
  const reach = { formTarget: pending.redirectUri, image: client.logo ?? undefined };
  return { title: `Allow ${client.name}`, body, reach };
}

function clientHead({ name, homePage, logo }: OauthClient): Html {
  const picture = logo === null ? '' : html`<img src="${logo}" alt="" width="48" height="48">`;
  const home =
    homePage === null ? '' : html`<p class="soft small"><a href="${homePage}">${new URL(homePage).host}</a></p>`;
  return html`${picture}<h1>${name}</h1>${home}`;
}

/** What was not allowed before is marked, where something was. */
function scopeItem(scope: string, earlier: OauthGrant | undefined): Html {
  const isNew = earlier !== undefined && !earlier.scopes.includes(scope);
  const words = scope in SCOPE_WORDS ? SCOPE_WORDS[scope as Scope] : scope;
  return html`<li>${words}${isNew ? html` <strong>new</strong>` : ''}</li>`;
}

function accountField(accounts: readonly { readonly id: string; readonly name: string }[], chosen?: string): Html {
  const [only] = accounts;
  if (accounts.length === 1 && only !== undefined) {
    return html`<input type="hidden" name="account" value="${only.id}"><p>Paid by <strong>${only.name}</strong></p>`;
  }
  return html`<label for="account">Paid by</label><select id="account" name="account">${accounts.map(
    ({ id, name }) => html`<option value="${id}"${id === chosen ? html` selected` : ''}>${name}</option>`,
  )}</select>`;
}

const PERIODS: readonly (readonly [LimitReset | '', string])[] = [
  ['', 'in all'],
  ['day', 'per day'],
  ['week', 'per week'],
  ['month', 'per month'],
];

function limitFields(earlier: OauthGrant | undefined): Html {
  const limit = earlier?.creditLimit ?? null;
  const reset = earlier?.creditLimitReset ?? '';
  return html`<label for="limit">Spend at most (credits)</label>
<div class="row"><input id="limit" name="limit" inputmode="decimal" placeholder="no limit" value="${limit === null ? '' : creditsToNumber(limit)}" autocomplete="off">
<select name="reset" aria-label="Period">${PERIODS.map(([value, words]) => html`<option value="${value}"${value === reset ? html` selected` : ''}>${words}</option>`)}</select></div>`;
}

/** Undefined for what is no number of credits. */
function limitOf(form: URLSearchParams): Pick<OauthGrant, 'creditLimit' | 'creditLimitReset'> | undefined {
  const text = (form.get('limit') ?? '').trim();
  if (text === '') return { creditLimit: null, creditLimitReset: null };
  const creditLimit = /^\d{1,10}(\.\d{1,6})?$/.test(text) ? creditsFromNumber(Number(text)) : undefined;
  const period = PERIODS.find(([value]) => value === (form.get('reset') ?? ''))?.[0];
  if (creditLimit === undefined || creditLimit > AMOUNT_MICRO_MAX || period === undefined) return undefined;
  return { creditLimit, creditLimitReset: period === '' ? null : period };
}
