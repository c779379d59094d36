import { AnthropicEmulator, textBlock, toolBlock } from '../../src/vendors/anthropic/emulator.ts';
import { GeminiEmulator } from '../../src/vendors/gemini/emulator.ts';
import { OpenAiEmulator } from '../../src/vendors/openai/emulator.ts';
import { Gateway } from './gateway.ts';
import { tokenModel } from './paid-calls.ts';

/** A model that clients talk to, and how to put words into its mouth. */
export interface Speaker {
  readonly model: string;
  /** What the next answer will be like. */
  says(text: string): RegExp;
  /** The next answer calls a tool. Returns what its arguments will be like. */
  calls(tool: string, input: Readonly<Record<string, string>>): RegExp;
}

const openai = new OpenAiEmulator({ apiKey: 'sk-upstream', models: ['wire-name'], marker: 'mark-openai' });
const anthropic = new AnthropicEmulator({ marker: 'mark-anthropic' });
const gemini = new GeminiEmulator({ apiKey: 'key-upstream', models: ['wire-name'], marker: 'mark-gemini' });

/** It speaks for itself. */
const sandboxed = (model: string): Speaker => ({ model, says: () => /\S/, calls: () => /^\{"city":"/ });

const ofGemini = (model: string): Speaker => ({
  model,
  says(text) {
    gemini.script({ kind: 'answer', text });
    return literalPattern(text);
  },
  calls(name, args) {
    gemini.script({ kind: 'answer', parts: [{ functionCall: { name, args } }] });
    return literalPattern(JSON.stringify(args));
  },
});

/** One for each kind of upstream. */
export const CHAT_SPEAKERS: readonly Speaker[] = [
  sandboxed('sandbox/chat'),
  {
    model: 'studio/openai',
    says(text) {
      openai.script({ kind: 'answer', text });
      return literalPattern(text);
    },
    calls(name, input) {
      const text = JSON.stringify(input);
      openai.script({ kind: 'answer', toolCalls: [{ id: 'call_1', name, arguments: text }] });
      return literalPattern(text);
    },
  },
  {
    model: 'studio/anthropic',
    says(text) {
      anthropic.script({ kind: 'message', content: [textBlock(text)] });
      return literalPattern(text);
    },
    calls(name, input) {
      anthropic.script({ kind: 'message', content: [toolBlock('toolu_1', name, input)], stopReason: 'tool_use' });
      return literalPattern(JSON.stringify(input));
    },
  },
  ofGemini('studio/gemini'),
];

export const NATIVE_SPEAKERS: readonly Speaker[] = [sandboxed('sandbox/native'), ofGemini('studio/native')];

/** The whole gateway with an upstream of every kind. */
export class ClientWorld {
  readonly gateway: Gateway;
  readonly openai = openai;
  readonly gemini = gemini;

  private constructor(gateway: Gateway) {
    this.gateway = gateway;
  }

  static async start(): Promise<ClientWorld> {
    await Promise.all([openai.start(), anthropic.start(), gemini.start()]);
    const gateway = await Gateway.start();
    const native = { endpoints: ['native'] };
    await gateway.putConfig({
      upstreams: [
        { id: 'sandbox', vendor: 'sandbox' },
        { id: 'openai', vendor: 'openai', base_url: openai.url, api_key: 'sk-upstream' },
        { id: 'anthropic', vendor: 'anthropic', base_url: anthropic.url, api_key: anthropic.apiKey },
        { id: 'gemini', vendor: 'gemini', base_url: gemini.url, api_key: 'key-upstream' },
      ],
      models: [
        tokenModel('sandbox/chat', ['sandbox']),
        tokenModel('sandbox/native', ['sandbox'], native),
        tokenModel('studio/openai', ['openai']),
        tokenModel('studio/anthropic', ['anthropic']),
        tokenModel('studio/gemini', ['gemini']),
        tokenModel('studio/native', ['gemini'], native),
      ],
    });
    return new ClientWorld(gateway);
  }

  async stop(): Promise<void> {
    await this.gateway.stop();
    await Promise.all([openai.stop(), anthropic.stop(), gemini.stop()]);
  }
}

function literalPattern(text: string): RegExp {
  return new RegExp(`^${text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`);
}
