import type { CallDeps } from '../calls/index.ts';
import type { Catalogue, ListedModel } from '../catalogue/index.ts';
import type { Endpoint } from '../configuration/index.ts';
import type { MicroCredits } from '../credits.ts';
import type { CreateDeps, Job, JobWatches, LinkedAsset } from '../jobs/index.ts';
import type { Balance } from '../ledger/index.ts';
import type { ChargeFactors } from '../pricing/index.ts';
import type { StartDeps, TranscriptionRecord } from '../transcriptions/index.ts';

export interface McpDeps extends CallDeps, CreateDeps, StartDeps {
  readonly catalogue: Catalogue;
  readonly jobWatches: JobWatches;
  readonly version: string;
  readonly views: McpViews;
}

/** The wire shapes of `/v1`, which a tool's structured result has too. */
export interface McpViews {
  readonly model: (model: ListedModel) => object;
  readonly job: (job: Job) => object;
  readonly asset: (asset: LinkedAsset) => object;
  readonly transcription: (record: TranscriptionRecord) => object;
  readonly balance: (balance: Balance) => object;
  readonly estimate: (estimate: EstimatedCall) => object;
}

interface EstimatedCall {
  readonly model: string;
  readonly endpoint: Endpoint;
  readonly amount: MicroCredits;
  readonly factors: ChargeFactors;
}
