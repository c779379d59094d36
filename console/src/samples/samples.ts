import type { SampleEndpoint } from '../api/endpoints.ts';
import { curlSample } from './curl.ts';
import { pythonSample } from './python.ts';
import { typescriptSample } from './typescript.ts';

/** The body of a call, and what it is sent to. A sound file of a transcription stands beside it, by its name. */
export interface SampleCall {
  readonly endpoint: SampleEndpoint;
  readonly body: Readonly<Record<string, unknown>>;
  readonly fileName?: string | undefined;
  /** The reader's own gateway, without a slash at its end. */
  readonly origin: string;
}

/** The same call in each language, with the key taken from the reader's environment. */
export function samplesOf(call: SampleCall): Readonly<Record<string, string>> {
  return { curl: curlSample(call), TypeScript: typescriptSample(call), Python: pythonSample(call) };
}
