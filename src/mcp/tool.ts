import type { z } from 'zod';
import type { Caller } from '../accounts/index.ts';
import type { CallContext } from '../calls/index.ts';
import type { Endpoint } from '../configuration/index.ts';
import type { ApiError } from '../errors.ts';
import type { Scope } from '../scopes.ts';
import type { McpDeps } from './deps.ts';

/** A request as the edge lets it in. */
export interface McpCall extends CallContext {
  readonly caller: Caller;
  /** Under which a transcription is kept; never the caller's own. */
  readonly recordId: string;
  /** Tells the request log which model is called, whether or not there is such a one. */
  readonly noteModel: (model: string) => void;
  /** What the caller is told of a failure, which the request's line names too. */
  readonly refusalOf: (error: unknown) => ApiError;
}

/** One call of a tool. */
export interface ToolCall extends McpCall {
  /** Present where the client sent a progress token. */
  readonly report: ((percent: number, message: string) => Promise<void>) | undefined;
}

export type Block =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image' | 'audio'; readonly data: string; readonly mimeType: string }
  | { readonly type: 'resource_link'; readonly uri: string; readonly name: string; readonly mimeType: string };

export interface ToolResult {
  readonly content: readonly Block[];
  readonly structuredContent?: Record<string, unknown>;
  readonly isError?: boolean;
}

/** What clients decide by whether a person is asked first. */
interface Annotations {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: false;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

export interface Tool<Input extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: Input;
  readonly annotations: Annotations;
  /** What a token needs: the scope of the route that the tool stands for. */
  readonly scope: Scope | 'any';
  /** A call leaves a row in the request log, under this name. */
  readonly logged: Endpoint | undefined;
  run(deps: McpDeps, call: ToolCall, args: z.output<Input>): Promise<ToolResult>;
}

/** Spends credits: a person may want to be asked. */
export const MAKES: Annotations = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: true,
};

export const READS: Annotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

export function textBlock(text: string): Block {
  return { type: 'text', text };
}
