import { type Html, html } from '../../html.ts';
import { revokeGrant } from '../../oauth/index.ts';
import { SCOPE_WORDS, type Scope } from '../../scopes.ts';
import type { HttpDeps } from '../deps.ts';
import type { BrowserSessions } from '../edge/session.ts';
import { oauthGrantPage, visibleGrants } from '../routes/oauth-grants.ts';
import type { Pages } from './pages.ts';

const SHOWN_MAX = 100;

/** The apps that may act for the account, and the way to take that back. */
export function appPages(pages: Pages, deps: HttpDeps, browser: BrowserSessions): void {
  pages.get('/apps', async ({ request }) => {
    const signedIn = await browser.find(request);
    if (signedIn === undefined) return { goTo: '/sign-in?next=/apps' };
    const { data } = await oauthGrantPage(deps, visibleGrants(signedIn), { limit: SHOWN_MAX });
    const csrf = html`<input type="hidden" name="csrf" value="${browser.csrfToken(signedIn)}">`;
    const none = html`<p>No app may act for this account.</p>`;
    const body = html`<h1>Connected apps</h1><p class="soft">of ${signedIn.membership?.accountName}</p>
${data.length === 0 ? none : html`<ul>${data.map((grant) => row(grant, csrf))}</ul>`}<p class="soft small below"><a href="/">Back</a></p>`;
    return { title: 'Connected apps', body };
  });

  pages.post('/apps/:grant_id/revoke', async ({ request, form, param }) => {
    const signedIn = await browser.requireForm(request, form);
    const actor = { name: signedIn.person.email, requestId: request.id };
    await revokeGrant(deps, actor, param('grant_id'), visibleGrants(signedIn));
    return { goTo: '/apps' };
  });
}

type Grant = Awaited<ReturnType<typeof oauthGrantPage>>['data'][number];

function row(grant: Grant, csrf: Html): Html {
  const limit = grant.credit_limit === null ? 'no limit' : `of ${grant.credit_limit} ${per(grant.credit_limit_reset)}`;
  return html`<li class="row"><span>${grant.client.name} <span class="soft small">for ${grant.person.email}</span><br>
<span class="soft small">${grant.scopes.map((scope) => SCOPE_WORDS[scope as Scope] ?? scope).join(' · ')}<br>${grant.credits_used} credits used in all, ${limit}</span></span>
<form method="post" action="/apps/${grant.id}/revoke">${csrf}<button class="plain">Revoke</button></form></li>`;
}

function per(reset: Grant['credit_limit_reset']): string {
  return reset === null ? 'in all' : `per ${reset}`;
}
