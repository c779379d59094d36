/**
 * People: who signs in, with which proof, and what they may do in which account or on the deployment. Hides that only
 * digests and verifiers are stored, what a guess costs, and that a session, its rights and its audit row change together.
 */
export type { PeopleDeps } from './deps.ts';
export { ensureFirstOperator, type FirstOperatorOutcome } from './first-operator.ts';
export * as identity from './identity.ts';
export * as invitations from './invitations.ts';
export * as links from './links.ts';
export * as mailedLinks from './mailed-links.ts';
export { invitationSentence } from './mails.ts';
export { changeMembership, createAccountWithOwner, updatePerson } from './people.ts';
export * as sessions from './sessions.ts';
export * as signIn from './sign-in.ts';
export { signUp, signUpByLink } from './sign-up.ts';
export {
  ACCOUNT_ROLES,
  type AccountRole,
  isPerson,
  listPeople,
  type Membership,
  membersOf,
  OPERATOR_ROLES,
  type Person,
} from './store.ts';
export { takeOpenIdTurn } from './turn.ts';
