import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Fields, imageModel, sandbox } from './support/documents.ts';
import { type Answer, Gateway } from './support/gateway.ts';
import { newMember, newOperator, newOwner, type SignedInPerson } from './support/people.ts';

let gateway: Gateway;
let owner: SignedInPerson;
before(async () => {
  gateway = await Gateway.start();
  owner = await newOwner(gateway);
});
after(() => gateway.stop());

async function catalogueOf(person: SignedInPerson): Promise<Answer['json'][]> {
  const answer = await person.call('GET', '/catalogue');
  assert.equal(answer.status, 200, answer.text);
  return answer.json.data;
}

test('R-523: a viewer finds every model with its price and all that a form can offer, and no upstream', async () => {
  const viewer = await newMember(gateway, owner, 'viewer');
  const models = await catalogueOf(viewer);
  const image = models.find(({ id }) => id === 'sandbox/image');
  assert.deepEqual(image.accepts, {
    slots: ['reference_images', 'mask'],
    sizes: ['256x256', '512x512', '1024x1024', '1536x1024', '1024x1536', '1792x1024', '1024x1792', 'auto'],
    resolutions: ['1k', '2k', '4k'],
    aspect_ratios: ['1:1', '3:2', '2:3', '4:3', '3:4', '16:9', '9:16'],
    qualities: ['low', 'standard', 'medium', 'auto', 'high', 'hd'],
    n_max: 10,
    seconds_max: null,
    formats: ['png', 'jpeg', 'webp'],
    voice_sample: 'optional',
    voice_design: false,
  });
  assert.deepEqual([image.endpoints, image.pricing.unit], [['images', 'image_edits'], 'image']);
  const clone = models.find(({ id }) => id === 'sandbox/voice-clone');
  assert.equal(clone.accepts.voice_sample, 'required');
  const chat = models.find(({ id }) => id === 'sandbox/chat');
  assert.deepEqual([chat.context_tokens, chat.max_output_tokens], [32_768, 4096]);
  const card = (await viewer.call('GET', '/catalogue')).text;
  assert.doesNotMatch(card, /"(upstream|routes|vendor|base_url)"/);
});

test('R-523: what is offered is what at least one enabled upstream of the account’s groups takes', async (t) => {
  const own = await Gateway.start();
  t.after(() => own.stop());
  const person = await newOwner(own);
  const wide = { sizes: ['256x256', '512x512', '1024x1024'], n_max: 10, formats: ['png', 'webp'] };
  const model = imageModel('narrow', ['one', 'two', 'off', 'far'], { accepts: { ...wide, slots: ['mask'] } });
  const narrowed: readonly Fields[] = [
    { sizes: ['512x512'], n_max: 2, slots: [] },
    { sizes: ['256x256'], n_max: 4, formats: ['png'], slots: [] },
    {},
    {},
  ];
  const routes = (model.routes as Fields[]).map((route, place) => ({ ...route, accepts: narrowed[place] }));
  const upstreams = [
    sandbox('one'),
    sandbox('two'),
    { ...sandbox('off'), enabled: false },
    { ...sandbox('far'), groups: ['far'] },
  ];
  await own.putConfig({ upstreams, models: [{ ...model, routes }] });
  const [offered] = await catalogueOf(person);
  const { sizes, n_max, slots, formats } = offered.accepts;
  assert.deepEqual(
    { sizes, n_max, slots, formats },
    { sizes: ['256x256', '512x512'], n_max: 4, slots: [], formats: ['png', 'webp'] },
  );
  await own.admin('PATCH', `/accounts/${person.accountId}`, { groups: ['far'] });
  assert.deepEqual((await catalogueOf(person))[0].accepts.slots, ['mask']);
  await own.admin('PATCH', `/accounts/${person.accountId}`, { groups: ['none'] });
  assert.deepEqual(await catalogueOf(person), []);
});

test('R-522: a session tells where the API is, who the person is on the deployment, and the release', async () => {
  const { json } = await owner.call('GET', '/session');
  const { base_url, sign_up, version, person } = json;
  assert.deepEqual([base_url, sign_up, person.operator_role], [gateway.config.publicUrl, 'invite', null]);
  assert.match(version, /^\d+\.\d+\.\d+/);
  const operator = await newOperator(gateway, 'auditor');
  assert.equal((await operator.call('GET', '/session')).json.person.operator_role, 'auditor');
});

test('R-522: a visitor is told what this is, and nothing about accounts or upstreams', async (t) => {
  const open = await Gateway.start({ settings: { TOLLGATE_SIGNUP: 'open' } });
  t.after(() => open.stop());
  const { json } = await open.call('GET', '/api/console/site');
  const at = (path: string) => `${open.config.publicUrl}${path}`;
  assert.deepEqual(json, {
    object: 'site',
    name: 'Tollgate',
    base_url: open.config.publicUrl,
    version: json.version,
    sign_up: 'open',
    identity_provider: null,
    links: {
      openapi: at('/openapi.json'),
      price_list: at('/api/hub/public/models'),
      sign_in: at('/sign-in'),
      sign_up: at('/sign-up'),
    },
  });
  for (const link of [json.links.openapi, json.links.price_list]) {
    assert.equal((await open.call('GET', new URL(link).pathname)).status, 200);
  }
});
