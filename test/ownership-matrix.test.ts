import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { type Db, openDb } from '../src/db/index.ts';
import { byKey, ConsoleSite } from './support/console-site.ts';
import { silentLog } from './support/database.ts';
import type { Answer, CallOptions } from './support/gateway.ts';
import { OF_DUTIES } from './support/leaks.ts';
import { newMember, newOperator, type SignedInPerson } from './support/people.ts';
import { Apps } from './support/tokens.ts';

type Role = 'viewer' | 'member' | 'owner';

/** An object route: what its id names, what it answers when there is none, and what a session needs for it. */
interface Row {
  readonly object: keyof Objects;
  readonly code: string;
  /** On console routes: the role in the session's account, or none where a person's own things are meant. */
  readonly role?: Role;
  /** An app's token does not open it. */
  readonly isForKeys?: boolean;
  /** One that the route takes. */
  readonly body?: object;
}

/** Ids of what one account has. */
interface Objects {
  readonly job: string;
  readonly video: string;
  readonly request: string;
  /** The request's row in the log. */
  readonly record: string;
  readonly transcription: string;
  readonly file: string;
  /** Another one. */
  readonly upload: string;
  readonly key: string;
  readonly app: string;
  readonly member: string;
  readonly invitation: string;
  readonly session: string;
}

const JOB = { object: 'job', code: 'job_not_found' } as const;
const VIDEO = { object: 'video', code: 'job_not_found' } as const;
const UPLOAD = { object: 'upload', code: 'file_not_found', isForKeys: true } as const;
const REQUEST = { object: 'request', code: 'request_not_found' } as const;
const TRANSCRIPTION = { object: 'transcription', code: 'transcription_not_found' } as const;
const KEY = { object: 'key', code: 'key_not_found', role: 'member' } as const;
const APP = { object: 'app', code: 'grant_not_found' } as const;
const MEMBER = { object: 'member', code: 'member_not_found', role: 'owner' } as const;

/** Every route with an id in its path. One that is new is missing here, and the first test says so. */
const ROWS: Readonly<Record<string, Row>> = {
  'GET /v1/jobs/{job_id}': JOB,
  'GET /v1/jobs/{job_id}/assets': JOB,
  'GET /v1/jobs/{job_id}/content': JOB,
  'GET /v1/videos/{job_id}': JOB,
  'GET /v1/videos/{job_id}/content': JOB,
  'GET /v1/audio/music/{job_id}': JOB,
  'GET /v1/audio/music/{job_id}/content': JOB,
  'GET /v1/audio/transcriptions/{request_id}': TRANSCRIPTION,
  'GET /v1/requests/{request_id}': REQUEST,
  'GET /openai/v1/videos/{job_id}': VIDEO,
  'GET /openai/v1/videos/{job_id}/content': VIDEO,
  'DELETE /openai/v1/videos/{job_id}': VIDEO,
  'GET /openai/v1/files/{file_id}': UPLOAD,
  'GET /openai/v1/files/{file_id}/content': UPLOAD,
  'DELETE /openai/v1/files/{file_id}': UPLOAD,
  'GET /api/console/jobs/{job_id}': { ...JOB, role: 'viewer' },
  'GET /api/console/jobs/{job_id}/assets': { ...JOB, role: 'viewer' },
  'GET /api/console/jobs/{job_id}/content': { ...JOB, role: 'viewer' },
  'GET /api/console/jobs/{job_id}/request': { ...JOB, role: 'viewer' },
  'GET /api/console/audio/transcriptions/{request_id}': { ...TRANSCRIPTION, role: 'viewer' },
  'GET /api/console/requests/{record_id}': { ...REQUEST, object: 'record', role: 'viewer' },
  'PATCH /api/console/keys/{key_id}': { ...KEY, body: { disabled: true } },
  'POST /api/console/keys/{key_id}/roll': { ...KEY, body: { overlap_seconds: 60 } },
  'DELETE /api/console/keys/{key_id}': KEY,
  'PATCH /api/console/oauth-grants/{grant_id}': { ...APP, role: 'member', body: { credit_limit: 0 } },
  'DELETE /api/console/oauth-grants/{grant_id}': { ...APP, role: 'viewer' },
  'DELETE /api/console/files/{file_id}': { object: 'file', code: 'file_not_found', role: 'member' },
  'PATCH /api/console/members/{person_id}': { ...MEMBER, body: { role: 'viewer' } },
  'DELETE /api/console/members/{person_id}': MEMBER,
  'DELETE /api/console/invitations/{invitation_id}': {
    object: 'invitation',
    code: 'invitation_not_found',
    role: 'owner',
  },
  'DELETE /api/console/sessions/{session_id}': { object: 'session', code: 'session_not_found' },
};

