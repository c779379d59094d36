import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { vendors } from '../vendors/index.ts';
import { BUILT_IN_CATALOGUE } from './built-in.ts';
import { type ConfigDocument, parseDocument } from './document.ts';
import { DocumentError, type DocumentProblem } from './problems.ts';
import { resolveSecrets } from './secrets.ts';
import type { VendorTerms } from './vendor-terms.ts';
import { ENDPOINTS } from './vocabulary.ts';

const TERMS: readonly VendorTerms[] = [
  { name: 'acme', address: 'origin', apiKey: 'required', dialects: { plain: [], fancy: [] } },
  { name: 'ditto', address: 'versioned', apiKey: 'optional' },
  {
    name: 'cloud',
    address: 'origin',
    apiKey: 'required',
    credentials: {
      application: { apiKey: 'required', settings: { client_id: 'required', scope: 'optional' } },
      identity: { apiKey: 'none', settings: {} },
    },
  },
  { name: 'inside', address: 'none', apiKey: 'none' },
  { name: 'absent', address: 'none', apiKey: 'none', missing: 'not installed' },
];

type Fields = Record<string, unknown>;

function reference(variable: string): string {
  return `\${${variable}}`;
}

function upstream(fields: Fields = {}): Fields {
  return { id: 'acme-main', vendor: 'acme', base_url: 'https://api.acme.test', api_key: 'key-1', ...fields };
}

function model(fields: Fields = {}): Fields {
  return {
    id: 'studio/photo-2',
    modality: 'image',
    owned_by: 'studio',
    endpoints: ['images', 'image_edits'],
    pricing: { mode: 'per_image', credits: { base: 40 } },
    routes: [{ upstream: 'acme-main', model: 'photo' }],
    ...fields,
  };
}

function chat(fields: Fields = {}): Fields {
  return model({ modality: 'chat', endpoints: ['chat'], pricing: TOKEN_PRICE, ...fields });
}

function speech(fields: Fields = {}): Fields {
  return model({ modality: 'audio', endpoints: ['audio_speech'], pricing: REQUEST_PRICE, ...fields });
}

const REQUEST_PRICE = { mode: 'per_request', credits: { base: 1 } };
const TOKEN_PRICE = { mode: 'per_token', credits: { input_per_k: 1, output_per_k: 2 } };

function parse(upstreams: unknown, models: unknown): ConfigDocument {
  return parseDocument(JSON.stringify({ upstreams, models }), TERMS);
}

function problemsOf(read: () => unknown): readonly DocumentProblem[] {
  try {
    read();
  } catch (error) {
    assert.ok(error instanceof DocumentError, `expected DocumentError, got ${String(error)}`);
    return error.problems;
  }
  return [];
}

function assertProblem(read: () => unknown, path: string, problem: RegExp): void {
  const problems = problemsOf(read);
  const found = problems.filter((each) => each.path === path && problem.test(each.problem));
  assert.equal(found.length, 1, `expected ${path} ${problem}, got ${JSON.stringify(problems)}`);
}

const upstreamWith = (fields: Fields) => () => parse([upstream(fields)], []);
const modelWith = (fields: Fields) => () => parse([upstream()], [model(fields)]);

test('fills in every default', () => {
  const { upstreams, models } = parse([upstream()], [model()]);
  assert.deepEqual(upstreams[0], {
    ...upstream(),
    groups: ['default'],
    priority: 0,
    weight: 1,
    timeout_seconds: 120,
    enabled: true,
  });
  assert.deepEqual(models[0], {
    ...model(),
    display_name: '',
    description: '',
    tags: [],
    pricing: { mode: 'per_image', currency: 'usd', credits: { base: 40 } },
    accepts: { resolutions: [], aspect_ratios: [], sizes: [], slots: [], voice_design: false },
  });
});

test('reads its own output as the same document', () => {
  const document = parse([upstream()], [model({ accepts: { resolutions: ['1k'], n_max: 4 } })]);
  assert.deepEqual(parse(document.upstreams, document.models), document);
});

