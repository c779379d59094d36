import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigError, type Environment, loadConfig } from './config.ts';

const NEEDED = {
  OIDC_ISSUER: 'https://login.example.com/tenant',
  OIDC_CLIENT_ID: 'tollgate',
  OIDC_CLIENT_SECRET: 'hush',
};
const ACCOUNT = { OIDC_ACCOUNT: 'acct_000000000000000000000001' };

function problems(env: Environment): readonly string[] {
  try {
    loadConfig(env);
    return [];
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.problems;
  }
}

test('an identity provider needs its issuer, client and secret; the rest has defaults', () => {
  const { clientSecret, ...oidc } = loadConfig(NEEDED).oidc ?? assert.fail();
  assert.equal(clientSecret.reveal(), 'hush');
  assert.deepEqual(oidc, {
    issuer: 'https://login.example.com/tenant',
    clientId: 'tollgate',
    name: 'single sign-on',
    scopes: 'openid email profile',
    groupsClaim: 'groups',
    groups: [],
    signup: 'match',
    accountId: undefined,
  });
  assert.equal(loadConfig({}).oidc, undefined);
});

for (const [missing, said] of [
  ['OIDC_ISSUER', 'OIDC_CLIENT_ID does nothing without OIDC_ISSUER'],
  ['OIDC_CLIENT_ID', 'OIDC_ISSUER does nothing without OIDC_CLIENT_ID'],
  ['OIDC_CLIENT_SECRET', 'OIDC_ISSUER does nothing without OIDC_CLIENT_SECRET'],
] as const) {
  test(`R-526: without ${missing} the others are refused`, () => {
    assert.deepEqual(problems({ ...NEEDED, [missing]: '' }), [said]);
  });
}

test('R-526: a setting of the identity provider alone is refused, and so is a name that is none', () => {
  const needed = 'OIDC_ISSUER and OIDC_CLIENT_ID and OIDC_CLIENT_SECRET';
  assert.deepEqual(problems({ OIDC_SIGNUP: 'create' }), [`OIDC_SIGNUP does nothing without ${needed}`]);
  assert.deepEqual(problems({ ...NEEDED, OIDC_GROUP: 'x' }), ['OIDC_GROUP is not a setting of Tollgate']);
});

for (const issuer of [
  'http://127.0.0.1:9000',
  'http://localhost:9000/realms/x',
  'http://[::1]:9000',
  'https://a.example',
]) {
  test(`OIDC_ISSUER=${issuer} is taken`, () => {
    assert.equal(loadConfig({ ...NEEDED, OIDC_ISSUER: issuer }).oidc?.issuer, issuer);
  });
}

for (const issuer of [
  'login.example.com',
  'http://login.example.com',
  'http://127.0.0.1.evil.example',
  'https://a.example?x',
  'https://a.example#x',
  'https://me@a.example',
  'ftp://localhost',
]) {
  test(`R-526: OIDC_ISSUER=${issuer} is refused`, () => {
    assert.deepEqual(problems({ ...NEEDED, OIDC_ISSUER: issuer }), [
      'OIDC_ISSUER must be an https address without query, or http on this machine',
    ]);
  });
}

for (const [name, value, said] of [
  ['OIDC_NAME', 'x'.repeat(201), /^OIDC_NAME must have at most 200 characters$/],
  ['OIDC_SCOPES', 'email profile', /^OIDC_SCOPES must be words that include openid$/],
  ['OIDC_SIGNUP', 'all', /^OIDC_SIGNUP must be one of match, create, not "all"$/],
  ['OIDC_ACCOUNT', 'main', /^OIDC_ACCOUNT must be the id of an account/],
  ['OIDC_GROUPS', 'admins', /^OIDC_GROUPS must be a comma list such as .*; this is not: admins$/],
  ['OIDC_GROUPS', '=operator', /^OIDC_GROUPS must be a comma list such as .*; this is not: =operator$/],
  ['OIDC_GROUPS', 'a=b=operator', /^OIDC_GROUPS must be a comma list/],
  ['OIDC_GROUPS', 'admins=root', /^OIDC_GROUPS gives operator, auditor, .*; this is not: admins=root$/],
  ['OIDC_GROUPS', 'admins=operator+', /^OIDC_GROUPS gives operator, auditor, /],
  ['OIDC_GROUPS', 'eng=group:Premium', /^OIDC_GROUPS gives operator, auditor, /],
  ['OIDC_GROUPS', 'a=operator, a=auditor', /^OIDC_GROUPS names the group a twice$/],
  ['OIDC_GROUPS', 'staff=member', /^OIDC_GROUPS gives roles in an account only with OIDC_ACCOUNT; .*: staff=member$/],
  ['OIDC_GROUPS', `a=${Array(51).fill('operator').join('+')}`, /^OIDC_GROUPS gives at most 50 rights for one group/],
] as const) {
  test(`R-526: ${name}=${value.slice(0, 40)} is refused`, () => {
    const [first, ...more] = problems({ ...NEEDED, [name]: value });
    assert.match(first ?? '', said);
    assert.deepEqual(more, []);
  });
}

test('R-526: routing groups go to accounts of people’s own, which one account for all rules out', () => {
  const [problem] = problems({ ...NEEDED, ...ACCOUNT, OIDC_GROUPS: 'eng=group:premium' });
  assert.match(
    problem ?? '',
    /^OIDC_GROUPS gives routing groups to people with accounts of their own, .*eng=group:premium$/,
  );
});

test('a mapping gives roles and routing groups', () => {
  const groupsOf = (env: Environment) => loadConfig({ ...NEEDED, ...env }).oidc?.groups;
  const nothing = { operatorRole: null, accountRole: null, routingGroups: [] };
  assert.deepEqual(
    groupsOf({ OIDC_GROUPS: ' /eng/core = group:default + group:premium_2 ,, Domain Admins=operator,' }),
    [
      { ...nothing, group: '/eng/core', routingGroups: ['default', 'premium_2'] },
      { ...nothing, group: 'Domain Admins', operatorRole: 'operator' },
    ],
  );
  assert.deepEqual(groupsOf({ ...ACCOUNT, OIDC_GROUPS: 'leads=owner+auditor,staff=member,guests=viewer' }), [
    { ...nothing, group: 'leads', accountRole: 'owner', operatorRole: 'auditor' },
    { ...nothing, group: 'staff', accountRole: 'member' },
    { ...nothing, group: 'guests', accountRole: 'viewer' },
  ]);
});
