import type { Fault } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { faultRules } from '../formats/generate-content/index.ts';
import { faultRules as claudeRules } from '../formats/messages/index.ts';
import type { Upstream } from '../kit/http.ts';
import { objectAt, stringAt } from '../kit/json.ts';
import { defineWire, type WireRules } from '../kit/wire.ts';
import { dropToken, googleHeaders } from './credential.ts';

const proof: Pick<WireRules, 'headers' | 'renew'> = {
  headers: (upstream) => {
    const { credential, apiKey } = upstream;
    return credential === undefined ? { 'x-goog-api-key': apiKey } : googleHeaders(upstream, credential);
  },
  renew: dropToken,
};

/** Gemini's models: its own bytes under another path. The address names project and location. */
export const wire = defineWire({
  ...proof,
  path: (_upstream: Upstream, path) => path.replace(/^\/v1beta\/models\//, '/publishers/google/models/'),
  faults: {
    ...faultRules,
    exception: cloudFault,
    codes: { account: [...faultRules.codes.account, 'BILLING_DISABLED', 'SERVICE_DISABLED', 'CONSUMER_SUSPENDED'] },
  },
});

/** Claude's models: refusals come in Anthropic's form or in Google's, by the layer that refuses. */
export const claudeWire = defineWire({
  ...proof,
  faults: { ...claudeRules, exception: (body, status) => claudeRules.exception(body) ?? cloudFault(body, status) },
});

/** Unverified. An organisation's policy about its own projects is not among these. */
const AGAINST_POLICY =
  /\bviolat(?:es?|ed|ion)\b.{0,80}\b(?:usage guidelines|(?:usage|use|content|safety) polic(?:y|ies)|responsible ai)\b|\bsupport codes?: ?\d/i;

/** What Google tells by the status of its own envelope, or in words. */
function cloudFault(body: JsonObject, status: number | undefined): Fault | undefined {
  if (status !== undefined && status >= 500) return undefined;
  const error = objectAt(body, 'error');
  const message = stringAt(error, 'message') ?? '';
  if (/billing (account|is|to be)|requires billing/i.test(message)) return 'account';
  // An object of the caller's own, which the project cannot read.
  if (/gs:\/\//.test(message) && (status === 403 || status === 404)) return 'client';
  if (stringAt(error, 'status') === 'FAILED_PRECONDITION') return 'config';
  return AGAINST_POLICY.test(message) ? 'policy' : undefined;
}
