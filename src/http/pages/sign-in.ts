import { ApiError } from '../../errors.ts';
import { EMAIL_CHARS_MAX, PASSWORD_CHARS_MAX, PASSWORD_CHARS_MIN } from '../../limits.ts';
import { type identity, isPerson, links, type PeopleDeps, sessions, signIn } from '../../people/index.ts';
import type { BrowserSessions } from '../session.ts';
import { type Html, html } from './html.ts';
import { localPath, type PageAnswer, type PageCall, type Pages } from './pages.ts';

interface SignInDeps extends PeopleDeps {
  readonly openId: identity.OpenIdClient | undefined;
}

/** Signing in and out, the links that work once, and the page that tells who is signed in. All of it without scripts. */
export function signInPages(pages: Pages, deps: SignInDeps, browser: BrowserSessions): void {
  const provider = deps.openId?.settings.name;

  pages.get('/', async ({ request }) => {
    const signedIn = await browser.find(request);
    if (signedIn === undefined) return { goTo: '/sign-in' };
    return home(signedIn, await sessions.listSessions(deps, signedIn.person.id), browser.csrfToken(signedIn));
  });

  pages.get('/sign-in', async ({ request, query }) => {
    const next = localPath(query.get('next'));
    const isIn = query.get('again') === null && (await browser.find(request)) !== undefined;
    return isIn ? { goTo: next } : signInPage({ next, provider });
  });

  pages.post('/sign-in', async ({ request, reply, form }) => {
    const next = localPath(form.get('next'));
    const email = (form.get('email') ?? '').slice(0, EMAIL_CHARS_MAX);
    const password = (form.get('password') ?? '').slice(0, PASSWORD_CHARS_MAX);
    try {
      const made = await signIn.signInByPassword(deps, request.id, { email, password }, browser.originOf(request));
      return await begun(deps, browser, { request, reply }, made, next);
    } catch (error) {
      if (!(error instanceof ApiError) || !['sign_in_refused', 'rate_limited'].includes(error.code)) throw error;
      return signInPage({ next, provider, email, problem: error.message, status: error.status });
    }
  });

  pages.post('/sign-out', async ({ request, reply, form }) => {
    const signedIn = await browser.find(request);
    if (signedIn !== undefined) {
      browser.refuseForged(signedIn, form.get('csrf') ?? '');
      const actor = { name: signedIn.person.email, requestId: request.id };
      await sessions.endSession(deps, actor, signedIn.person.id, form.get('session') ?? signedIn.session.id);
      if ((form.get('session') ?? signedIn.session.id) !== signedIn.session.id) return { goTo: '/' };
    }
    browser.end(reply);
    return { goTo: '/sign-in' };
  });
}

/** The page behind a one-time link. A GET only shows what it would do: programs that preview links must not use it up. */
export function linkPages(pages: Pages, deps: PeopleDeps, browser: BrowserSessions): void {
  pages.get('/link/:secret', async ({ request, param }) => {
    const link = await links.findLink(deps.db, param('secret'), deps.clock.now());
    if (link === undefined) return GONE;
    return linkPage(link, await browser.find(request), await isKnown(deps, link));
  });

  pages.post('/link/:secret', async (call) => {
    const { request, reply, form, param } = call;
    const secret = param('secret');
    const link = await links.findLink(deps.db, secret, deps.clock.now());
    if (link === undefined) return GONE;
    const origin = browser.originOf(request);
    const signedIn = await browser.find(request);
    if (link.purpose === 'sign_in') {
      return begun(deps, browser, { request, reply }, await signIn.signInByLink(deps, request.id, secret, origin), '/');
    }
    if (link.purpose === 'invitation' && (await isKnown(deps, link))) {
      if (signedIn?.person.email.toLowerCase() !== link.email.toLowerCase()) return { goTo: signInFor(request.url) };
      browser.refuseForged(signedIn, form.get('csrf') ?? '');
      await signIn.acceptInvitation(deps, request.id, secret, signedIn.person.id);
      return { goTo: '/' };
    }
    const password = form.get('password') ?? '';
    const name = (form.get('name') ?? '').trim().slice(0, 100);
    const problem =
      passwordProblem(password) ?? (link.purpose === 'invitation' && name === '' ? 'Tell your name.' : undefined);
    if (problem !== undefined) return linkPage(link, signedIn, false, problem);
    const made =
      link.purpose === 'set_password'
        ? await signIn.setPasswordByLink(deps, request.id, secret, password, origin)
        : await signIn.acceptAsNewPerson(deps, request.id, secret, { name, password }, origin);
    return begun(deps, browser, { request, reply }, made, '/');
  });

  function linkPage(
    link: links.OneTimeLink,
    signedIn: sessions.SignedIn | undefined,
    known: boolean,
    problem?: string,
  ): PageAnswer {
    switch (link.purpose) {
      case 'sign_in':
        return {
          title: 'Sign in',
          body: html`<h1>Sign in</h1><p>as ${link.email}</p><form method="post"><button>Sign in</button></form>`,
        };
      case 'set_password':
        return {
          title: 'New password',
          body: html`<h1>Choose a password</h1><p class="soft">for ${link.email}</p>${note(problem)}<form method="post">${passwordField()}<button>Save and sign in</button></form>`,
        };
      case 'invitation':
        if (!known) return invitedPage(link, problem);
        if (signedIn === undefined || signedIn.person.email.toLowerCase() !== link.email.toLowerCase()) {
          return {
            title: 'Invitation',
            body: html`<h1>You are invited</h1><p>This invitation is for ${link.email}. Sign in as that person to accept it.</p><form method="post"><button>Sign in</button></form>`,
          };
        }
        return {
          title: 'Invitation',
          body: html`<h1>You are invited</h1><p>${givenBy(link)}</p><form method="post"><input type="hidden" name="csrf" value="${browser.csrfToken(signedIn)}"><button>Accept</button></form>`,
        };
    }
  }
}

