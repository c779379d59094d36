import { ApiError } from '../../errors.ts';
import { html } from '../../html.ts';
import { EMAIL_CHARS_MAX, PASSWORD_CHARS_MAX } from '../../limits.ts';
import { type identity, type PeopleDeps, sessions, signIn } from '../../people/index.ts';
import type { BrowserSessions } from '../edge/session.ts';
import { currentPasswordInput, emailInput, note } from './fields.ts';
import { localPath, type PageAnswer, type Pages, startedSession } from './pages.ts';

interface SignInDeps extends PeopleDeps {
  readonly openId: identity.OpenIdClient | undefined;
}

/** Signing in and out, and the page that tells who is signed in. All of it without scripts. */
export function signInPages(pages: Pages, deps: SignInDeps, browser: BrowserSessions): void {
  const provider = deps.openId?.settings.name;
  const isOpen = deps.config.signUp.mode === 'open';

  pages.get('/account', async ({ request }) => {
    const signedIn = await browser.find(request);
    if (signedIn === undefined) return { goTo: '/sign-in?next=/account' };
    return home(signedIn, await sessions.listSessions(deps, signedIn.person.id), browser.csrfToken(signedIn));
  });

  pages.get('/sign-in', async ({ request, query }) => {
    const next = localPath(query.get('next'));
    const isIn = query.get('again') === null && (await browser.find(request)) !== undefined;
    return isIn ? { goTo: next } : signInPage({ next, provider, isOpen });
  });

  pages.post('/sign-in', async ({ request, reply, form }) => {
    const next = localPath(form.get('next'));
    // What the database could not hold is no email of a person.
    const email = (form.get('email') ?? '')
      .replace(/\p{Cc}/gu, '')
      .toWellFormed()
      .slice(0, EMAIL_CHARS_MAX);
    const password = (form.get('password') ?? '').slice(0, PASSWORD_CHARS_MAX);
    try {
      const made = await signIn.signInByPassword(deps, request.id, { email, password }, browser.originOf(request));
      return await startedSession(deps, browser, { request, reply }, made, next);
    } catch (error) {
      if (!(error instanceof ApiError) || !['sign_in_refused', 'rate_limited'].includes(error.code)) throw error;
      return signInPage({ next, provider, isOpen, email, problem: error.message, status: error.status });
    }
  });

  pages.post('/sign-out', async ({ request, reply, form }) => {
    const signedIn = await browser.find(request);
    if (signedIn !== undefined) {
      browser.refuseForged(signedIn, form.get('csrf') ?? '');
      const actor = { name: signedIn.person.email, requestId: request.id };
      await sessions.endSession(deps, actor, signedIn.person.id, form.get('session') ?? signedIn.session.id);
      if ((form.get('session') ?? signedIn.session.id) !== signedIn.session.id) return { goTo: '/account' };
    }
    browser.end(reply);
    return { goTo: '/sign-in' };
  });
}

interface SignInForm {
  readonly next: string;
  /** The name of the identity provider, where there is one. */
  readonly provider: string | undefined;
  readonly email?: string;
  readonly problem?: string;
  readonly status?: number;
  /** Whether one can sign up without an invitation. */
  readonly isOpen: boolean;
}

function signInPage({ next, provider, email = '', problem, status, isOpen }: SignInForm): PageAnswer {
  const body = html`<h1>Sign in</h1><p class="soft">to Tollgate</p>${note(problem)}
<form method="post" action="/sign-in"><input type="hidden" name="next" value="${next}">
${emailInput({ value: email, autofocus: email === '' })}
${currentPasswordInput({ autofocus: email !== '' })}
<button>Sign in</button></form>
${provider === undefined ? undefined : html`<a class="button plain" href="/sign-in/provider?next=${encodeURIComponent(next)}">Continue with ${provider}</a>`}
<p class="below small"><a href="/forgot-password">Forgot your password?</a>${isOpen && html` · <a href="/sign-up">Sign up</a>`}</p>`;
  return { title: 'Sign in', body, ...(status === undefined ? {} : { status }) };
}

function home(signedIn: sessions.SignedIn, all: readonly sessions.Session[], csrf: string): PageAnswer {
  const { person, memberships, session } = signedIn;
  const body = html`<h1>${person.name}</h1><p class="soft">${person.email}${person.operatorRole === null ? '' : ` · ${person.operatorRole}`}</p>
${memberships.length === 0 ? html`<p>You belong to no account yet.</p>` : html`<ul>${memberships.map(({ accountName, accountId, role }) => html`<li class="row"><span>${accountName} <span class="soft small">${accountId}</span></span><span class="soft">${role}</span></li>`)}</ul>`}
<p class="small">${memberships.length > 0 && html`<a href="/console">Console</a> · `}<a href="/password">Change password</a></p><h2>Sessions</h2><ul>${all.map(
    (
      one,
    ) => html`<li class="row"><span>${one.userAgent.slice(0, 60) || 'Unknown program'}<br><span class="soft small">${one.address} · since ${one.createdAt.toISOString().slice(0, 16).replace('T', ' ')}${one.id === session.id ? ' · this one' : ''}</span></span>
<form method="post" action="/sign-out"><input type="hidden" name="csrf" value="${csrf}"><input type="hidden" name="session" value="${one.id}"><button class="plain">End</button></form></li>`,
  )}</ul>`;
  return { title: person.name, body };
}
