import type { ConfigDocument, ConfigModel, Endpoint } from '../configuration/index.ts';
import type { MicroCredits } from '../credits.ts';
import { ApiError } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import { estimateCall } from './estimate.ts';
import { typicalCalls } from './typical-calls.ts';

export interface ComparedCall {
  readonly model: string;
  readonly endpoint: Endpoint;
  readonly body: JsonObject;
  readonly label: string;
}

/** What a call reserves, or why there is no such price. */
export type EstimatedPrice = { readonly credits: MicroCredits } | { readonly problem: string };

export interface PriceComparison extends ComparedCall {
  readonly before: EstimatedPrice;
  readonly after: EstimatedPrice;
}

/** The typical calls of every model that either document sells. */
export function callsOf(before: ConfigDocument, after: ConfigDocument): readonly ComparedCall[] {
  const sold = new Map([...before.models, ...after.models].map((model) => [model.id, model]));
  return [...sold.values()].flatMap((model) =>
    model.endpoints.flatMap((endpoint) =>
      typicalCalls(model, endpoint).map((call) => ({ model: model.id, endpoint, ...call })),
    ),
  );
}

/** What each call would cost under two documents. */
export function comparePrices(
  before: ConfigDocument,
  after: ConfigDocument,
  calls: readonly ComparedCall[],
): readonly PriceComparison[] {
  const [modelsBefore, modelsAfter] = [byId(before), byId(after)];
  return calls.map((call) => ({
    ...call,
    before: priceOf(modelsBefore.get(call.model), call),
    after: priceOf(modelsAfter.get(call.model), call),
  }));
}

function byId({ models }: ConfigDocument): ReadonlyMap<string, ConfigModel> {
  return new Map(models.map((model) => [model.id, model]));
}

function priceOf(model: ConfigModel | undefined, { endpoint, model: id, body }: ComparedCall): EstimatedPrice {
  if (model?.endpoints.includes(endpoint) !== true) return { problem: 'The model is not sold at this endpoint.' };
  const request = { ...body, model: id };
  try {
    return { credits: estimateCall(model, endpoint, request, request).amount };
  } catch (error) {
    if (error instanceof ApiError) return { problem: error.message };
    throw error;
  }
}