interface Operations {
  readonly get?: { readonly parameters: readonly { readonly name: string }[] };
}

/** A model is the deployment's. Which ones an account reaches is told by its groups. */
const OF_NO_ACCOUNT = [
  'GET /v1/models/{model_id}',
  'GET /openai/v1/models/{model_id}',
  'GET /api/console/run/models/{model_id}',
];

const site = new ConsoleSite();
let apps: Apps;
let db: Db;
let victim: SignedInPerson;
let victimKey: string;
let objects: Objects;
/** How the other account proves who it is. */
let proofs: Readonly<Record<string, Pick<CallOptions, 'key' | 'headers'>>>;

before(async () => {
  await site.start();
  apps = await Apps.open(site.gateway);
  db = openDb(site.gateway.database.address, silentLog);
  victim = await site.owner();
  objects = await objectsOf(victim);
  const owner = await site.owner();
  proofs = {
    key: { key: (await site.keyOf(owner)).key },
    token: { key: await apps.newToken(owner.accountId) },
    owner: { headers: owner.headers },
    member: { headers: (await newMember(site.gateway, owner, 'member')).headers },
    viewer: { headers: (await newMember(site.gateway, owner, 'viewer')).headers },
    operator: { headers: (await newOperator(site.gateway)).headers },
    nothing: {},
  };
});
after(async () => {
  await Promise.all([apps.close(), db.close()]);
  await site.stop();
});
afterEach(() => site.gateway.assertBooksBalance());

/** One of each, made as people and programs make them. */
async function objectsOf(person: SignedInPerson): Promise<Objects> {
  const { id: key, key: secret } = await site.keyOf(person);
  victimKey = secret;
  const job = (await site.made(byKey(secret), 'picture')).json.id;
  assert.equal((await site.ended(person, job)).status, 'succeeded');
  const video = (await site.made(byKey(secret), 'video')).json.id;
  assert.equal((await site.ended(person, video)).status, 'succeeded');
  const invited = { email: 'invited@example.com', role: 'member' };
  const request = (await site.made(byKey(secret), 'chat')).headers['x-request-id'] ?? '';
  const transcription = (await site.made(byKey(secret), 'transcription')).headers['x-request-id'] ?? '';
  const file = (await site.made(byKey(secret), 'file')).json.id;
  const upload = (await site.made(byKey(secret), 'file')).json.id;
  // Reading the list also writes what the log has gathered: no row of it appears later.
  const record = (await person.call('GET', `/requests?request_id=${request}`)).json.data[0].id;
  return {
    job,
    video,
    key,
    request,
    record,
    transcription,
    file,
    upload,
    app: (await apps.grant(person.accountId)).grantId,
    member: (await newMember(site.gateway, person, 'member')).id,
    invitation: (await person.call('POST', '/invitations', invited)).json.id,
    session: (await person.call('GET', '/session')).json.session_id,
  };
}

function ask(route: string, id: string, proof: Pick<CallOptions, 'key' | 'headers'>): Promise<Answer> {
  const [method = '', path = ''] = route.split(' ');
  const { body } = ROWS[route] ?? {};
  return site.gateway.call(method, path.replace(/\{\w+\}/, id), { ...proof, body });
}

/** Which refusal this credential gets for what another account has. */
function expected(route: string, { code, role, isForKeys }: Row, who: string): readonly [number, string] {
  const isSession = ['owner', 'member', 'viewer', 'operator'].includes(who);
  if (isForKeys === true && who === 'token') return [403, 'insufficient_scope'];
  if (isOfCallers(route)) return isSession || who === 'nothing' ? [401, 'missing_token'] : [404, code];
  if (!isSession) return [401, 'not_signed_in'];
  if (role === undefined) return [404, code];
  if (who === 'operator') return [401, 'no_account'];
  const ranks: readonly string[] = ['viewer', 'member', 'owner'];
  return ranks.indexOf(who) < ranks.indexOf(role) ? [403, 'insufficient_role'] : [404, code];
}

/**
 * A digest of every row of every table in which this id stands, but for what duties write, and for the time of a key's or an
 * app's last use: the gateway gathers these and writes them some seconds after the use.
 */
