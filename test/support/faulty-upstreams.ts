import { AnthropicEmulator, type Scripted } from '../../src/vendors/anthropic/emulator.ts';
import { AzureEmulator } from '../../src/vendors/azure/emulator.ts';
import { GeminiEmulator, type Script as GeminiScript } from '../../src/vendors/gemini/emulator.ts';
import { OpenAiEmulator, type Script as OpenAiScript } from '../../src/vendors/openai/emulator.ts';

/** Stands in everything that an upstream is known by or says beside its answer, and so in nothing a caller may see. */
export const MARK = 'zq7xkw3mplq';
export const WIRE_MODEL = `${MARK}-model`;
const API_KEY = `${MARK}-key`;
const SECRETS = `${MARK}-words about ${WIRE_MODEL} and ${API_KEY} at upstream-host.test`;

export const STATUSES = [400, 401, 402, 403, 404, 409, 413, 422, 429, 500, 502, 503, 504, 529] as const;
export const WIRE_FAULTS = ['reset', 'reset in the body', 'no HTTP', 'no JSON', 'wrong type', 'empty'] as const;
export type Fault = (typeof STATUSES)[number] | (typeof WIRE_FAULTS)[number] | 'silence';

/** An upstream that does as it is told, whatever its format. */
export interface FaultyUpstream {
  readonly vendor: string;
  readonly apiKey: string;
  readonly url: string;
  readonly calls: number;
  /** The next request fails like this. */
  fail(fault: Fault, isStream: boolean): void;
  /** The next stream begins well, then tells an error of its own. */
  failLate(): void;
  start(): Promise<unknown>;
  stop(): Promise<void>;
}

type ScriptOf<Script> = (fault: Exclude<Fault, number>, isStream: boolean) => Script;

interface Emulator<Script> {
  readonly url: string;
  readonly requests: readonly unknown[];
  script(...scripts: readonly Script[]): void;
  start(): Promise<unknown>;
  stop(): Promise<void>;
}

interface Ways<Script> {
  readonly ofStatus: (status: number) => Script;
  readonly onTheWire: ScriptOf<Script>;
  readonly late: Script;
}

function faulty<Script>(vendor: string, emulator: Emulator<Script>, ways: Ways<Script>): FaultyUpstream {
  return {
    vendor,
    apiKey: API_KEY,
    get url() {
      return emulator.url;
    },
    get calls() {
      return emulator.requests.length;
    },
    fail: (fault, isStream) =>
      emulator.script(typeof fault === 'number' ? ways.ofStatus(fault) : ways.onTheWire(fault, isStream)),
    failLate: () => emulator.script(ways.late),
    start: () => emulator.start(),
    stop: () => emulator.stop(),
  };
}

export function openAi(): FaultyUpstream {
  return openAiFormat('openai', new OpenAiEmulator({ marker: MARK, apiKey: API_KEY }));
}

export function azure(): FaultyUpstream {
  return openAiFormat('azure', new AzureEmulator({ marker: MARK, apiKey: API_KEY, deployments: [WIRE_MODEL] }));
}

function openAiFormat(vendor: string, emulator: OpenAiEmulator): FaultyUpstream {
  const choices = [{ index: 0, delta: { role: 'assistant', content: 'One' }, finish_reason: null }];
  const error = { message: SECRETS, type: MARK, param: MARK, code: MARK };
  return faulty<OpenAiScript>(vendor, emulator, {
    ofStatus: (status) => ({ kind: 'raw', status, body: JSON.stringify({ error }) }),
    onTheWire: (fault, isStream) => sharedFault(fault, isStream),
    late: { kind: 'frames', frames: [{ id: MARK, model: MARK, choices }, { error }] },
  });
}

export function gemini(): FaultyUpstream {
  const emulator = new GeminiEmulator({ marker: MARK, apiKey: API_KEY });
  const candidates = [{ content: { role: 'model', parts: [{ text: 'One' }] }, index: 0 }];
  const error = (code: number) => ({ error: { code, message: SECRETS, status: MARK, details: [{ reason: MARK }] } });
  return faulty<GeminiScript>('gemini', emulator, {
    ofStatus: (status) => ({ kind: 'raw', status, body: JSON.stringify(error(status)) }),
    onTheWire: (fault, isStream) => sharedFault(fault, isStream),
    // Its first frame goes through untouched, and so without the mark.
    late: { kind: 'frames', frames: [`data: ${JSON.stringify({ candidates })}\r\n\r\n`, error(500)] },
  });
}

function sharedFault(fault: Exclude<Fault, number>, isStream: boolean): OpenAiScript & GeminiScript {
  switch (fault) {
    case 'reset':
    case 'silence':
      return { kind: 'fault', fault };
    case 'reset in the body':
      return isStream ? { kind: 'frames', frames: [`data: {"${MARK}`], end: 'reset' } : { kind: 'fault', fault };
    case 'no HTTP':
      return { kind: 'fault', fault: 'garbage' };
    case 'no JSON':
      return isStream
        ? { kind: 'frames', frames: [`data: ${SECRETS}\n\n`], end: 'close' }
        : { kind: 'raw', body: SECRETS };
    case 'wrong type':
      return { kind: 'fault', fault: 'wrong content type' };
    case 'empty':
      return isStream ? { kind: 'fault', fault: 'empty stream' } : { kind: 'raw', body: '' };
  }
}

const ANTHROPIC_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  413: 'request_too_large',
  422: 'invalid_request_error',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

export function anthropic(): FaultyUpstream {
  const emulator = new AnthropicEmulator({ marker: MARK, apiKey: API_KEY });
  const message = {
    id: MARK,
    type: 'message',
    role: 'assistant',
    model: MARK,
    content: [],
    usage: { input_tokens: 1 },
  };
  return faulty<Scripted>('anthropic', emulator, {
    ofStatus: (status) => ({ kind: 'error', status, type: ANTHROPIC_TYPES[status] ?? 'api_error', message: SECRETS }),
    onTheWire: anthropicFault,
    late: {
      kind: 'frames',
      frames: [
        frame({ type: 'message_start', message }),
        frame({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
        frame({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'One' } }),
        frame({ type: 'error', error: { type: 'overloaded_error', message: SECRETS } }),
      ],
    },
  });
}

function frame<Body extends { readonly type: string }>(body: Body): { readonly type: string } {
  return body;
}

function anthropicFault(fault: Exclude<Fault, number>, isStream: boolean): Scripted {
  const contentType = isStream ? 'text/event-stream' : 'application/json';
  switch (fault) {
    case 'reset':
    case 'silence':
      return { kind: 'socket', fault };
    case 'reset in the body':
      return { kind: 'raw', contentType, body: `${isStream ? 'data: ' : ''}{"${MARK}`, end: 'reset' };
    case 'no HTTP':
    case 'no JSON':
      return { kind: 'raw', contentType, body: isStream ? `data: ${SECRETS}\n\n` : SECRETS };
    case 'wrong type':
      return { kind: 'raw', contentType: 'text/html', body: `<html>${SECRETS}</html>` };
    case 'empty':
      return { kind: 'raw', contentType, body: '' };
  }
}
