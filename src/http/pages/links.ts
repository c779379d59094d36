import { html } from '../../html.ts';
import {
  invitationSentence,
  isPerson,
  links,
  type PeopleDeps,
  type sessions,
  signIn,
  signUpByLink,
} from '../../people/index.ts';
import type { BrowserSessions } from '../edge/session.ts';
import {
  emailInput,
  nameInput,
  nameProblem,
  newPasswordInput,
  ofPerson,
  type Problems,
  passwordProblem,
  problemsOf,
} from './fields.ts';
import { type PageAnswer, type PageCall, type Pages, startedSession } from './pages.ts';
import { CLOSED } from './sign-up.ts';

/** The page behind a one-time link. A GET only shows what it would do: programs that preview links must not use it up. */
export function linkPages(pages: Pages, deps: PeopleDeps, browser: BrowserSessions): void {
  const find = async ({ param }: PageCall) => links.findLink(deps.db, param('secret'), deps.clock.now());

  pages.get('/link/:secret', async (call) => {
    const link = await find(call);
    if (link === undefined) return GONE;
    if (isClosedTo(deps, link)) return CLOSED;
    if (!(await isKnown(deps, link))) return formPage(link);
    const signedIn = await browser.find(call.request);
    return isFor(link, signedIn) ? acceptPage(link, browser.csrfToken(signedIn)) : signInFirstPage(link);
  });

  pages.post('/link/:secret', async (call) => {
    const { request, form } = call;
    const [link, secret] = [await find(call), call.param('secret')];
    if (link === undefined) return GONE;
    if (isClosedTo(deps, link)) return CLOSED;
    if (await isKnown(deps, link)) {
      const signedIn = await browser.find(request);
      if (!isFor(link, signedIn)) return { goTo: `/sign-in?next=${encodeURIComponent(request.url)}` };
      browser.refuseForged(signedIn, form.get('csrf') ?? '');
      await signIn.acceptInvitation(deps, request.id, secret, signedIn.person.id);
      return { goTo: '/' };
    }
    const name = (form.get('name') ?? '').trim();
    const password = form.get('password') ?? '';
    const problems = problemsIn(link, name, password);
    if (problems !== undefined) return formPage(link, name, problems);
    const made = await follow(deps, request.id, { link, secret, name, password }, browser.originOf(request));
    return startedSession(deps, browser, call, made, '/');
  });
}

interface Followed {
  readonly link: links.OneTimeLink;
  readonly secret: string;
  readonly name: string;
  readonly password: string;
}

async function follow(
  deps: PeopleDeps,
  requestId: string,
  { link, secret, name, password }: Followed,
  origin: sessions.Origin,
): Promise<signIn.NewSession> {
  switch (link.purpose) {
    case 'sign_in':
      return signIn.signInByLink(deps, requestId, secret, origin);
    case 'set_password':
      return signIn.setPasswordByLink(deps, requestId, secret, password, origin);
    case 'sign_up':
      return signUpByLink(deps, requestId, secret, { name, password }, origin);
    case 'invitation':
      return signIn.acceptAsNewPerson(deps, requestId, secret, { name, password }, origin);
  }
}

function problemsIn({ purpose }: links.OneTimeLink, name: string, password: string): Problems | undefined {
  if (purpose === 'sign_in') return undefined;
  const isNew = purpose !== 'set_password';
  return problemsOf({ password: passwordProblem(password), name: isNew ? nameProblem(name) : undefined });
}

/** An invitation of a person who is there already, and who then accepts it signed in. */
async function isKnown(deps: PeopleDeps, link: links.OneTimeLink): Promise<boolean> {
  return link.purpose === 'invitation' && (await isPerson(deps.db, link.email));
}

function isFor(link: links.OneTimeLink, signedIn: sessions.SignedIn | undefined): signedIn is sessions.SignedIn {
  return signedIn?.person.email.toLowerCase() === link.email.toLowerCase();
}

function isClosedTo({ config }: PeopleDeps, { purpose }: links.OneTimeLink): boolean {
  const { mode } = config.signUp;
  return (purpose === 'invitation' && mode === 'closed') || (purpose === 'sign_up' && mode !== 'open');
}

function formPage(link: links.OneTimeLink, name?: string, problems: Problems = {}): PageAnswer {
  const { email } = link;
  switch (link.purpose) {
    case 'sign_in': {
      const body = html`<h1>Sign in</h1><p>as ${email}</p><form method="post"><button>Sign in</button></form>`;
      return { title: 'Sign in', body };
    }
    case 'set_password': {
      const input = newPasswordInput({ problem: problems.password, autofocus: true });
      const body = html`<h1>Choose a password</h1><p class="soft">for ${email}</p><form method="post">${ofPerson(email)}${input}<button>Save and sign in</button></form>`;
      return { title: 'New password', body };
    }
    case 'sign_up':
      return joinPage(email, 'Sign up', 'for an account of your own', name, problems);
    case 'invitation':
      return joinPage(email, 'You are invited', invitationSentence(link), name, problems);
  }
}

function joinPage(email: string, title: string, why: string, name: string | undefined, problems: Problems): PageAnswer {
  const fields = [
    nameInput({ value: name, problem: problems.name, autofocus: problems.password === undefined }),
    emailInput({ value: email, readonly: true }),
    newPasswordInput({ problem: problems.password }),
  ];
  return { title, body: html`<h1>${title}</h1><p>${why}</p><form method="post">${fields}<button>Join</button></form>` };
}

function signInFirstPage({ email }: links.OneTimeLink): PageAnswer {
  const body = html`<h1>You are invited</h1><p>This invitation is for ${email}. Sign in as that person to accept it.</p><form method="post"><button>Sign in</button></form>`;
  return { title: 'You are invited', body };
}

function acceptPage(link: links.OneTimeLink, csrf: string): PageAnswer {
  const body = html`<h1>You are invited</h1><p>${invitationSentence(link)}</p><form method="post"><input type="hidden" name="csrf" value="${csrf}"><button>Accept</button></form>`;
  return { title: 'You are invited', body };
}

const GONE: PageAnswer = {
  title: 'Link',
  status: 404,
  body: html`<h1>This link does not work any more</h1><p>It was used, has expired, or was never made. Ask for a new one.</p><p class="below small"><a href="/sign-in">Sign in</a></p>`,
};
