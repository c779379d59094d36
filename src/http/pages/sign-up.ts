import { ApiError } from '../../errors.ts';
import { html } from '../../html.ts';
import { mailedLinks, type PeopleDeps, signUp } from '../../people/index.ts';
import type { BrowserSessions } from '../edge/session.ts';
import {
  emailInput,
  emailProblem,
  nameInput,
  nameProblem,
  newPasswordInput,
  note,
  type Problems,
  passwordProblem,
  problemsOf,
} from './fields.ts';
import { type PageAnswer, type PageCall, type Pages, startedSession } from './pages.ts';

interface FormValues {
  readonly email?: string;
  readonly name?: string;
}

/**
 * Signing up without an invitation, and asking for a new password. With mail the answer to an address is the same whether it
 * can sign in or not, and all else happens behind the link that is mailed to it.
 */
export function signUpPages(pages: Pages, deps: PeopleDeps, browser: BrowserSessions): void {
  const isOpen = deps.config.signUp.mode === 'open';
  const hasMail = deps.mail !== undefined;

  pages.get('/sign-up', async ({ request }) => {
    if ((await browser.find(request)) !== undefined) return { goTo: '/' };
    return isOpen ? signUpPage(hasMail) : CLOSED;
  });

  pages.post('/sign-up', async (call) => {
    if (!isOpen) return CLOSED;
    return hasMail ? requestLink(call, 'sign_up') : signUpAtOnce(call);
  });

  pages.get('/forgot-password', () => (hasMail ? forgotPage() : ASK_OPERATOR));

  pages.post('/forgot-password', async (call) => (hasMail ? requestLink(call, 'set_password') : ASK_OPERATOR));

  async function requestLink({ request, form }: PageCall, wanted: 'sign_up' | 'set_password'): Promise<PageAnswer> {
    const email = (form.get('email') ?? '').trim();
    const again =
      wanted === 'sign_up'
        ? (values: FormValues, ...refusal: Refusal) => signUpPage(true, values, ...refusal)
        : forgotPage;
    const problem = emailProblem(email);
    if (problem !== undefined) return again({ email }, { email: problem });
    try {
      await mailedLinks.requestLink(deps, request.id, wanted, email, browser.originOf(request));
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'rate_limited') throw error;
      return again({ email }, {}, error);
    }
    return sentPage(email);
  }

  async function signUpAtOnce(call: PageCall): Promise<PageAnswer> {
    const { request, form } = call;
    const email = (form.get('email') ?? '').trim();
    const name = (form.get('name') ?? '').trim();
    const password = form.get('password') ?? '';
    const problems = problemsOf({
      email: emailProblem(email),
      name: nameProblem(name),
      password: passwordProblem(password),
    });
    if (problems !== undefined) return signUpPage(false, { email, name }, problems);
    try {
      const made = await signUp(deps, request.id, { email, name, password }, browser.originOf(request));
      return await startedSession(deps, browser, call, made, '/');
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.code === 'duplicate_email') {
        return { ...signUpPage(false, { email, name }, { email: error.message }), status: error.status };
      }
      if (error.code !== 'rate_limited') throw error;
      return signUpPage(false, { email, name }, {}, error);
    }
  }
}

type Refusal = [problems?: Problems, refusal?: ApiError];

function signUpPage(
  hasMail: boolean,
  values: FormValues = {},
  problems: Problems = {},
  refusal?: ApiError,
): PageAnswer {
  // The first field that has a problem is where one goes on.
  const autofocus = problems.name === undefined && problems.password === undefined;
  const email = emailInput({ value: values.email, problem: problems.email, autofocus });
  const rest = html`${nameInput({ value: values.name, problem: problems.name })}${newPasswordInput({ problem: problems.password })}`;
  const body = html`<h1>Sign up</h1><p class="soft">${hasMail ? 'We send you a link. It leads to the rest.' : 'for an account of your own'}</p>${note(refusal?.message)}
<form method="post" action="/sign-up">${email}${hasMail ? undefined : rest}<button>${hasMail ? 'Send the link' : 'Sign up'}</button></form>
<p class="below small"><a href="/sign-in">Sign in instead</a></p>`;
  return page('Sign up', body, refusal);
}

function forgotPage(values: FormValues = {}, problems: Problems = {}, refusal?: ApiError): PageAnswer {
  const body = html`<h1>Forgot your password?</h1><p class="soft">We send you a link that sets a new one.</p>${note(refusal?.message)}
<form method="post" action="/forgot-password">${emailInput({ value: values.email, problem: problems.email, autofocus: true })}<button>Send the link</button></form>
<p class="below small"><a href="/sign-in">Back to sign-in</a></p>`;
  return page('Forgot password', body, refusal);
}

function page(title: string, body: ReturnType<typeof html>, refusal: ApiError | undefined): PageAnswer {
  return { title, body, ...(refusal === undefined ? {} : { status: refusal.status }) };
}

/** The same for every address. */
function sentPage(email: string): PageAnswer {
  const body = html`<h1>Look into your mail</h1><p>If ${email} can be used here, a link is on its way to it. It works once, for a day.</p>
<p class="soft small">Nothing there? Look among the unwanted mail, and ask again in a quarter of an hour.</p><p class="below small"><a href="/sign-in">Back to sign-in</a></p>`;
  return { title: 'Look into your mail', body };
}

const ASK_OPERATOR: PageAnswer = {
  title: 'Forgot password',
  body: html`<h1>Forgot your password?</h1><p>Ask an operator of this gateway for a link that sets a new one.</p><p class="below small"><a href="/sign-in">Back to sign-in</a></p>`,
};

export const CLOSED: PageAnswer = {
  title: 'Sign up',
  status: 403,
  body: html`<h1>Sign-up is not open</h1><p>Ask an operator of this gateway for an account.</p><p class="below small"><a href="/sign-in">Sign in</a></p>`,
};
