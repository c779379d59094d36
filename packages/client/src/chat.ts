import type { ChatCompletion, ChatRequest } from './contract.ts';
import { eventsOf } from './events.ts';
import type { CallOptions, Transport } from './transport.ts';

export interface ChatMessage {
  readonly role: 'system' | 'developer' | 'user' | 'assistant' | 'tool' | (string & {});
  /** A text, or parts such as `{ type: 'image_url', image_url: { url } }`. */
  readonly content?: string | readonly Readonly<Record<string, unknown>>[] | null | undefined;
  readonly tool_calls?: readonly ToolCall[] | undefined;
  readonly tool_call_id?: string | undefined;
  readonly [field: string]: unknown;
}

export interface ToolCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

export type ChatParams = ChatRequest & { readonly messages: readonly ChatMessage[] };

export interface ChatChoice {
  readonly index: number;
  readonly message: {
    readonly role: 'assistant';
    readonly content: string | null;
    readonly tool_calls?: readonly ToolCall[];
    readonly [field: string]: unknown;
  };
  readonly finish_reason: string | null;
}

export type ChatAnswer = Omit<ChatCompletion, 'choices'> & { readonly choices: readonly ChatChoice[] };

export interface ChatChunk {
  readonly id: string;
  readonly object: 'chat.completion.chunk';
  readonly created: number;
  readonly model: string;
  /** Empty in the last chunk, which has the usage. */
  readonly choices: readonly {
    readonly index: number;
    readonly delta: {
      readonly role?: 'assistant';
      readonly content?: string | null;
      readonly tool_calls?: readonly ({ readonly index: number } & Partial<ToolCall>)[];
      readonly [field: string]: unknown;
    };
    readonly finish_reason: string | null;
  }[];
  readonly usage?: ChatCompletion['usage'] | null;
}

const PATH = '/v1/chat/completions';

export class Chat {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  create(params: ChatParams, options: CallOptions = {}): Promise<ChatAnswer> {
    return this.#transport.json('POST', PATH, { ...options, json: params });
  }

  /** The request is sent when the first chunk is asked for, and ended when the loop is left. The last chunk has the usage. */
  async *stream(params: ChatParams, options: CallOptions = {}): AsyncGenerator<ChatChunk> {
    const json = { ...params, stream: true, stream_options: { include_usage: true } };
    const response = await this.#transport.send('POST', PATH, { ...options, json });
    yield* eventsOf<ChatChunk>(response, options.signal);
  }
}
