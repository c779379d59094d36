import { ApiError } from '../../errors.ts';
import { html } from '../../html.ts';
import { PASSWORD_CHARS_MAX } from '../../limits.ts';
import { type PeopleDeps, signIn } from '../../people/index.ts';
import type { BrowserSessions } from '../edge/session.ts';
import {
  currentPasswordInput,
  newPasswordInput,
  note,
  ofPerson,
  type Problems,
  passwordProblem,
  problemsOf,
} from './fields.ts';
import type { PageAnswer, Pages } from './pages.ts';

/** Changing one's own password. Every other session ends with the old one. */
export function passwordPages(pages: Pages, deps: PeopleDeps, browser: BrowserSessions): void {
  pages.get('/password', async ({ request }) => {
    const signedIn = await browser.find(request);
    return signedIn === undefined
      ? { goTo: '/sign-in?next=/password' }
      : passwordPage({ email: signedIn.person.email, csrf: browser.csrfToken(signedIn) });
  });

  pages.post('/password', async ({ request, form }) => {
    const signedIn = await browser.find(request);
    if (signedIn === undefined) return { goTo: '/sign-in?next=/password' };
    browser.refuseForged(signedIn, form.get('csrf') ?? '');
    const shown = { email: signedIn.person.email, csrf: browser.csrfToken(signedIn) };
    const passwords = {
      current: (form.get('current_password') ?? '').slice(0, PASSWORD_CHARS_MAX),
      password: form.get('password') ?? '',
    };
    const problems = problemsOf({ password: passwordProblem(passwords.password) });
    if (problems !== undefined) return passwordPage(shown, problems);
    const { person, session } = signedIn;
    const who = { id: person.id, email: person.email, sessionId: session.id };
    try {
      const actor = { name: person.email, requestId: request.id };
      await signIn.changePassword(deps, actor, who, passwords, browser.originOf(request));
      return { goTo: '/' };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.code === 'sign_in_refused') {
        return { ...passwordPage(shown, { current: error.message }), status: error.status };
      }
      if (error.code !== 'rate_limited') throw error;
      return { ...passwordPage(shown, {}, error.message), status: error.status };
    }
  });
}

function passwordPage(
  { email, csrf }: { readonly email: string; readonly csrf: string },
  problems: Problems = {},
  refusal?: string,
): PageAnswer {
  const current = currentPasswordInput({
    name: 'current_password',
    label: 'Current password',
    problem: problems.current,
    autofocus: problems.password === undefined,
  });
  const body = html`<h1>Change your password</h1><p class="soft">You stay signed in here, and are signed out everywhere else.</p>${note(refusal)}
<form method="post" action="/password"><input type="hidden" name="csrf" value="${csrf}">${ofPerson(email)}${current}${newPasswordInput({ label: 'New password', problem: problems.password })}<button>Change it</button></form>
<p class="below small"><a href="/forgot-password">Never had one, or forgot it?</a> · <a href="/">Back</a></p>`;
  return { title: 'Change password', body };
}