const GONE: PageAnswer = {
  title: 'Link',
  status: 404,
  body: html`<h1>This link does not work any more</h1><p>It was used, has expired, or was never made. Ask for a new one.</p><p><a href="/sign-in">Sign in</a></p>`,
};

/** A browser that was signed in leaves its old session behind: the new cookie takes its place, and the old one opens nothing. */
export async function begun(
  deps: PeopleDeps,
  browser: BrowserSessions,
  { request, reply }: Pick<PageCall, 'request' | 'reply'>,
  made: signIn.NewSession,
  next: string,
): Promise<PageAnswer> {
  const before = await browser.find(request);
  if (before !== undefined) {
    const actor = { name: before.person.email, requestId: request.id };
    await sessions.endSession(deps, actor, before.person.id, before.session.id);
  }
  browser.begin(reply, made.secret);
  return { goTo: next };
}

async function isKnown(deps: PeopleDeps, link: links.OneTimeLink): Promise<boolean> {
  return link.purpose === 'invitation' && (await isPerson(deps.db, link.email));
}

function signInFor(url: string): string {
  return `/sign-in?next=${encodeURIComponent(url)}`;
}

function passwordProblem(password: string): string | undefined {
  if (password.length < PASSWORD_CHARS_MIN) return `A password has at least ${PASSWORD_CHARS_MIN} characters.`;
  return password.length > PASSWORD_CHARS_MAX ? `A password has at most ${PASSWORD_CHARS_MAX} characters.` : undefined;
}

function note(problem: string | undefined): Html | undefined {
  return problem === undefined ? undefined : html`<p class="note" role="alert">${problem}</p>`;
}

function passwordField(): Html {
  return html`<label for="password">Password</label><input id="password" name="password" type="password" autocomplete="new-password" minlength="${PASSWORD_CHARS_MIN}" maxlength="${PASSWORD_CHARS_MAX}" required><p class="soft small">At least ${PASSWORD_CHARS_MIN} characters.</p>`;
}

function givenBy(link: links.OneTimeLink): string {
  const rights = [
    link.role === null ? undefined : `to an account as ${link.role}`,
    link.operatorRole === null ? undefined : `to run this gateway as ${link.operatorRole}`,
  ].filter((right) => right !== undefined);
  return `${link.createdBy} invited you ${rights.join(' and ')}.`;
}

function invitedPage(link: links.OneTimeLink, problem: string | undefined): PageAnswer {
  const body = html`<h1>You are invited</h1><p>${givenBy(link)}</p>${note(problem)}<form method="post"><label for="name">Your name</label><input id="name" name="name" autocomplete="name" maxlength="100" required><label for="email">Email</label><input id="email" type="email" value="${link.email}" autocomplete="username" readonly>${passwordField()}<button>Join</button></form>`;
  return { title: 'Invitation', body };
}

function signInPage({
  next,
  provider,
  email = '',
  problem,
  status,
}: {
  next: string;
  provider?: string | undefined;
  email?: string;
  problem?: string;
  status?: number;
}): PageAnswer {
  const body = html`<h1>Sign in</h1><p class="soft">to Tollgate</p>${note(problem)}
<form method="post" action="/sign-in"><input type="hidden" name="next" value="${next}">
<label for="email">Email</label><input id="email" name="email" type="email" value="${email}" autocomplete="username" required autofocus>
<label for="password">Password</label><input id="password" name="password" type="password" autocomplete="current-password" required>
<button>Sign in</button></form>
${provider === undefined ? undefined : html`<a class="button plain" href="/sign-in/provider?next=${encodeURIComponent(next)}">Continue with ${provider}</a>`}
<p class="soft small">Forgot the password? An operator can make you a link that sets a new one.</p>`;
  return { title: 'Sign in', body, ...(status === undefined ? {} : { status }) };
}

function home(signedIn: sessions.SignedIn, all: readonly sessions.Session[], csrf: string): PageAnswer {
  const { person, memberships, session } = signedIn;
  const body = html`<h1>${person.name}</h1><p class="soft">${person.email}${person.operatorRole === null ? '' : ` · ${person.operatorRole}`}</p>
${memberships.length === 0 ? html`<p>You belong to no account yet.</p>` : html`<ul>${memberships.map(({ accountName, accountId, role }) => html`<li class="row"><span>${accountName} <span class="soft small">${accountId}</span></span><span class="soft">${role}</span></li>`)}</ul>`}
<h1>Sessions</h1><ul>${all.map(
    (
      one,
    ) => html`<li class="row"><span>${one.userAgent.slice(0, 60) || 'Unknown program'}<br><span class="soft small">${one.address} · since ${one.createdAt.toISOString().slice(0, 16).replace('T', ' ')}${one.id === session.id ? ' · this one' : ''}</span></span>
<form method="post" action="/sign-out"><input type="hidden" name="csrf" value="${csrf}"><input type="hidden" name="session" value="${one.id}"><button class="plain">End</button></form></li>`,
  )}</ul>`;
  return { title: person.name, body };
}