test('takes a document of no upstreams and no models', () => {
  assert.deepEqual(parse([], []), { upstreams: [], models: [] });
});

test('reads the document of a comment-rich YAML file as that of its JSON', () => {
  const yaml = [
    'upstreams:',
    '  - id: acme-main # ours',
    '    vendor: acme',
    '    base_url: https://api.acme.test/',
    `    api_key: ${reference('ACME_KEY')}`,
    'models: []',
  ].join('\n');
  const json = { upstreams: [upstream({ api_key: reference('ACME_KEY') })], models: [] };
  assert.deepEqual(parseDocument(yaml, TERMS), parseDocument(JSON.stringify(json), TERMS));
});

const ADDRESSES: readonly (readonly [vendor: string, written: string, kept: string])[] = [
  ['acme', 'https://api.acme.test', 'https://api.acme.test'],
  ['acme', 'https://api.acme.test/', 'https://api.acme.test'],
  ['acme', 'HTTPS://API.acme.test:443//', 'https://api.acme.test'],
  ['acme', 'http://127.0.0.1:9000', 'http://127.0.0.1:9000'],
  ['ditto', 'https://api.acme.test/v1', 'https://api.acme.test/v1'],
  ['ditto', 'https://api.acme.test/a/v1//', 'https://api.acme.test/a/v1'],
  ['ditto', 'https://api.acme.test/a/../v2', 'https://api.acme.test/v2'],
];

for (const [vendor, written, kept] of ADDRESSES) {
  test(`keeps the address ${written} as ${kept}`, () => {
    assert.equal(upstreamWith({ vendor, base_url: written })().upstreams[0]?.base_url, kept);
  });
}

const GOOD_UPSTREAMS: readonly (readonly [sentence: string, fields: Fields])[] = [
  [
    'takes an upstream without a key where the vendor allows it',
    { vendor: 'ditto', base_url: 'http://h/v1', api_key: undefined },
  ],
  [
    'takes an upstream of a vendor inside the gateway with nothing else',
    { vendor: 'inside', base_url: undefined, api_key: undefined },
  ],
  ['takes a key from the environment', { api_key: reference('ACME_KEY') }],
  ['takes the mask as a key', { api_key: '********' }],
  ['takes a fraction as weight', { weight: 0.5 }],
  ['takes a priority below zero', { priority: -1_000_000 }],
  ['takes a dialect of the vendor', { dialect: 'plain' }],
  ['takes a key alone where other credentials are known', { vendor: 'cloud' }],
  ['takes a credential with its secret', { vendor: 'cloud', credential: { kind: 'application', client_id: 'c' } }],
  ['takes a credential without a secret', { vendor: 'cloud', api_key: undefined, credential: { kind: 'identity' } }],
  ['takes an hour as timeout', { timeout_seconds: 3600 }],
  ['takes several groups', { groups: ['default', 'vip_2', '9-x'] }],
];

for (const [sentence, fields] of GOOD_UPSTREAMS) {
  test(sentence, () => assert.deepEqual(problemsOf(upstreamWith(fields)), []));
}

