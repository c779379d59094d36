import assert from 'node:assert/strict';
import { chmodSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { Commands } from './support/commands.ts';
import { type Fields, keyed } from './support/documents.ts';
import { workFolder } from './support/postgres.ts';
import type { Ended } from './support/program.ts';

const LISTS = fileURLToPath(new URL('./support/price-lists/', import.meta.url));
const LITELLM = join(LISTS, 'litellm.json');
const MODELS_DEV = join(LISTS, 'models-dev.json');
const EXAMPLE = fileURLToPath(new URL('../tollgate.example.yaml', import.meta.url));

let commands: Commands;
before(() => {
  commands = new Commands();
});
after(() => commands.stop());

/** A folder with a configuration, and the command in it. */
class Desk {
  readonly folder: string;

  constructor(t: TestContext, configuration: string | object) {
    this.folder = workFolder(t);
    this.put('tollgate.yaml', typeof configuration === 'string' ? configuration : JSON.stringify(configuration));
  }

  put(name: string, text: string): void {
    writeFileSync(join(this.folder, name), text);
  }

  get text(): string {
    return readFileSync(join(this.folder, 'tollgate.yaml'), 'utf8');
  }

  import(list: string, ...options: readonly string[]): Promise<Ended> {
    const margin = options.includes('--margin') ? [] : ['--margin', '0%'];
    return commands.run(['prices', 'import', list, ...margin, ...options], this.folder, {});
  }

  /** The pricing of the first model after an import. */
  async priced(list: string, ...options: readonly string[]): Promise<Fields> {
    const { code, err } = await this.import(list, '--write', ...options);
    assert.equal(code, 0, err);
    return parse(this.text).models[0].pricing;
  }
}

const UPSTREAMS: Readonly<Record<string, Fields>> = {
  openai: { vendor: 'openai', base_url: 'https://api.openai.com/v1' },
  anthropic: { vendor: 'anthropic', base_url: 'https://api.anthropic.com' },
  gemini: { vendor: 'gemini', base_url: 'https://generativelanguage.googleapis.com' },
  azure: { vendor: 'azure', base_url: 'https://mine.openai.azure.com/openai/v1' },
  fal: { vendor: 'fal', base_url: 'https://queue.fal.run' },
  elevenlabs: { vendor: 'elevenlabs', base_url: 'https://api.elevenlabs.io' },
  local: { vendor: 'openai', base_url: 'http://127.0.0.1:8000/v1' },
};

/** A configuration of one model with these routes, written as `upstream model`. */
function selling(endpoint: string, pricing: Fields, ...routes: readonly string[]) {
  const modality = { chat: 'chat', embeddings: 'chat', images: 'image', videos: 'video' }[endpoint] ?? 'audio';
  const places = routes.map((route) => route.split(' '));
  return {
    upstreams: Object.entries(UPSTREAMS).map(([id, upstream]) => ({ id, api_key: 'the-key', ...upstream })),
    models: [
      {
        id: 'house/model',
        modality,
        owned_by: 'house',
        endpoints: [endpoint],
        pricing,
        routes: places.map(([upstream, model]) => ({ upstream, model })),
      },
    ],
  };
}

const perToken = (credits: Fields = {}) => ({
  mode: 'per_token',
  credits: { input_per_k: 9, output_per_k: 9, ...credits },
});

describe('tollgate prices import', { concurrency: 4 }, () => {
  for (const [told, list, configuration, credits] of [
    [
      'chat',
      LITELLM,
      selling('chat', perToken(), 'openai gpt-5'),
      { input_per_k: 1.25, output_per_k: 10, cached_per_k: 0.125 },
    ],
    [
      'vectors',
      LITELLM,
      selling('embeddings', perToken(), 'openai text-embedding-3-small'),
      { input_per_k: 0.02, output_per_k: 0 },
    ],
    [
      'a picture',
      LITELLM,
      selling('images', { mode: 'per_image', credits: { base: 9 } }, 'fal fal-ai/flux/dev'),
      { base: 25 },
    ],
    [
      'a clip',
      LITELLM,
      selling('videos', { mode: 'per_second', credits: { per_second: 9 } }, 'openai sora-2'),
      { per_second: 100 },
    ],
    [
      'speech',
      LITELLM,
      selling('audio_speech', { mode: 'per_k_char', credits: { base: 9 } }, 'elevenlabs eleven_multilingual_v2'),
      { base: 180 },
    ],
    [
      'a transcript',
      LITELLM,
      selling('transcriptions', { mode: 'per_audio_second', credits: { per_second: 9 } }, 'openai whisper-1'),
      { per_second: 0.1 },
    ],
    [
      'chat of models.dev',
      MODELS_DEV,
      selling('chat', perToken(), 'anthropic claude-sonnet-4-5'),
      { input_per_k: 3, output_per_k: 15, cached_per_k: 0.3, cache_write_per_k: 3.75 },
    ],
  ] as const) {
    test(`prices ${told} at what the list says, at a tenth of a cent for a credit`, async (t) => {
      assert.deepEqual((await new Desk(t, configuration).priced(list)).credits, credits);
    });
  }

  test('adds the margin, goes by the worth of a credit, and rounds up to the micro-credit', async (t) => {
    const desk = new Desk(t, selling('chat', perToken(), 'azure gpt-5'));
    const { credits } = await desk.priced(LITELLM, '--margin', '12.5%', '--credit-usd', '0.07');
    // 0.0013750000000000001 USD a thousand, times 1.125, divided by 0.07, is 0.022098214… credits.
    assert.deepEqual(credits, { input_per_k: 0.022099, output_per_k: 0.176786 });
  });

  test('takes the dearest of several routes, kind of token by kind of token and rung by rung', async (t) => {
    const desk = new Desk(
      t,
      selling(
        'chat',
        perToken({ reasoning_per_k: 1 }),
        'anthropic claude-sonnet-4-5',
        'gemini gemini-2.5-pro',
        'openai gpt-5',
      ),
    );
    const { credits, token_tiers } = await desk.priced(LITELLM);
    assert.deepEqual(credits, {
      input_per_k: 3,
      output_per_k: 15,
      reasoning_per_k: 15,
      cached_per_k: 1.25,
      cache_write_per_k: 3.75,
    });
    assert.deepEqual(token_tiers, [
      {
        min_prompt_tokens: 200000,
        input_per_k: 6,
        output_per_k: 22.5,
        reasoning_per_k: 22.5,
        cached_per_k: 2.5,
        cache_write_per_k: 7.5,
      },
    ]);
  });

  test('reads the rungs of models.dev in both of its forms, and a price of 0 for a cache as none', async (t) => {
    const google = new Desk(t, selling('chat', perToken(), 'gemini gemini-2.5-pro'));
    assert.deepEqual(await google.priced(MODELS_DEV), {
      mode: 'per_token',
      credits: { input_per_k: 1.25, output_per_k: 10, cached_per_k: 0.31 },
      token_tiers: [{ min_prompt_tokens: 200000, input_per_k: 2.5, cached_per_k: 0.625, output_per_k: 15 }],
    });
    const five = new Desk(t, selling('chat', perToken(), 'openai gpt-5'));
    const { token_tiers } = await five.priced(MODELS_DEV);
    assert.deepEqual(token_tiers, [{ min_prompt_tokens: 272000, input_per_k: 10, cached_per_k: 1, output_per_k: 45 }]);
  });

  test('leaves no old rung and no old rate behind', async (t) => {
    const pricing = {
      ...perToken({ cache_write_per_k: 0.1 }),
      token_tiers: [{ min_prompt_tokens: 5, input_per_k: 1 }],
    };
    const { credits, token_tiers } = await new Desk(t, selling('chat', pricing, 'openai gpt-5')).priced(LITELLM);
    assert.deepEqual(token_tiers, []);
    assert.deepEqual(credits, { input_per_k: 1.25, output_per_k: 10, cache_write_per_k: 1.25, cached_per_k: 0.125 });
  });

  test('takes the reference prices in USD along where they are, and says which it does not know', async (t) => {
    const pricing = { ...perToken(), input_usd: 1, output_usd: 1, strange_usd: 1 };
    const desk = new Desk(t, selling('chat', pricing, 'openai gpt-5'));
    const { out } = await desk.import(LITELLM, '--margin', '20%', '--write');
    const { input_usd, output_usd, strange_usd } = parse(desk.text).models[0].pricing;
    assert.deepEqual([input_usd, output_usd, strange_usd], [1.5, 12, 1]);
    assert.match(out, /Note: house\/model keeps its strange_usd\./);
  });

  test('says what of a row and of a price the list does not decide', async (t) => {
    const pricing = { mode: 'per_image', credits: { base: 9 }, quality_ratio: { low: 0.5 } };
    const { out } = await new Desk(t, selling('images', pricing, 'fal fal-ai/flux/dev')).import(LITELLM);
    assert.match(out, /Note: house\/model keeps its quality_ratio: the list has the price at a ratio of 1\./);
    assert.match(
      out,
      /Note: house\/model has further prices in fal_ai\/fal-ai\/flux\/dev: output_cost_per_image_1536\./,
    );
  });

  test('shows a diff and writes nothing without --write; with it the file is what the diff says, comments and all', async (t) => {
    const desk = new Desk(t, readFileSync(EXAMPLE, 'utf8'));
    const shown = await desk.import(LITELLM, '--margin', '20%', '--known');
    assert.equal(shown.code, 0, shown.err);
    assert.equal(desk.text, readFileSync(EXAMPLE, 'utf8'));
    assert.match(shown.out, /^--- tollgate\.yaml\n\+\+\+ tollgate\.yaml\n@@ -\d+,\d+ \+\d+,\d+ @@\n/);
    assert.match(shown.out, /^- {6}credits: \{ base: 120 \}\n\+ {6}credits: \{ base: 216 \}$/m);
    assert.match(shown.out, /Nothing is written without --write\.\n$/);
    const written = await desk.import(LITELLM, '--margin', '20%', '--known', '--write');
    assert.match(written.out, /tollgate\.yaml is written; config apply or a restart puts it in force\.\n$/);
    const comments = (text: string) => text.match(/#.*$/gm);
    assert.deepEqual(comments(desk.text), comments(readFileSync(EXAMPLE, 'utf8')));
    const again = await desk.import(LITELLM, '--margin', '20%', '--known', '--write');
    assert.match(again.out, /tollgate\.yaml has these prices already\.\n$/);
    assert.deepEqual(readdirSync(desk.folder), ['tollgate.yaml']);
  });

  test('writes through a link, with the rights that the file had', async (t) => {
    const desk = new Desk(t, selling('chat', perToken(), 'openai gpt-5'));
    chmodSync(join(desk.folder, 'tollgate.yaml'), 0o640);
    symlinkSync('tollgate.yaml', join(desk.folder, 'link.yaml'));
    const { code } = await desk.import(LITELLM, '--config', 'link.yaml', '--write');
    assert.equal(code, 0);
    assert.equal(statSync(join(desk.folder, 'tollgate.yaml')).mode & 0o777, 0o640);
    assert.equal(parse(desk.text).models[0].pricing.credits.input_per_k, 1.25);
    assert.deepEqual(readdirSync(desk.folder).sort(), ['link.yaml', 'tollgate.yaml']);
  });

  test('shows no key that stands beside a price', async (t) => {
    const { models } = selling('chat', perToken(), 'a claude-sonnet-4-5');
    const secret = 'sk-very-secret"0123\\456';
    const desk = new Desk(t, { upstreams: [keyed('a', secret)], models });
    const { out, code } = await desk.import(LITELLM);
    assert.equal(code, 0);
    assert.doesNotMatch(out, /very-secret/);
    assert.match(out, /"api_key":"\*{8}"/);
  });

  test('prices the models that --models names, by the rows that it names', async (t) => {
    const configuration = selling('chat', perToken(), 'local my-own-name');
    const desk = new Desk(t, {
      ...configuration,
      models: [...configuration.models, { ...configuration.models[0], id: 'house/other' }],
    });
    const { credits } = await desk.priced(LITELLM, '--models', 'house/model=claude-sonnet-4-5');
    assert.deepEqual(credits, { input_per_k: 3, output_per_k: 15, cached_per_k: 0.3, cache_write_per_k: 3.75 });
    assert.deepEqual(parse(desk.text).models[1].pricing, perToken());
    const json = JSON.parse((await desk.import(LITELLM, '--models', 'house/other=gpt-5', '--json')).out);
    assert.deepEqual([json.list, json.models, json.is_written], ['LiteLLM', ['house/other'], false]);
  });

  for (const [told, configuration, list, problem, ...options] of [
    [
      'an unknown row',
      selling('chat', perToken(), 'openai gpt-99'),
      LITELLM,
      /house\/model: the list has no row for gpt-99 of openai\n/,
    ],
    [
      'a server of an unknown maker',
      selling('chat', perToken(), 'local gpt-5'),
      LITELLM,
      /no row for gpt-5 of local\n/,
    ],
    [
      'one route without a row',
      selling('chat', perToken(), 'openai gpt-5', 'openai gpt-99'),
      LITELLM,
      /no row for gpt-99 of openai\n/,
    ],
    [
      'a missing price',
      selling('chat', perToken(), 'openai half-priced'),
      LITELLM,
      /half-priced has no price of an output token\n/,
    ],
    [
      'a price of 0',
      selling('chat', perToken(), 'openai free-model'),
      LITELLM,
      /free-model prices an input token at 0, which is taken for a gap/,
    ],
    [
      'a negative price',
      selling('chat', perToken(), 'openai negative'),
      LITELLM,
      /input_cost_per_token of negative is -1e-0?6, less than nothing\n/,
    ],
    [
      'a price in quotes',
      selling('chat', perToken(), 'openai in-words'),
      LITELLM,
      /input_cost_per_token of in-words is no number\n/,
    ],
    [
      'a price of endless decimals',
      selling('chat', perToken(), 'openai endless'),
      LITELLM,
      /endless is 1e-999999999, which cannot be read exactly\n/,
    ],
    [
      'a price that is none',
      selling('chat', perToken(), 'openai dear'),
      LITELLM,
      /dear is 1e30 USD, which is no price\n/,
    ],
    [
      'a row priced by ranges',
      selling('chat', perToken(), 'local x'),
      LITELLM,
      /qwen-plus is priced by tiered_pricing, which is not read/,
      '--models',
      'house/model=dashscope/qwen-plus',
    ],
    [
      'a row that is named and not there',
      selling('chat', perToken(), 'local x'),
      LITELLM,
      /house\/model: nothing is no row of prices\n/,
      '--models',
      'house/model=nothing',
    ],
    [
      'a price per request',
      selling('images', { mode: 'per_request', credits: { base: 1 } }, 'fal fal-ai/flux/dev'),
      LITELLM,
      /is charged per_request, and price lists have no such price/,
    ],
    [
      'no cost in models.dev',
      selling('chat', perToken(), 'anthropic claude-free-preview'),
      MODELS_DEV,
      /anthropic\/claude-free-preview has no cost there\n/,
    ],
    [
      'a tier of another kind',
      selling('chat', perToken(), 'openai by-the-hour'),
      MODELS_DEV,
      /by-the-hour has a tier that does not go by the length of the prompt/,
    ],
    [
      'pictures in models.dev',
      selling('images', { mode: 'per_image', credits: { base: 1 } }, 'openai gpt-5'),
      MODELS_DEV,
      /openai\/gpt-5 has no price of a picture\n/,
    ],
    [
      'a model that is not configured',
      selling('chat', perToken(), 'openai gpt-5'),
      LITELLM,
      /The configuration has no model "house\/modle". Did you mean/,
      '--models',
      'house/modle',
    ],
    [
      'nothing that it knows',
      selling('chat', perToken(), 'openai gpt-99'),
      LITELLM,
      /the list has none of the models\n/,
      '--known',
    ],
  ] as readonly [string, object, string, RegExp, ...string[]][]) {
    test(`says that there is ${told}, and writes nothing`, async (t) => {
      const desk = new Desk(t, configuration);
      const earlier = desk.text;
      const { code, err, out } = await desk.import(list, '--write', ...options);
      assert.equal(code, 1, out);
      assert.match(err, problem);
      assert.equal(desk.text, earlier);
    });
  }

  for (const [told, text, problem] of [
    ['no JSON', '{', /list\.json is not JSON: /],
    [
      'a list',
      '[]',
      /list\.json is no price list: expected model_prices_and_context_window\.json of LiteLLM, or api\.json of models\.dev\./,
    ],
    ['an empty object', '{}', /list\.json is no price list/],
    ['something else', '{"data": [{"id": "gpt-5"}]}', /list\.json is no price list/],
  ] as const) {
    test(`says of a file that is ${told} what it expects`, async (t) => {
      const desk = new Desk(t, selling('chat', perToken(), 'openai gpt-5'));
      desk.put('list.json', text);
      const { code, err } = await desk.import('list.json', '--write');
      assert.equal(code, 1);
      assert.match(err, problem);
    });
  }

  test('says what is wrong with a file that is not there, and with a configuration', async (t) => {
    const desk = new Desk(t, '{ models: [] }');
    assert.match((await desk.import('none.json')).err, /none\.json cannot be read: /);
    assert.match((await desk.import(LITELLM)).err, /The configuration is not valid:\n {2}- upstreams/);
    assert.match((await desk.import(LITELLM, '--config', 'none.yaml')).err, /none\.yaml cannot be read/);
  });

  test('refuses a price that an anchor shares with other models', async (t) => {
    const { upstreams } = selling('chat', perToken());
    const model = (id: string, pricing: string) =>
      `  - { id: ${id}, modality: chat, owned_by: h, endpoints: [chat], pricing: ${pricing}, routes: [{ upstream: openai, model: gpt-5 }] }\n`;
    const shared = '&one { mode: per_token, credits: { input_per_k: 1, output_per_k: 1 } }';
    const desk = new Desk(
      t,
      `upstreams: ${JSON.stringify(upstreams)}\nmodels:\n${model('a', shared)}${model('b', '*one')}`,
    );
    const first = await desk.import(LITELLM, '--models', 'a', '--write');
    assert.match(first.err, /A price is written for several models at once, by an anchor/);
    const second = await desk.import(LITELLM, '--models', 'b', '--write');
    assert.match(second.err, /is not written there but through an alias/);
    assert.match(desk.text, /input_per_k: 1, output_per_k: 1/);
  });

  for (const [told, options] of [
    ['no margin', []],
    ['a margin without a sign', ['--margin', '20']],
    ['a negative margin', ['--margin', '-5%']],
    ['a margin beyond all measure', ['--margin', '10001%']],
    ['a credit that is worth nothing', ['--margin', '20%', '--credit-usd', '0']],
    ['a credit that is worth a word', ['--margin', '20%', '--credit-usd', 'cheap']],
  ] as const) {
    test(`refuses ${told} as a misuse`, async (t) => {
      const { code } = await commands.run(['prices', 'import', LITELLM, ...options], workFolder(t), {});
      assert.equal(code, 2);
    });
  }
});
