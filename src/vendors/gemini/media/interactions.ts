import { type Fault, UpstreamError } from '../../../errors.ts';
import type { JsonObject } from '../../../json.ts';
import { dataIn } from '../../formats/gemini-media/index.ts';
import { wire } from '../../formats/generate-content/index.ts';
import { failed } from '../../kit/faults.ts';
import type { Upstream } from '../../kit/http.ts';
import { countAt, objectAt, objectsAt, requiredString, stringAt } from '../../kit/json.ts';
import { refuseKeys } from '../../kit/refusals.ts';
import type { Failed, Output, TaskUsage } from '../../vendor.ts';

/** The vendor's other way to ask a model: for clips, music and transcripts there is no other. It keeps what it made. */
export const INTERACTIONS = '/v1beta/interactions';

export function interactionAt(task: JsonObject): string {
  return `${INTERACTIONS}/${encodeURIComponent(requiredString(task, 'id'))}`;
}

export const STATES = {
  queued: 'running',
  in_progress: 'running',
  completed: 'over',
  failed: 'over',
  cancelled: 'over',
  incomplete: 'over',
  budget_exceeded: 'over',
  requires_action: 'over',
  requires_continuation: 'over',
} as const;

/** What public fields and the route decide, and what would take the result elsewhere or bring something else. */
const RESERVED = [
  ...['model', 'input', 'agent', 'agent_config', 'response_format', 'response_modalities', 'response_mime_type'],
  ...['generation_config', 'background', 'store', 'stream', 'webhook_config', 'service_tier', 'tools', 'environment'],
  ...['previous_interaction_id', 'continuation_token', 'cached_content'],
];

/** Throws ApiError. */
export function refuseReserved(extra: JsonObject): void {
  refuseKeys(extra, RESERVED);
}

/** What the model made of one type, in order. Two old models have `outputs` in place of `steps`. */
export function contentOf(answer: JsonObject, type: string): JsonObject[] {
  const steps = objectsAt(answer, 'steps').filter((step) => stringAt(step, 'type') === 'model_output');
  const contents = [...steps.flatMap((step) => objectsAt(step, 'content')), ...objectsAt(answer, 'outputs')];
  return contents.filter((content) => stringAt(content, 'type') === type);
}

export function isCompleted(answer: JsonObject): boolean {
  return stringAt(answer, 'status') === 'completed';
}

/** Why an interaction that is over made nothing, by its own errors and those of its steps. */
export function failureOf(answer: JsonObject): { readonly fault: Fault; readonly detail: string } {
  const errors = [
    ...objectsAt(answer, 'errors'),
    ...objectsAt(answer, 'steps').flatMap((step) => objectAt(step, 'error') ?? []),
  ];
  const status = stringAt(answer, 'status') ?? '';
  const faults = errors.flatMap((error) => wire.faults.ofBody({ error }) ?? []);
  const fault = faults[0] ?? (status === 'budget_exceeded' ? 'account' : 'server');
  return { fault, detail: JSON.stringify({ status, errors }) };
}

export function failedInteraction(answer: JsonObject): Failed {
  const { fault, detail } = failureOf(answer);
  return failed(fault, detail);
}

/** Where the vendor says that its files are; they lie behind the key, at whichever address it is asked. */
const VENDOR_ORIGIN = 'https://generativelanguage.googleapis.com';

/** A result inside the answer, behind the key, or at a foreign address, which never sees the key. */
export function outputOf(content: JsonObject, upstream: Upstream, blobs: readonly Buffer[] = []): Output {
  const data = dataIn(content, blobs);
  if (data.length > 0) return { data };
  const uri = requiredString(content, 'uri');
  const url = URL.parse(uri);
  if (url === null) throw new UpstreamError('garbled', 'a result without a usable address');
  if (url.origin !== new URL(upstream.address).origin && url.origin !== VENDOR_ORIGIN) return { url: uri };
  // A file by its name alone is its description.
  const isName = /\/files\/[^/:]+$/.test(url.pathname);
  return { path: isName ? `${url.pathname}:download?alt=media` : url.pathname + url.search };
}

/** The vendor counts thoughts outside the output. */
export function tokensIn(answer: JsonObject): TaskUsage {
  const usage = objectAt(answer, 'usage');
  const made = countAt(usage, 'total_output_tokens');
  return {
    inputTokens: countAt(usage, 'total_input_tokens'),
    outputTokens: made === undefined ? undefined : made + (countAt(usage, 'total_thought_tokens') ?? 0),
  };
}
