import { type Actor, recordChange } from '../audit/index.ts';
import type { Tx } from '../db/index.ts';
import { LINK_REQUEST_MS, PASSWORD_LINK_MS, SIGN_UP_LINK_MS } from '../limits.ts';
import type { Message } from '../mail/index.ts';
import type { PeopleDeps } from './deps.ts';
import { type MadeLink, personalLink } from './invitations.ts';
import { deleteLinksOf, insertLink, wasLinkMade } from './links.ts';
import { invitationMail, knownPersonMail, passwordMail, signUpMail } from './mails.ts';
import type { Origin } from './sessions.ts';
import { findPersonByEmail } from './store.ts';
import { takeTurn } from './turn.ts';

type RequestedLink = 'set_password' | 'sign_up';

/** The actor of an unauthenticated request: who makes it is not known before the link is followed. */
const BY_REQUEST = 'mail request';

/** To the address that the link is for. Without mail, or with a mail server that is down, the link is passed on by hand. */
export function mailLink(deps: PeopleDeps, { link, secret }: MadeLink): void {
  const compose = link.purpose === 'invitation' ? invitationMail : passwordMail;
  deps.mail?.post(link.purpose, () => compose(link, linkUrl(deps, secret)));
}

export function linkUrl({ config }: Pick<PeopleDeps, 'config'>, secret: string): string {
  return `${config.publicUrl}/link/${secret}`;
}

/**
 * Mails a link to an address if it may have one. Resolves alike, and before any of it is known: whether the address belongs
 * to a person shows neither in the answer nor in its time. Throws `rate_limited`, for known and unknown addresses alike.
 */
export async function requestLink(
  deps: PeopleDeps,
  requestId: string,
  wanted: RequestedLink,
  email: string,
  origin: Origin,
): Promise<void> {
  await takeTurn(deps, 'link request', { address: origin.address, email });
  deps.mail?.post(wanted, () => deps.db.transaction((tx) => makeRequested(tx, deps, { requestId, wanted, email })));
}

/** Undefined where no link is made: for an unknown or disabled person, and soon after the last one. */
async function makeRequested(
  tx: Tx,
  deps: PeopleDeps,
  { requestId, wanted, email }: { requestId: string; wanted: RequestedLink; email: string },
): Promise<Message | undefined> {
  const now = deps.clock.now();
  const by: Actor = { name: BY_REQUEST, requestId };
  if (await wasLinkMade(tx, email, BY_REQUEST, new Date(now.getTime() - LINK_REQUEST_MS))) return undefined;
  const person = await findPersonByEmail(tx, email);
  if (person !== undefined) {
    if (person.disabled) return undefined;
    await deleteLinksOf(tx, person.id);
    const { link, secret } = await personalLink(tx, by, person, 'set_password', now, PASSWORD_LINK_MS);
    const compose = wanted === 'sign_up' ? knownPersonMail : passwordMail;
    return compose(link, linkUrl(deps, secret));
  }
  if (wanted !== 'sign_up' || deps.config.signUp.mode !== 'open') return undefined;
  const nothing = { personId: null, accountId: null, role: null, operatorRole: null };
  const newLink = { ...nothing, purpose: 'sign_up', email, createdBy: by.name } as const;
  const { link, secret } = await insertLink(tx, newLink, now, SIGN_UP_LINK_MS);
  await recordChange(tx, by, { at: now, action: 'link.sign_up', target: link.id, detail: { email } });
  return signUpMail(link, linkUrl(deps, secret));
}
