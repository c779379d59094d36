import type { Upstream } from './kit/http.ts';

/** Whether such a credential has a secret, which is the upstream's `api_key`, and its settings, none of them secret. */
export interface CredentialTerms {
  readonly apiKey: 'required' | 'none';
  readonly settings: Readonly<Record<string, 'required' | 'optional'>>;
}

/** A request that makes nothing and costs nothing, for an operator who wants to know whether an upstream can be used. */
export interface CredentialCheck {
  /** What is asked for, in words for the operator. */
  readonly what: string;
  /** Throws UpstreamError. */
  run(upstream: Upstream): Promise<void>;
}
