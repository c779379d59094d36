import { ApiError } from '../../errors.ts';
import { html } from '../../html.ts';
import { DEVICE_CODES_RPM } from '../../limits.ts';
import {
  devices,
  findClient,
  findLatestGrant,
  OAUTH_PATHS,
  type OauthClient,
  type OauthDeps,
  payingAccounts,
} from '../../oauth/index.ts';
import type { sessions } from '../../people/index.ts';
import type { Throttle } from '../../throttle/index.ts';
import type { BrowserSessions } from '../edge/session.ts';
import { accountOf, consentPage, LIMIT_PROBLEM, limitOf } from './consent-form.ts';
import type { PageAnswer, Pages } from './pages.ts';

export interface DeviceDeps extends OauthDeps {
  readonly throttle: Throttle;
}

/** Where a person types the code that a device shows, and decides as on any consent page. */
export function devicePages(pages: Pages, deps: DeviceDeps, browser: BrowserSessions): void {
  pages.get(OAUTH_PATHS.devicePage, async ({ request, query }) => {
    const signedIn = await browser.find(request);
    if (signedIn === undefined) return { goTo: `/sign-in?next=${encodeURIComponent(request.url)}` };
    const userCode = query.get('user_code');
    if (userCode === null) return entryPage();
    const pending = await find(signedIn, userCode);
    return pending === undefined ? entryPage(UNKNOWN) : askForConsent(pending, signedIn);
  });

  pages.post(OAUTH_PATHS.devicePage, async ({ request, form }) => {
    const signedIn = await browser.find(request);
    if (signedIn === undefined) throw new ApiError('not_signed_in');
    browser.refuseForged(signedIn, form.get('csrf') ?? '');
    const pending = await find(signedIn, form.get('user_code') ?? '');
    if (pending === undefined) return entryPage(UNKNOWN);
    if (form.get('decision') !== 'allow') {
      return (await devices.denyDevice(deps, pending.device)) ? DENIED : entryPage(UNKNOWN);
    }
    const limit = limitOf(form);
    if (limit === undefined) return askForConsent(pending, signedIn, LIMIT_PROBLEM);
    const { id: personId, email } = signedIn.person;
    const consent = { ...limit, accountId: accountOf(form), personId };
    const isAllowed = await devices.allowDevice(deps, { name: email, requestId: request.id }, pending.device, consent);
    return isAllowed ? allowed(pending.client) : entryPage(UNKNOWN);
  });

  /** A token bucket per person: codes are short enough to be typed, so they are not to be tried in numbers. */
  async function find({ person }: sessions.SignedIn, userCode: string): Promise<Found | undefined> {
    const allowance = { rpm: DEVICE_CODES_RPM, concurrency: undefined };
    const slot = await deps.throttle.take(`device-code person:${person.id}`, allowance);
    if (slot.state === 'refused') throw new ApiError(slot.code);
    slot.release();
    const device = await devices.findPendingDevice(deps.db, userCode, deps.clock.now());
    const client = device === undefined ? undefined : await findClient(deps.db, device.clientId);
    return device === undefined || client === undefined ? undefined : { device, client };
  }

  async function askForConsent(
    { device, client }: Found,
    signedIn: sessions.SignedIn,
    problem?: string,
  ): Promise<PageAnswer> {
    const { userCode, scopes } = device;
    const { id } = signedIn.person;
    const accounts = await payingAccounts(deps.db, id);
    const earlier = await findLatestGrant(deps.db, client.id, id);
    const more = html`<input type="hidden" name="user_code" value="${userCode}"><p>Your device shows <code>${userCode}</code>. If it does not, or you have not begun this yourself, deny.</p>`;
    const next = 'Your device goes on by itself.';
    return consentPage({
      client,
      signedIn,
      scopes,
      earlier,
      accounts,
      csrf: browser.csrfToken(signedIn),
      more,
      next,
      problem,
    });
  }
}

interface Found {
  readonly device: devices.PendingDevice;
  readonly client: OauthClient;
}

const UNKNOWN = 'There is no such code, or it has expired.';

function entryPage(problem?: string): PageAnswer {
  const body = html`<h1>Connect a device</h1><p class="soft">Type the code that it shows.</p>${problem === undefined ? '' : html`<p class="note" role="alert">${problem}</p>`}
<form method="get" action="${OAUTH_PATHS.devicePage}"><label for="user_code">Code</label><input id="user_code" name="user_code" autocomplete="off" autocapitalize="characters" spellcheck="false" maxlength="20" required autofocus><button>Continue</button></form>`;
  return { title: 'Device', body, ...(problem === undefined ? {} : { status: 404 }) };
}

const DENIED: PageAnswer = {
  title: 'Denied',
  body: html`<h1>Denied</h1><p>The device was told. You can close this page.</p>`,
};

function allowed({ name }: OauthClient): PageAnswer {
  return {
    title: 'Allowed',
    body: html`<h1>Allowed</h1><p>${name} goes on at your device. You can close this page.</p>`,
  };
}
