import { type Message, messageOf } from '../mail/index.ts';
import type { OneTimeLink } from './links.ts';

/** What the messages say that carry a one-time link. */

/** By whom a person is invited, and to what. */
export function invitationSentence({ createdBy, role, operatorRole }: OneTimeLink): string {
  const rights = [
    role === null ? undefined : `to an account as ${role}`,
    operatorRole === null ? undefined : `to run this gateway as ${operatorRole}`,
  ].filter((right) => right !== undefined);
  return `${createdBy} invited you ${rights.join(' and ')}.`;
}

export function invitationMail(link: OneTimeLink, url: string): Message {
  return messageOf({
    to: link.email,
    subject: 'You are invited to Tollgate',
    before: [invitationSentence(link)],
    link: { label: 'Accept the invitation', url },
    after: [validity(link), 'If you do not know what this is about, do nothing.'],
  });
}

export function passwordMail(link: OneTimeLink, url: string): Message {
  return messageOf({
    to: link.email,
    subject: 'Set a new password for Tollgate',
    before: ['A link was asked for that sets a new password for this address.'],
    link: { label: 'Set a new password', url },
    after: [validity(link), 'If you did not ask for it, do nothing: your password stays as it is.'],
  });
}

/** To a person who asks to sign up although they can sign in. */
export function knownPersonMail(link: OneTimeLink, url: string): Message {
  return messageOf({
    to: link.email,
    subject: 'You can sign in to Tollgate',
    before: ['This address was given to sign up to Tollgate. It can sign in already.'],
    link: { label: 'Set a new password if you have lost it', url },
    after: [validity(link), 'If it was not you, do nothing: your password stays as it is.'],
  });
}

export function signUpMail(link: OneTimeLink, url: string): Message {
  return messageOf({
    to: link.email,
    subject: 'Finish signing up to Tollgate',
    before: ['This address was given to sign up to Tollgate.'],
    link: { label: 'Choose a name and a password', url },
    after: [validity(link), 'If it was not you, do nothing: no account is made.'],
  });
}

function validity({ expiresAt }: OneTimeLink): string {
  return `The link works once, until ${expiresAt.toISOString().slice(0, 16).replace('T', ' ')} UTC.`;
}