const BAD_UPSTREAMS: readonly (readonly [sentence: string, fields: Fields, field: string, problem: RegExp])[] = [
  ['refuses an upstream without an id', { id: undefined }, 'id', /expected text, but it is missing/],
  ['refuses an upstream id with a slash', { id: 'a/b' }, 'id', /letters, digits/],
  [
    'refuses an unknown vendor and names the known',
    { vendor: 'acne' },
    'vendor',
    /one of acme, ditto, cloud, inside, absent, got "acne". Did you mean "acme"/,
  ],
  [
    'refuses a vendor that is not installed, with the reason and nothing else',
    { vendor: 'absent' },
    'vendor',
    /^vendor absent is not installed$/,
  ],
  [
    'refuses a dialect that the vendor does not have and names those it has',
    { dialect: 'plane' },
    'dialect',
    /one of plain, fancy, got "plane". Did you mean "plain"/,
  ],
  [
    'refuses a dialect of a vendor that has none',
    { vendor: 'ditto', base_url: 'https://ditto.test/v1', dialect: 'plain' },
    'dialect',
    /vendor ditto has no dialects/,
  ],
  [
    'refuses a credential of a vendor that has a key alone',
    { credential: { kind: 'application' } },
    'credential',
    /vendor acme takes api_key alone/,
  ],
  [
    'refuses a kind of credential that is not known and names those that are',
    { vendor: 'cloud', credential: { kind: 'aplication' } },
    'credential.kind',
    /one of application, identity, got "aplication". Did you mean "application"/,
  ],
  ['refuses a credential without a kind', { vendor: 'cloud', credential: {} }, 'credential.kind', /one of application/],
  [
    'refuses a credential that lacks a setting',
    { vendor: 'cloud', credential: { kind: 'application' } },
    'credential.client_id',
    /needs it/,
  ],
  [
    'refuses a setting that a credential does not have, such as a secret out of its place',
    { vendor: 'cloud', credential: { kind: 'application', client_id: 'c', client_secret: 'x' } },
    'credential.client_secret',
    /has no such setting/,
  ],
  [
    'refuses a credential without its secret',
    { vendor: 'cloud', api_key: undefined, credential: { kind: 'application', client_id: 'c' } },
    'api_key',
    /needs its secret here/,
  ],
  [
    'refuses a key beside a credential that has none',
    { vendor: 'cloud', credential: { kind: 'identity' } },
    'api_key',
    /takes no key/,
  ],
  [
    'refuses a setting with a space',
    { vendor: 'cloud', credential: { kind: 'application', client_id: 'a b' } },
    'credential.client_id',
    /printable ASCII/,
  ],
  ['refuses a dialect that is a number', { dialect: 7 }, 'dialect', /expected text, got 7/],
  ['refuses an upstream without an address', { base_url: undefined }, 'base_url', /needs one, without a path/],
  ['refuses an empty address', { base_url: '' }, 'base_url', /http or https/],
  ['refuses an address of another scheme', { base_url: 'ftp://h' }, 'base_url', /got "ftp:"/],
  ['refuses a path where the bare origin belongs', { base_url: 'https://h/v1' }, 'base_url', /without a path/],
  [
    'refuses a bare origin where a version belongs',
    { vendor: 'ditto', base_url: 'https://h/' },
    'base_url',
    /version segment/,
  ],
  [
    'refuses a path that climbs back to the origin',
    { vendor: 'ditto', base_url: 'https://h/v1/..' },
    'base_url',
    /version segment/,
  ],
  ['refuses a password in an address', { base_url: 'https://u:p@h' }, 'base_url', /no user or password/],
  ['refuses a query in an address', { base_url: 'https://h?k=1' }, 'base_url', /without \? and #/],
  ['refuses an empty fragment in an address', { base_url: 'https://h/#' }, 'base_url', /without \? and #/],
  ['refuses a line break in an address', { base_url: 'https://h\n.evil.test' }, 'base_url', /without spaces/],
  ['refuses a backslash in an address', { base_url: 'https://h\\x' }, 'base_url', /backslashes/],
  [
    'refuses an address of a vendor inside the gateway',
    { vendor: 'inside', api_key: undefined },
    'base_url',
    /takes no address/,
  ],
  [
    'refuses a key of a vendor inside the gateway',
    { vendor: 'inside', base_url: undefined },
    'api_key',
    /takes no key/,
  ],
  ['refuses a missing key where the vendor needs one', { api_key: undefined }, 'api_key', /needs one; \$\{NAME\}/],
  ['refuses a line break in a key', { api_key: 'a\nb' }, 'api_key', /printable ASCII/],
  ['refuses an empty key', { api_key: '' }, 'api_key', /printable ASCII/],
  ['refuses a reference inside other text', { api_key: `Bearer-${reference('KEY')}` }, 'api_key', /the whole value/],
  ['refuses a reference without a name', { api_key: reference('') }, 'api_key', /the whole value/],
  ['refuses an empty list of groups', { groups: [] }, 'groups', /at least 1 item/],
  ['refuses a group with capitals', { groups: ['VIP'] }, 'groups[0]', /small letters/],
  ['refuses a group named twice', { groups: ['a', 'a'] }, 'groups[1]', /twice/],
  ['refuses a group that is a number', { groups: [7] }, 'groups[0]', /expected text, got 7; put it in quotes/],
  ['refuses half a priority', { priority: 0.5 }, 'priority', /whole number/],
  ['refuses a priority out of range', { priority: 1_000_001 }, 'priority', /at most 1000000/],
  ['refuses a weight of zero', { weight: 0 }, 'weight', /more than 0/],
  ['refuses a timeout of zero', { timeout_seconds: 0 }, 'timeout_seconds', /at least 1/],
  ['refuses a timeout over an hour', { timeout_seconds: 3601 }, 'timeout_seconds', /at most 3600/],
  ['refuses a word as switch', { enabled: 'yes' }, 'enabled', /true or false, got "yes"/],
  [
    'names an unknown key and the one that was meant',
    { base_ur: 'x' },
    'base_ur',
    /unknown key. Did you mean "base_url"/,
  ],
  ['names an unknown key that resembles none', { colour: 'x' }, 'colour', /^unknown key$/],
];

for (const [sentence, fields, field, problem] of BAD_UPSTREAMS) {
  test(sentence, () => assertProblem(upstreamWith(fields), `upstreams[0].${field}`, problem));
}

test('never repeats a key in a problem', () => {
  for (const api_key of [12_345_678, '12345678 x', ['12345678'], `x${reference('12345678')}`]) {
    const problems = problemsOf(upstreamWith({ api_key }));
    assert.equal(problems.length, 1);
    assert.doesNotMatch(JSON.stringify(problems), /12345678/);
  }
});

test('refuses two upstreams of one id and names both places', () => {
  const read = () => parse([upstream(), upstream({ id: 'b' }), upstream()], []);
  assertProblem(read, 'upstreams[2].id', /"acme-main" is already the id of upstreams\[0\]/);
});

const GOOD_MODELS: readonly (readonly [sentence: string, fields: Fields])[] = [
  ['takes slashes and colons in a model id', { id: 'a/b:c/d:free' }],
  ['takes a model id as long as allowed', { id: 'm'.repeat(200) }],
  ['takes dots within a segment', { id: 'v1.5/..x' }],
  [
    'takes everything an image model accepts',
    {
      accepts: {
        resolutions: ['1k', '4k'],
        aspect_ratios: ['1:1', '21:9', '2.39:1', 'auto'],
        sizes: ['1024x1024', 'auto'],
        n_max: 10,
        slots: ['reference_images', 'mask'],
        formats: ['png', 'webp'],
      },
    },
  ],
  [
    'takes a video model',
    {
      modality: 'video',
      endpoints: ['videos'],
      pricing: { mode: 'per_second', credits: { per_second: 1 } },
      accepts: {
        seconds_max: 12.5,
        slots: [
          'first_frame',
          'last_frame',
          'input_reference',
          'reference_images',
          'reference_videos',
          'reference_audios',
          'ref_video',
          'generate_audio',
        ],
      },
    },
  ],
  [
    'takes a chat model with its token bounds',
    chat({ endpoints: ['chat', 'native'], context_tokens: 8192, max_output_tokens: 1 }),
  ],
  ['takes a voice-clone model', speech({ accepts: { voice_sample: 'required' } })],
  ['takes a voice-design model', speech({ accepts: { voice_design: true, formats: ['mp3'] } })],
  [
    'takes every endpoint of audio in one model',
    speech({ endpoints: ['audio_speech', 'transcriptions', 'audio_music'] }),
  ],
  [
    'takes one upstream twice for two of its models',
    {
      routes: [
        { upstream: 'acme-main', model: 'a' },
        { upstream: 'acme-main', model: 'b' },
      ],
    },
  ],
  ['takes an owner that merely contains a vendor', { owned_by: 'acme studio' }],
];

for (const [sentence, fields] of GOOD_MODELS) {
  test(sentence, () => assert.deepEqual(problemsOf(modelWith(fields)), []));
}

const BAD_MODELS: readonly (readonly [sentence: string, fields: Fields, field: string, problem: RegExp])[] = [
  ['refuses an empty model id', { id: '' }, 'id', /at least 1 character/],
  ['refuses a model id that is too long', { id: 'm'.repeat(201) }, 'id', /at most 200 characters/],
  ['refuses a space in a model id', { id: 'a b' }, 'id', /without spaces/],
  ['refuses a control character in a model id', { id: 'a\u007f' }, 'id', /printable/],
  ['refuses a model id beyond ASCII', { id: 'modèle' }, 'id', /ASCII/],
  ['refuses a question mark in a model id', { id: 'a?b' }, 'id', /without \?/],
  ['refuses a hash in a model id', { id: 'a#b' }, 'id', /without \?, #/],
  ['refuses a percent sign in a model id', { id: 'a%2fb' }, 'id', /and %/],
  ['refuses a leading slash in a model id', { id: '/a' }, 'id', /no slash at either end/],
  ['refuses a trailing slash in a model id', { id: 'a/' }, 'id', /no slash at either end/],
  ['refuses a double slash in a model id', { id: 'a//b' }, 'id', /no two in a row/],
  ['refuses a dot segment in a model id', { id: 'a/./b' }, 'id', /segment/],
  ['refuses a climbing segment in a model id', { id: '../a' }, 'id', /segment/],
  ['refuses an unknown modality', { modality: 'text' }, 'modality', /one of image, video, chat, audio, got "text"/],
  ['refuses a model without an owner', { owned_by: undefined }, 'owned_by', /missing/],
  ['refuses an empty owner', { owned_by: '' }, 'owned_by', /at least 1 character/],
  ['refuses a vendor as owner, whatever its case', { owned_by: 'Ditto' }, 'owned_by', /"Ditto" names a vendor/],
  ['refuses an upstream as owner', { owned_by: 'acme-main' }, 'owned_by', /an upstream/],
  ['refuses a model without endpoints', { endpoints: [] }, 'endpoints', /at least 1 item/],
  ['refuses an unknown endpoint', { endpoints: ['image'] }, 'endpoints[0]', /one of images/],
  ['refuses an endpoint named twice', { endpoints: ['images', 'images'] }, 'endpoints[1]', /twice/],
  [
    'refuses an endpoint of another modality',
    { endpoints: ['images', 'videos'] },
    'endpoints[1]',
    /videos does not fit a model of modality image/,
  ],
  ['refuses a model without a price', { pricing: undefined }, 'pricing', /missing/],
  [
    'refuses a rate that is text',
    { pricing: { mode: 'per_image', credits: { base: 'x' } } },
    'pricing.credits.base',
    /expected a number, got "x"/,
  ],
  ['refuses an unknown key of a price', { pricing: { ...REQUEST_PRICE, unit: 'x' } }, 'pricing.unit', /./],
  [
    'refuses prices by the second for images',
    { pricing: { mode: 'per_second', credits: { per_second: 1 } } },
    'pricing.mode',
    /per_second does not fit/,
  ],
  [
    'refuses prices by the image for chat',
    chat({ pricing: { mode: 'per_image', credits: { base: 1 } } }),
    'pricing.mode',
    /per_image does not fit/,
  ],
  [
    'refuses prices by the character for chat',
    chat({ pricing: { mode: 'per_k_char', credits: { base: 1 } } }),
    'pricing.mode',
    /per_k_char does not fit/,
  ],
  [
    'refuses prices by the token for images, whose tokens nobody counts',
    { pricing: TOKEN_PRICE },
    'pricing.mode',
    /per_token does not fit images, which is charged per_image or per_request$/,
  ],
  [
    'refuses prices by the token for speech',
    speech({ pricing: TOKEN_PRICE }),
    'pricing.mode',
    /per_token does not fit audio_speech/,
  ],
  [
    'refuses prices that only one of the endpoints can be charged by',
    speech({
      endpoints: ['audio_speech', 'transcriptions'],
      pricing: { mode: 'per_k_char', credits: { base: 1 } },
    }),
    'pricing.mode',
    /per_k_char does not fit transcriptions/,
  ],
  ['refuses a context of no tokens', chat({ context_tokens: 0 }), 'context_tokens', /more than 0/],
  ['refuses half a token of output', chat({ max_output_tokens: 1.5 }), 'max_output_tokens', /whole number/],
  ['refuses a tag that is a number', { tags: [4] }, 'tags[0]', /put it in quotes/],
  ['refuses an unknown key of a model', { endpoint: [] }, 'endpoint', /Did you mean "endpoints"/],
  [
    'refuses an unknown key of what it accepts',
    { accepts: { resolution: [] } },
    'accepts.resolution',
    /Did you mean "resolutions"/,
  ],
  [
    'refuses a slot of another modality',
    { accepts: { slots: ['first_frame'] } },
    'accepts.slots[0]',
    /first_frame does not fit/,
  ],
  ['refuses an unknown slot', { accepts: { slots: ['frame'] } }, 'accepts.slots[0]', /one of reference_images/],
  ['refuses slots of a chat model', chat({ accepts: { slots: ['mask'] } }), 'accepts.slots[0]', /does not fit/],
  [
    'refuses a sound format of an image model',
    { accepts: { formats: ['mp3'] } },
    'accepts.formats[0]',
    /mp3 does not fit/,
  ],
  [
    'refuses a voice sample of an image model',
    { accepts: { voice_sample: 'required' } },
    'accepts.voice_sample',
    /voices do not fit/,
  ],
  [
    'refuses voice design of an image model',
    { accepts: { voice_design: true } },
    'accepts.voice_design',
    /voices do not fit/,
  ],
  [
    'refuses a voice sample that is merely allowed',
    speech({ accepts: { voice_sample: 'optional' } }),
    'accepts.voice_sample',
    /expected required/,
  ],
  ['refuses more images than a request may ask', { accepts: { n_max: 11 } }, 'accepts.n_max', /at most 10/],
  ['refuses a ratio that is none', { accepts: { aspect_ratios: ['wide'] } }, 'accepts.aspect_ratios[0]', /"16:9"/],
  ['refuses a size that is none', { accepts: { sizes: ['1024'] } }, 'accepts.sizes[0]', /1024x1024/],
  ['refuses no seconds at all', { accepts: { seconds_max: 0 } }, 'accepts.seconds_max', /more than 0/],
  ['refuses a model without routes', { routes: [] }, 'routes', /at least 1 item/],
  [
    'refuses an unknown key of a route',
    { routes: [{ upstream: 'acme-main', model: 'a', weight: 1 }] },
    'routes[0].weight',
    /unknown key/,
  ],
  [
    'refuses a route to no upstream',
    { routes: [{ upstream: 'acme-mian', model: 'a' }] },
    'routes[0].upstream',
    /no upstream "acme-mian". Did you mean "acme-main"/,
  ],
  [
    'refuses an upstream model that climbs',
    { routes: [{ upstream: 'acme-main', model: 'a/../b' }] },
    'routes[0].model',
    /segment/,
  ],
  [
    'refuses the same route twice',
    {
      routes: [
        { upstream: 'acme-main', model: 'a' },
        { upstream: 'acme-main', model: 'a' },
      ],
    },
    'routes[1]',
    /the same upstream and model as models\[0\]\.routes\[0\]/,
  ],
];

for (const [sentence, fields, field, problem] of BAD_MODELS) {
  test(sentence, () => assertProblem(modelWith(fields), `models[0].${field}`, problem));
}

test('refuses two models of one name and names both places', () => {
  assertProblem(
    () => parse([upstream()], [model(), chat()]),
    'models[1].id',
    /"studio\/photo-2" is already the id of models\[0\]/,
  );
});

test('offers every endpoint of the vocabulary to exactly one modality', () => {
  for (const endpoint of ENDPOINTS) {
    const fitting = ['image', 'video', 'chat', 'audio'].filter(
      (modality) => problemsOf(modelWith({ modality, endpoints: [endpoint], pricing: REQUEST_PRICE })).length === 0,
    );
    assert.equal(fitting.length, 1, endpoint);
  }
});

const routeAccepting = (own: Fields, accepts: unknown, fields: Fields = {}) =>
  modelWith({ ...fields, accepts, routes: [{ upstream: 'acme-main', model: 'a', accepts: own }] });

test('lets a route narrow every point of its model', () => {
  const all = { resolutions: ['1k', '2k'], sizes: ['8x8'], slots: ['mask'], n_max: 4, seconds_max: 8 };
  const own = { resolutions: ['2k'], sizes: [], slots: [], n_max: 4, seconds_max: 1, formats: ['png'] };
  assert.deepEqual(problemsOf(routeAccepting(own, all)), []);
});

test('lets a route refuse the voice design that its model offers', () => {
  const read = routeAccepting({ voice_design: false }, { voice_design: true }, speech());
  assert.deepEqual(problemsOf(read), []);
});

const WIDER: readonly (readonly [sentence: string, own: Fields, accepts: unknown, field: string])[] = [
  ['refuses a route with another resolution', { resolutions: ['1k', '8k'] }, { resolutions: ['1k'] }, 'resolutions[1]'],
  ['refuses a route with a shape where the model has none', { aspect_ratios: ['1:1'] }, undefined, 'aspect_ratios[0]'],
  ['refuses a route with another size', { sizes: ['8x8'] }, { sizes: ['9x9'] }, 'sizes[0]'],
  ['refuses a route with another slot', { slots: ['mask'] }, { slots: [] }, 'slots[0]'],
  ['refuses a route with another format', { formats: ['png'] }, { formats: ['webp'] }, 'formats[0]'],
  ['refuses a route with more images', { n_max: 5 }, { n_max: 4 }, 'n_max'],
  ['refuses a route with longer clips', { seconds_max: 9 }, { seconds_max: 8 }, 'seconds_max'],
  ['refuses a route with a voice sample of its own', { voice_sample: 'required' }, {}, 'voice_sample'],
  ['refuses a route with voice design of its own', { voice_design: true }, {}, 'voice_design'],
];

for (const [sentence, own, accepts, field] of WIDER) {
  test(sentence, () => assertProblem(routeAccepting(own, accepts), `models[0].routes[0].accepts.${field}`, /model/));
}

test('reports every problem at once, in the order of the text', () => {
  const text = [
    'upstreams:',
    '  - { id: a, vendor: nobody, api_key: 5 }',
    '  - { id: a, vendor: inside, weight: 0 }',
    'models:',
    '  - id: a b',
    '    modality: image',
    '    owned_by: acme',
    '    endpoints: [chat]',
    '    pricing: 7',
    '    routes: [{ upstream: b, model: m, accepts: { n_max: 99 } }]',
    '    extra: 1',
    'module: []',
  ].join('\n');
  const problems = problemsOf(() => parseDocument(text, TERMS));
  assert.deepEqual(
    problems.map(({ path, line, column }) => `${line}:${column} ${path}`),
    [
      '2:14 upstreams[0].vendor',
      '2:30 upstreams[0].api_key',
      '3:7 upstreams[1].id',
      '3:30 upstreams[1].weight',
      '5:5 models[0].id',
      '7:5 models[0].owned_by',
      '8:17 models[0].endpoints[0]',
      '9:5 models[0].pricing',
      '10:16 models[0].routes[0].upstream',
      '10:50 models[0].routes[0].accepts.n_max',
      '11:5 models[0].extra',
      '12:1 module',
    ],
  );
});

test('points at the line of a problem also through an alias', () => {
  const text = 'x: &x\n  - id: 5\nupstreams: *x\nmodels: []';
  const problem = problemsOf(() => parseDocument(text, TERMS)).find(({ path }) => path === 'upstreams[0].id');
  assert.equal(`${problem?.line}:${problem?.column}`, '2:5');
});

test('does not call every route wrong when the upstreams cannot be read', () => {
  const problems = problemsOf(() => parse('none', [model()]));
  assert.deepEqual(
    problems.map(({ path }) => path),
    ['upstreams'],
  );
});

test('writes all problems into the message, each with its place', () => {
  const error = new DocumentError([
    { path: 'models[0].id', problem: 'is bad', line: 3, column: 5 },
    { path: '', problem: 'is worse', line: 1, column: 1 },
    { path: 'upstreams[0].api_key', problem: 'is unset' },
  ]);
  const lines = ['models[0].id (line 3:5): is bad', 'line 1:1: is worse', 'upstreams[0].api_key: is unset'];
  assert.equal(error.message, `The configuration is not valid:\n${lines.map((line) => `  - ${line}`).join('\n')}`);
});

test('says of an empty document that something is missing', () => {
  assertProblem(() => parseDocument('', TERMS), '', /expected a map, got nothing/);
});

test('bounds the number of problems it reports', () => {
  const problems = problemsOf(() => parse(Array(5000).fill(7), []));
  assert.equal(problems.length, 1000);
});

test('refuses a key that would replace the prototype', () => {
  const text = `{"upstreams": [], "models": [], "__proto__": {"x": 1}}`;
  assertProblem(() => parseDocument(text, TERMS), '__proto__', /unknown key/);
});

test('answers any JSON value with a document or a DocumentError', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      problemsOf(() => parseDocument(JSON.stringify(value), TERMS));
    }),
  );
});

