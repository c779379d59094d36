import { z } from 'zod';
import { unixSeconds } from '../../clock.ts';
import { SIGN_UP_MODES } from '../../config.ts';
import { ApiError } from '../../errors.ts';
import { ADMIN_BODY_BYTES_MAX, PASSWORD_CHARS_MAX, PASSWORD_CHARS_MIN } from '../../limits.ts';
import { ACCOUNT_ROLES, sessions, signIn, updatePerson } from '../../people/index.ts';
import { nameField, referenceField } from '../contract/fields.ts';
import type { HttpDeps } from '../deps.ts';
import type { Routes } from '../edge/route.ts';
import { personSchema, personView } from '../views/people.ts';

const membershipSchema = z.strictObject({ account_id: z.string(), name: z.string(), role: z.enum(ACCOUNT_ROLES) });

const signedInSchema = z
  .strictObject({
    object: z.literal('signed_in'),
    person: personSchema,
    accounts: z.array(membershipSchema),
    account: membershipSchema.nullable().describe('The one that the session works in.'),
    csrf_token: z.string().describe('To be sent as X-CSRF-Token with every request that changes something.'),
    session_id: z.string(),
    expires_at: z.int().describe('Unix seconds.'),
    base_url: z.string().describe('Under which the API is reached, for samples of code.'),
    sign_up: z.enum(SIGN_UP_MODES),
    version: z.string(),
  })
  .meta({ id: 'SignedIn' });

const sessionSchema = z
  .strictObject({
    id: z.string(),
    object: z.literal('session'),
    method: z.enum(['password', 'link', 'identity_provider']),
    address: z.string(),
    user_agent: z.string(),
    created_at: z.int(),
    last_seen_at: z.int(),
    expires_at: z.int(),
    current: z.boolean(),
  })
  .meta({ id: 'Session' });

const endedSchema = z.strictObject({ id: z.string(), object: z.literal('session'), deleted: z.literal(true) });
const password = z.string().min(PASSWORD_CHARS_MIN).max(PASSWORD_CHARS_MAX);

/** What a person does with their own sessions and profile. */
export function consoleSessionRoutes(routes: Routes, deps: HttpDeps): void {
  const site = { base_url: deps.config.publicUrl, sign_up: deps.config.signUp.mode, version: deps.version };
  const view = (signedIn: sessions.SignedIn) => ({
    ...signedInView(signedIn, deps.browser.csrfToken(signedIn)),
    ...site,
  });

  routes.add(
    {
      method: 'GET',
      path: '/api/console/session',
      summary: 'Who is signed in, to which accounts they belong, and the token for changes',
      access: 'session',
      answers: { 200: signedInSchema },
    },
    ({ signedIn }) => view(signedIn),
  );

  routes.add(
    {
      method: 'PATCH',
      path: '/api/console/session',
      summary: 'Work in another account of the person',
      access: 'session',
      body: { kind: 'json', schema: z.strictObject({ account_id: referenceField }), bytesMax: ADMIN_BODY_BYTES_MAX },
      answers: { 200: signedInSchema },
      codes: ['account_not_found'],
    },
    async ({ signedIn, body }) => {
      const isChosen = await sessions.chooseAccount(deps, signedIn.session, body.account_id);
      const membership = signedIn.memberships.find(({ accountId }) => accountId === body.account_id);
      if (!isChosen || membership === undefined) throw new ApiError('account_not_found');
      return view({ ...signedIn, membership });
    },
  );

  routes.add(
    {
      method: 'GET',
      path: '/api/console/sessions',
      summary: 'The person’s own sessions, newest first',
      access: 'session',
      answers: { 200: z.strictObject({ object: z.literal('list'), data: z.array(sessionSchema) }) },
    },
    async ({ signedIn }) => {
      const all = await sessions.listSessions(deps, signedIn.person.id);
      return { object: 'list', data: all.map((session) => sessionView(session, signedIn.session.id)) };
    },
  );

  routes.add(
    {
      method: 'DELETE',
      path: '/api/console/sessions/{session_id}',
      summary: 'End one of the person’s own sessions',
      access: 'session',
      answers: { 200: endedSchema },
      codes: ['session_not_found'],
    },
    async ({ signedIn, actor, param }) => {
      const id = param('session_id');
      if (!(await sessions.endSession(deps, actor, signedIn.person.id, id))) throw new ApiError('session_not_found');
      return { id, object: 'session', deleted: true };
    },
  );

  routes.add(
    {
      method: 'PATCH',
      path: '/api/console/profile',
      summary: 'Change one’s own name',
      access: 'session',
      body: { kind: 'json', schema: z.strictObject({ name: nameField }), bytesMax: ADMIN_BODY_BYTES_MAX },
      answers: { 200: personSchema },
      codes: ['person_not_found'],
    },
    async ({ signedIn, actor, body }) => personView(await updatePerson(deps, actor, signedIn.person.id, body)),
  );

  routes.add(
    {
      method: 'POST',
      path: '/api/console/profile/password',
      summary: 'Change one’s own password; every other session ends',
      access: 'session',
      body: {
        kind: 'json',
        schema: z.strictObject({ current_password: z.string().max(PASSWORD_CHARS_MAX), password }),
        bytesMax: ADMIN_BODY_BYTES_MAX,
      },
      answers: { 200: signedInSchema },
      codes: ['sign_in_refused', 'rate_limited', 'limits_unavailable'],
    },
    async ({ request, signedIn, actor, body }) => {
      const person = { id: signedIn.person.id, email: signedIn.person.email, sessionId: signedIn.session.id };
      const passwords = { current: body.current_password, password: body.password };
      await signIn.changePassword(deps, actor, person, passwords, deps.browser.originOf(request));
      return view(signedIn);
    },
  );
}

function signedInView(
  { person, memberships, membership, session }: sessions.SignedIn,
  csrfToken: string,
): Omit<z.infer<typeof signedInSchema>, 'base_url' | 'sign_up' | 'version'> {
  return {
    object: 'signed_in',
    person: personView(person),
    accounts: memberships.map(membershipView),
    account: membership === undefined ? null : membershipView(membership),
    csrf_token: csrfToken,
    session_id: session.id,
    expires_at: unixSeconds(session.expiresAt),
  };
}

function membershipView({ accountId, accountName, role }: sessions.SignedIn['memberships'][number]) {
  return { account_id: accountId, name: accountName, role };
}

function sessionView(session: sessions.Session, currentId: string): z.infer<typeof sessionSchema> {
  return {
    id: session.id,
    object: 'session',
    method: session.method,
    address: session.address,
    user_agent: session.userAgent,
    created_at: unixSeconds(session.createdAt),
    last_seen_at: unixSeconds(session.lastSeenAt),
    expires_at: unixSeconds(session.expiresAt),
    current: session.id === currentId,
  };
}
