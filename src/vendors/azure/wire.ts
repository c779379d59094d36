import type { Fault } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { faultRules } from '../formats/chat-completions/index.ts';
import type { FaultRules } from '../kit/faults.ts';
import type { Upstream } from '../kit/http.ts';
import { objectAt, stringAt } from '../kit/json.ts';
import { defineWire } from '../kit/wire.ts';
import { dropToken, entraHeaders } from './credential.ts';

const { codes } = faultRules;

const FAULTS: FaultRules = {
  ...faultRules,
  exception: accountFault,
  codes: {
    ...codes,
    policy: [...codes.policy, 'contentFilter', 'ResponsibleAIPolicyViolation'],
    account: [...codes.account, '401', '403', 'AccessDenied', 'PermissionDenied'],
    rate: [...codes.rate, '429', 'RateLimitReached', 'TooManyRequests'],
    config: [...codes.config, '404', 'DeploymentNotFound', 'ResourceNotFound', 'OperationNotSupported'],
  },
};

export const wire = defineWire({
  headers: (upstream) => {
    const { credential, apiKey } = upstream;
    return credential === undefined ? { 'api-key': apiKey } : entraHeaders(upstream, credential);
  },
  renew: dropToken,
  path: pathOf,
  faults: FAULTS,
});

function pathOf({ dialect, model }: Upstream, path: string): string {
  if (dialect === undefined) return path;
  const place = path === '/models' ? path : `/deployments/${encodeURIComponent(model)}${path}`;
  return `${place}?api-version=${dialect}`;
}

/** An unpaid or closed subscription is told in words, under whatever status. */
function accountFault(body: JsonObject, status: number | undefined): Fault | undefined {
  if (status !== undefined && status >= 500) return undefined;
  const message = stringAt(objectAt(body, 'error'), 'message') ?? '';
  return /spending limit|subscription .*(disabled|suspended)|temporarily blocked/i.test(message)
    ? 'account'
    : undefined;
}
