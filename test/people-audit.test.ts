import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Browser } from './support/browser.ts';
import { Gateway } from './support/gateway.ts';
import { MailServer } from './support/mail-server.ts';

const PASSWORD = 'correct horse battery';

let mails: MailServer;
let gateway: Gateway;
before(async () => {
  mails = await MailServer.start();
  const mail = { SMTP_URL: `smtp://127.0.0.1:${mails.port}`, MAIL_FROM: 'gate@example.com' };
  gateway = await Gateway.start({ settings: { ...mail, TOLLGATE_SIGNUP: 'open', TOLLGATE_SIGNUP_CREDITS: '5' } });
});
after(async () => {
  await gateway.stop();
  await mails.stop();
});

interface Scene {
  readonly email: string;
  readonly accountId: string;
  readonly personId: string;
  /** Of the person, signed in. */
  readonly browser: Browser;
  readonly sessionId: string;
}

interface Row {
  readonly action: string;
  readonly actor: string;
  readonly target: string;
  readonly at: number;
  readonly detail: Record<string, unknown>;
  readonly request_id: string | null;
}

const newBrowser = () => new Browser(gateway.url, gateway.config.publicUrl);
let scenes = 0;

async function newScene(): Promise<Scene> {
  gateway.clock.advance(60);
  const email = `ada-${++scenes}@example.com`;
  const account = await gateway.admin('POST', '/accounts', { name: 'Ada', email, password: PASSWORD });
  const browser = newBrowser();
  await browser.submit(await browser.open('/sign-in'), { email, password: PASSWORD });
  const { json } = await browser.json('GET', '/api/console/session', undefined, '');
  return { email, accountId: account.json.id, personId: json.person.id, browser, sessionId: json.session_id };
}

async function inConsole(scene: Scene, method: string, path: string, body?: unknown) {
  return scene.browser.json(method, `/api/console${path}`, body, await scene.browser.csrf());
}

/** A second person of the account, who has accepted an invitation. */
async function newMember(scene: Scene): Promise<{ email: string; id: string }> {
  const email = `kim-${scenes}@example.com`;
  const { json } = await inConsole(scene, 'POST', '/invitations', { email, role: 'viewer' });
  const browser = newBrowser();
  await browser.submit(await browser.open(new URL(json.url).pathname), { name: 'Kim', password: PASSWORD });
  const members = (await inConsole(scene, 'GET', '/members')).json.data;
  return { email, id: members.find((one: { email: string }) => one.email === email).id };
}

/** What is done; who is then in the audit for it, of whom or what, and with which detail. */
interface Case {
  readonly act: (scene: Scene) => Promise<Partial<{ actor: string; target: string }> | undefined>;
  readonly actor: 'person' | 'operator' | 'unknown' | 'mail request';
  readonly target?: (scene: Scene) => string;
  readonly detail?: (scene: Scene) => Record<string, unknown>;
}

const signIn = async (email: string, password: string): Promise<undefined> => {
  const browser = newBrowser();
  await browser.submit(await browser.open('/sign-in'), { email, password });
};

