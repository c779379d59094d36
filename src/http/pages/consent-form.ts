import { AMOUNT_MICRO_MAX, creditsFromNumber, creditsToNumber } from '../../credits.ts';
import { type Html, html } from '../../html.ts';
import type { LimitReset, OauthClient, OauthGrant, PayingAccount } from '../../oauth/index.ts';
import type { sessions } from '../../people/index.ts';
import { SCOPE_WORDS, type Scope } from '../../scopes.ts';
import type { PageAnswer } from './pages.ts';

/** What a person is asked, wherever the app runs. */
export interface ConsentQuestion {
  readonly client: OauthClient;
  readonly signedIn: sessions.SignedIn;
  readonly scopes: readonly string[];
  /** What the person let this app do before. */
  readonly earlier: OauthGrant | undefined;
  readonly accounts: readonly PayingAccount[];
  readonly csrf: string;
  /** Stands in the form, before the decision. */
  readonly more?: Html;
  /** What happens next. */
  readonly next: string;
  readonly problem?: string | undefined;
  /** Where the decision leads in the end. */
  readonly formTarget?: string;
}

/** Names the app, who pays, and each scope in plain words. */
export function consentPage(question: ConsentQuestion): PageAnswer {
  const { client, signedIn, scopes, earlier, accounts, csrf, problem, formTarget } = question;
  const chosen = earlier?.accountId ?? signedIn.membership?.accountId;
  const body = html`${clientHead(client)}
<p class="soft">asks to use Tollgate as ${signedIn.person.email}</p>
${problem === undefined ? '' : html`<p class="note" role="alert">${problem}</p>`}
<ul>${scopes.map((scope) => scopeItem(scope, earlier))}</ul>
<form method="post"><input type="hidden" name="csrf" value="${csrf}">${question.more ?? ''}
${accounts.length === 0 ? NO_ACCOUNT : html`${accountField(accounts, chosen)}${limitFields(earlier)}<button name="decision" value="allow">Allow</button>`}
<button class="plain" name="decision" value="deny">Deny</button></form>
<p class="soft small below">${question.next} You can take this back at any time.</p>`;
  return { title: `Allow ${client.name}`, body, reach: { formTarget, image: client.logo ?? undefined } };
}

const NO_ACCOUNT = html`<p class="note">None of your accounts lets you spend its credits, so there is nothing to allow.</p>`;

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

function accountField(accounts: readonly PayingAccount[], chosen?: string): Html {
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

/** What cannot be the id of an account is none. */
export function accountOf(form: URLSearchParams): string {
  return /^acct_\w+$/.exec(form.get('account') ?? '')?.[0] ?? '';
}

export const LIMIT_PROBLEM = 'A limit is a number of credits with at most six decimals, or empty for none.';

/** Undefined for what is no number of credits. */
export function limitOf(form: URLSearchParams): Pick<OauthGrant, 'creditLimit' | 'creditLimitReset'> | undefined {
  const text = (form.get('limit') ?? '').trim();
  if (text === '') return { creditLimit: null, creditLimitReset: null };
  const creditLimit = /^\d{1,10}(\.\d{1,6})?$/.test(text) ? creditsFromNumber(Number(text)) : undefined;
  const period = PERIODS.find(([value]) => value === (form.get('reset') ?? ''))?.[0];
  if (creditLimit === undefined || creditLimit > AMOUNT_MICRO_MAX || period === undefined) return undefined;
  return { creditLimit, creditLimitReset: period === '' ? null : period };
}