async function traceOf(id: string): Promise<string> {
  const tables = await db.rows<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'
       and relname <> all ($1) order by 1`,
    [OF_DUTIES],
  );
  const traces = await Promise.all(
    tables.map(async ({ name }) => {
      const [row] = await db.rows<{ trace: string | null }>(
        `select count(*) || md5(string_agg(line, '|' order by line)) as trace
         from ${name} t, lateral (select (to_jsonb(t) - 'last_used_at')::text as line) lines
         where position($1 in line) > 0`,
        [id],
      );
      return row?.trace == null ? '' : `${name} ${row.trace}`;
    }),
  );
  return traces.filter((trace) => trace !== '').join('\n');
}

async function publishedRoutes(): Promise<string[]> {
  const { json } = await site.gateway.call('GET', '/openapi.json');
  return Object.entries<object>(json.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
}

test('every object route of the API and the console has a row', async () => {
  const routes = (await publishedRoutes()).filter(
    (route) => /\{\w+_id\}/.test(route) && !route.includes('/api/admin/'),
  );
  assert.deepEqual(routes.toSorted(), [...Object.keys(ROWS), ...OF_NO_ACCOUNT].toSorted());
});

describe('R-525: what another account has is not there, and stays as it was', () => {
  for (const [route, row] of Object.entries(ROWS)) {
    test(route, async () => {
      const id = objects[row.object];
      const before = await traceOf(id);
      assert.notEqual(before, '', 'nothing stands in the database');
      for (const [who, proof] of Object.entries(proofs)) {
        const answer = await ask(route, id, proof);
        assert.deepEqual([answer.status, answer.json.error.code], expected(route, row, who), `${who}: ${answer.text}`);
        assert.equal(await traceOf(id), before, who);
      }
    });
  }
});

test('R-525: another account’s id and one that was never made are one answer', async () => {
  for (const [route, { object }] of Object.entries(ROWS)) {
    const made = objects[object];
    const never = made.replace(/[A-Za-z0-9]{6}$/, 'zzzzzz');
    assert.notEqual(never, made);
    for (const proof of Object.values(proofs)) {
      const [theirs, nobodys] = [await ask(route, made, proof), await ask(route, never, proof)];
      assert.equal(theirs.text.replaceAll(made, 'ID'), nobodys.text.replaceAll(never, 'ID'), route);
    }
  }
});

test('R-525: another account’s id marks no place in a list: it is like one that was never made', async () => {
  const { json } = await site.gateway.call('GET', '/openapi.json');
  const lists = Object.entries<Operations>(json.paths)
    .filter(
      ([path, { get }]) => !path.startsWith('/api/admin/') && get?.parameters.some(({ name }) => name === 'after'),
    )
    .map(([path]) => path)
    // Its rows are sums, which have no ids.
    .filter((path) => path !== '/api/console/usage');
  const read = async (path: string) =>
    (await site.gateway.call('GET', `${path}?limit=1`, { key: victimKey, headers: victim.headers })).json.data[0].id;
  assert.ok(lists.length >= 10);
  for (const path of lists) {
    const made: string = await read(path);
    const never = made.replace(/[A-Za-z0-9]{6}$/, 'ffffff');
    for (const [who, proof] of Object.entries(proofs)) {
      const [theirs, nobodys] = await Promise.all(
        [made, never].map((id) => site.gateway.call('GET', `${path}?after=${id}`, proof)),
      );
      assert.deepEqual([theirs?.status, theirs?.text], [nobodys?.status, nobodys?.text], `${path} as ${who}`);
    }
  }
});

test('R-525: no list shows what another account has', async () => {
  const lists = (await publishedRoutes()).filter((route) => /^GET \/(v1|openai\/v1|api\/console)\/[^{]*$/.test(route));
  assert.ok(lists.length >= 20);
  for (const route of lists) {
    for (const [who, proof] of Object.entries(proofs)) {
      const { text } = await ask(route, '', proof);
      const seen = Object.values(objects).filter((id) => text.includes(id));
      assert.deepEqual(seen, [], `${route} as ${who}`);
    }
  }
});

test('the rows are right: whose it is finds it at every one of these routes, and changes it', async () => {
  // Reads first, then changes; the session itself ends last.
  const routes = Object.entries(ROWS).toSorted(([one], [other]) => Number(isChange(one)) - Number(isChange(other)));
  for (const [route, { object }] of routes) {
    const id = objects[object];
    const before = await traceOf(id);
    const answer = await ask(route, id, isOfCallers(route) ? { key: victimKey } : { headers: victim.headers });
    assert.ok([200, 302].includes(answer.status), `${route}: ${answer.text}`);
    if (isChange(route)) assert.notEqual(await traceOf(id), before, route);
  }
});

function isOfCallers(route: string): boolean {
  return / (\/openai)?\/v1\//.test(route);
}

function isChange(route: string): boolean {
  return !route.startsWith('GET ');
}