const CASES: Readonly<Record<string, Case>> = {
  'session.start': {
    act: ({ email }) => signIn(email, PASSWORD),
    actor: 'person',
    detail: ({ personId }) => ({ person: personId, method: 'password', address: '127.0.0.1' }),
  },
  'session.refused': {
    act: ({ email }) => signIn(email, 'a wrong password'),
    actor: 'person',
    target: ({ personId }) => personId,
    detail: () => ({ address: '127.0.0.1' }),
  },
  'session.refused, of an unknown email, which is not kept': {
    act: () => signIn('my password by mistake', PASSWORD),
    actor: 'unknown',
    target: () => 'unknown',
    detail: () => ({ address: '127.0.0.1' }),
  },
  'session.end': {
    act: async (scene) => void (await inConsole(scene, 'DELETE', `/sessions/${scene.sessionId}`)),
    actor: 'person',
    target: ({ sessionId }) => sessionId,
    detail: ({ personId }) => ({ person: personId }),
  },
  'session.end, by signing out': {
    act: async ({ browser }) => void (await browser.submit(await browser.open('/account'), {})),
    actor: 'person',
    target: ({ sessionId }) => sessionId,
  },
  'person.password': {
    act: async (scene) => {
      await signIn(scene.email, PASSWORD);
      const change = { current_password: PASSWORD, password: 'another password' };
      await inConsole(scene, 'POST', '/profile/password', change);
    },
    actor: 'person',
    target: ({ personId }) => personId,
    detail: () => ({ by: 'person', sessions_ended: 1 }),
  },
  'person.password, by a link': {
    act: async ({ personId }) => {
      const { url } = (await gateway.admin('POST', `/people/${personId}/password-link`)).json;
      const browser = newBrowser();
      await browser.submit(await browser.open(new URL(url).pathname), { password: 'another password' });
    },
    actor: 'person',
    target: ({ personId }) => personId,
    detail: () => ({ by: 'link', sessions_ended: 1 }),
  },
  'person.password_refused': {
    act: async (scene) => {
      const change = { current_password: 'a wrong password', password: 'another password' };
      await inConsole(scene, 'POST', '/profile/password', change);
    },
    actor: 'person',
    target: ({ personId }) => personId,
    detail: () => ({ address: '127.0.0.1' }),
  },
  'link.set_password': {
    act: async ({ personId }) => void (await gateway.admin('POST', `/people/${personId}/password-link`)),
    actor: 'operator',
    target: ({ personId }) => personId,
  },
  'link.set_password, asked for at the sign-in page': {
    act: async ({ email }) => {
      const browser = newBrowser();
      await browser.submit(await browser.open('/forgot-password'), { email });
      await mails.to(email);
    },
    actor: 'mail request',
    target: ({ personId }) => personId,
  },
  'link.sign_up': {
    act: async () => {
      const browser = newBrowser();
      const email = `new-${scenes}@example.com`;
      await browser.submit(await browser.open('/sign-up'), { email });
      await mails.to(email);
    },
    actor: 'mail request',
    detail: () => ({ email: `new-${scenes}@example.com` }),
  },
  'person.sign_up': {
    act: async () => {
      const browser = newBrowser();
      const email = `new-${scenes}@example.com`;
      await browser.submit(await browser.open('/sign-up'), { email });
      const { link } = await mails.to(email);
      await browser.submit(await browser.open(link), { name: 'New', password: PASSWORD });
      return { actor: email };
    },
    actor: 'person',
  },
  'person.create': {
    act: async () => void (await gateway.admin('POST', '/accounts', { name: 'B', email: `b-${scenes}@example.com` })),
    actor: 'operator',
    detail: () => ({ email: `b-${scenes}@example.com`, operator_role: null }),
  },
  'person.update': {
    act: async ({ personId }) => void (await gateway.admin('PATCH', `/people/${personId}`, { disabled: true })),
    actor: 'operator',
    target: ({ personId }) => personId,
    detail: () => ({ name: 'Ada', operator_role: null, disabled: true, sessions_ended: 1 }),
  },
  'person.update, of a role on the deployment': {
    act: async ({ personId }) =>
      void (await gateway.admin('PATCH', `/people/${personId}`, { operator_role: 'auditor' })),
    actor: 'operator',
    target: ({ personId }) => personId,
    detail: () => ({ name: 'Ada', operator_role: 'auditor', disabled: false, sessions_ended: 0 }),
  },
  'invitation.create': {
    act: async (scene) =>
      void (await inConsole(scene, 'POST', '/invitations', { email: 'eve@example.com', role: 'member' })),
    actor: 'person',
    target: ({ accountId }) => accountId,
    detail: () => ({ email: 'eve@example.com', role: 'member', operator_role: null }),
  },
  'invitation.create, of an operator': {
    act: async () => {
      const invited = { email: 'eve@example.com', operator_role: 'operator' };
      return { target: (await gateway.admin('POST', '/operators', invited)).json.id };
    },
    actor: 'operator',
    detail: () => ({ email: 'eve@example.com', role: null, operator_role: 'operator' }),
  },
  'invitation.delete': {
    act: async (scene) => {
      const { json } = await inConsole(scene, 'POST', '/invitations', { email: 'eve@example.com', role: 'member' });
      await inConsole(scene, 'DELETE', `/invitations/${json.id}`);
    },
    actor: 'person',
    target: ({ accountId }) => accountId,
  },
  'invitation.accept': {
    act: async (scene) => ({ actor: (await newMember(scene)).email }),
    actor: 'person',
    target: ({ accountId }) => accountId,
  },
  'member.role': {
    act: async (scene) => {
      const { id } = await newMember(scene);
      await inConsole(scene, 'PATCH', `/members/${id}`, { role: 'member' });
    },
    actor: 'person',
    target: ({ accountId }) => accountId,
  },
  'member.remove': {
    act: async (scene) => void (await inConsole(scene, 'DELETE', `/members/${(await newMember(scene)).id}`)),
    actor: 'person',
    target: ({ accountId }) => accountId,
  },
};

for (const [name, { act, actor, target, detail }] of Object.entries(CASES)) {
  test(`the audit tells who, what and when: ${name}`, async () => {
    const scene = await newScene();
    gateway.clock.advance(1);
    const done = (await act(scene)) ?? {};
    const { data }: { data: Row[] } = (await gateway.admin('GET', '/audit?limit=30')).json;
    const at = Math.floor(gateway.clock.nowMs() / 1000);
    const [action] = name.split(',');
    const rows = data.filter((row) => row.action === action && row.at === at);
    assert.equal(rows.length, 1, data.map((row) => `${row.at} ${row.action} ${row.actor}`).join('\n'));
    const [row] = rows;
    assert.ok(row);
    assert.equal(row.actor, done.actor ?? (actor === 'person' ? scene.email : actor));
    assert.match(row.request_id ?? '', /^req_/);
    const expected = done.target ?? target?.(scene);
    if (expected !== undefined) assert.equal(row.target, expected);
    if (detail !== undefined) assert.deepEqual(row.detail, detail(scene));
    assert.ok(!JSON.stringify(data).includes(PASSWORD) && !JSON.stringify(data).includes('by mistake'));
  });
}

test('a change of people’s that fails leaves no row in the audit', async () => {
  const scene = await newScene();
  const [before]: { id: number }[] = (await gateway.admin('GET', '/audit?limit=1')).json.data;
  await inConsole(scene, 'DELETE', `/members/${scene.personId}`);
  await inConsole(scene, 'PATCH', '/members/person_none', { role: 'owner' });
  await inConsole(scene, 'DELETE', '/sessions/sess_none');
  await inConsole(scene, 'DELETE', '/invitations/link_none');
  await gateway.admin('POST', '/accounts', { name: 'Ada', email: scene.email });
  const [last]: { id: number }[] = (await gateway.admin('GET', '/audit?limit=1')).json.data;
  assert.equal(last?.id, before?.id);
});