test('answers any values in the right places with a document or a DocumentError', () => {
  const anything = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom('acme', 'https://h/v1', reference('A'), 'image', '1:1', 7, ''),
  );
  const spoiled = (good: Fields) =>
    fc.dictionary(fc.constantFrom(...Object.keys(good), 'accepts', 'x'), anything).map((bad) => ({ ...good, ...bad }));
  const lists = fc.tuple(fc.array(spoiled(upstream())), fc.array(spoiled(model())));
  fc.assert(
    fc.property(lists, ([upstreams, models]) => {
      problemsOf(() => parse(upstreams, models));
    }),
  );
});

test('holds a built-in catalogue that is valid and marked as what it is', () => {
  const { upstreams, models } = parseDocument(BUILT_IN_CATALOGUE, vendors);
  const [only] = upstreams;
  assert.equal(upstreams.length, 1);
  assert.equal(vendors.find(({ name }) => name === only?.vendor)?.address, 'none');
  assert.deepEqual(new Set(models.flatMap(({ endpoints }) => endpoints)), new Set(ENDPOINTS));
  assert.equal(new Set(models.map(({ pricing }) => pricing.mode)).size, 6);
  assert.ok(models.some(({ accepts }) => accepts.voice_design));
  assert.ok(models.some(({ accepts }) => accepts.voice_sample === 'required'));
  for (const card of models) {
    assert.deepEqual(card.tags, [only?.vendor]);
    for (const text of [card.display_name, card.description]) assert.match(text, new RegExp(only?.vendor ?? '', 'i'));
  }
});

test('ships an example that is valid with its keys and names each variable without them', () => {
  const text = readFileSync(new URL('../../tollgate.example.yaml', import.meta.url), 'utf8');
  const document = parseDocument(text, vendors);
  const variables = [...text.matchAll(/api_key: \$\{(\w+)\}/g)].map((match) => match[1] ?? '');
  const env = Object.fromEntries(variables.map((name) => [name, `value-of-${name}`]));
  assert.equal(resolveSecrets(document, env).secrets.size, variables.length);
  const problems = problemsOf(() => resolveSecrets(document, {}));
  assert.deepEqual(
    problems.map(({ problem }) => /variable (\w+)/.exec(problem)?.[1]),
    variables,
  );
});
