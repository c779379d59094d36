import assert from 'node:assert/strict';
import { basename } from 'node:path';
import { parse } from 'yaml';
import { BUILT_IN_CATALOGUE } from '../../../src/configuration/built-in.ts';
import { AnthropicEmulator } from '../../../src/vendors/anthropic/emulator.ts';
import { GeminiEmulator } from '../../../src/vendors/gemini/emulator.ts';
import { OpenAiEmulator } from '../../../src/vendors/openai/emulator.ts';
import type { Fields } from '../../support/documents.ts';
import { Gateway, type NewCaller } from '../../support/gateway.ts';
import { paidCaller, spentInTheEnd, tokenModel } from '../../support/paid-calls.ts';
import { freePort } from '../../support/program.ts';
import { Outside } from './outside.ts';
import { called } from './record.ts';

/** Each test file is a process of its own, named after its program. */
const PROGRAM = basename(process.argv[1] ?? '', '.test.ts');
const CREDITS = 10_000;
/** Programs for coding ask for tens of thousands of tokens. */
const LARGE = { context_tokens: 400_000, max_output_tokens: 64_000 };

/**
 * A gateway in real time, with the built-in catalogue of the sandbox (`sandbox/chat`, `sandbox/image`, …) and models whose
 * upstreams are emulated and play what a test scripts: `studio/openai`, `studio/anthropic`, `studio/gemini` and, in the
 * native format, `studio/native`.
 */
export class ClientWorld {
  readonly openai = new OpenAiEmulator({ apiKey: 'sk-upstream', isLenient: true });
  readonly anthropic = new AnthropicEmulator();
  readonly gemini = new GeminiEmulator({ apiKey: 'key-upstream' });
  readonly outside = new Outside();
  readonly gateway: Gateway;

  private constructor(gateway: Gateway) {
    this.gateway = gateway;
  }

  static async start(): Promise<ClientWorld> {
    // Links name the public address, which programs follow.
    const port = String(await freePort());
    const settings = { TOLLGATE_TEST_CLOCK: '1', PORT: port, PUBLIC_URL: `http://127.0.0.1:${port}` };
    const gateway = await Gateway.start({ settings });
    const world = new ClientWorld(gateway);
    const { openai, anthropic, gemini, outside } = world;
    await Promise.all([openai.start(), anthropic.start(), gemini.start(), outside.start()]);
    const builtIn: { upstreams: Fields[]; models: Fields[] } = parse(BUILT_IN_CATALOGUE);
    await gateway.putConfig({
      upstreams: [
        ...builtIn.upstreams,
        { id: 'openai', vendor: 'openai', base_url: openai.url, api_key: 'sk-upstream' },
        { id: 'anthropic', vendor: 'anthropic', base_url: anthropic.url, api_key: anthropic.apiKey },
        { id: 'gemini', vendor: 'gemini', base_url: gemini.url, api_key: 'key-upstream' },
      ],
      models: [
        ...builtIn.models,
        tokenModel('studio/openai', ['openai'], LARGE),
        tokenModel('studio/anthropic', ['anthropic'], LARGE),
        tokenModel('studio/gemini', ['gemini'], LARGE),
        tokenModel('studio/native', ['gemini'], { ...LARGE, endpoints: ['native'] }),
      ],
    });
    return world;
  }

  /** With and without the version segment: client programs differ in which they want. */
  get urls(): { readonly origin: string; readonly v1: string; readonly openai: string } {
    const { url } = this.gateway;
    return { origin: url, v1: `${url}/v1`, openai: `${url}/openai/v1` };
  }

  caller(): Promise<NewCaller> {
    return paidCaller(this.gateway, CREDITS);
  }

  /**
   * The account has spent exactly this once nothing is reserved, its usage report has the same, and the books balance.
   * A run whose programs asked for any host beside this machine fails.
   */
  async assertCharged(caller: NewCaller, credits: number): Promise<void> {
    await called(PROGRAM, 'an exact charge', () => this.#assertCharged(caller, credits));
  }

  async #assertCharged(caller: NewCaller, credits: number): Promise<void> {
    const { gateway } = this;
    assert.equal(microcredits(await spentInTheEnd(gateway, caller)), microcredits(credits));
    const usage = await gateway.call('GET', '/v1/usage?group_by=model', { key: caller.key });
    const reported = usage.json.data.map((row: { credits: number }) => microcredits(row.credits));
    assert.equal(
      reported.reduce((sum: number, each: number) => sum + each, 0),
      microcredits(credits),
    );
    await gateway.assertBooksBalance();
    assert.deepEqual(this.outside.hosts, [], 'hosts beside this machine were asked for');
  }

  async stop(): Promise<void> {
    const { gateway, openai, anthropic, gemini, outside } = this;
    await gateway.stop();
    await Promise.all([openai, anthropic, gemini, outside].map((server) => server.stop()));
  }
}

/** Sums of fractions are compared as whole numbers. */
function microcredits(credits: number): number {
  return Math.round(credits * 1e6);
}

/** What the price of the `studio/…` models makes of so many tokens. */
export function studioPrice(inputTokens: number, outputTokens: number): number {
  return (inputTokens + 4 * outputTokens) / 1000;
}
