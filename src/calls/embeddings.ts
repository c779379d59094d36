import type { Caller } from '../accounts/index.ts';
import { openBill, quote } from '../billing/index.ts';
import type { MicroCredits } from '../credits.ts';
import { UpstreamError } from '../errors.ts';
import type { CountedTokens } from '../formats/index.ts';
import { EMBEDDING_INPUTS_MAX } from '../limits.ts';
import { type Candidate, firstThatWorks, judgedCandidates, modelFor, noteOverclaim } from '../routing/index.ts';
import type { EmbeddingRequest } from '../schemas/index.ts';
import type { EmbeddingWork } from '../vendors/index.ts';
import type { CallContext, CallDeps } from './deps.ts';
import { embeddingOrder } from './embedding-order.ts';
import { embedInParts } from './embedding-parts.ts';
import { estimatedTokens, reportedTokens, tokenUnits } from './token-usage.ts';

/** Vectors that were made and charged for, in the order of the inputs. */
export interface MadeEmbeddings {
  /** The numbers of each as float32, small end first. */
  readonly vectors: readonly Buffer[];
  readonly tokens: CountedTokens;
  readonly charged: MicroCredits;
}

/** One vector for each input, settled. All inputs or none: nothing is charged unless every vector is here. */
export async function embed(
  deps: CallDeps,
  caller: Caller,
  request: EmbeddingRequest,
  context: CallContext,
): Promise<MadeEmbeddings> {
  const model = modelFor(deps, caller, request.model, 'embeddings');
  const able = judgedCandidates(deps, caller, model, ({ vendor, upstreamModel, address, dialect }) => {
    vendor.embedding?.check(request, { model: upstreamModel, address, dialect });
    return vendor.embedding !== undefined;
  });
  const order = embeddingOrder(request.input);
  const { accountId, keyId, hasKeyLimit } = caller;
  const { requestId, trace } = context;
  const booked = { accountId, keyId, hasKeyLimit, requestId, model: model.id, endpoint: 'embeddings', trace };
  const candidates = deps.health.preferred(model, able, { units: order.units, selectors: {}, answer: 'whole' });
  const bill = await openBill(deps, { ...booked, decidedBy: DECIDED_BY }, quote(model.pricing, {}, order.units));
  try {
    const { candidate, vectors, usage } = await firstThatWorks(
      deps,
      candidates,
      context,
      async (candidate, upstream) => {
        const { embeddingInputsMax = EMBEDDING_INPUTS_MAX } = candidate;
        const made = await embedInParts(request, embeddingInputsMax, upstream.signal, (part, signal) =>
          embeddingOf(candidate).embed(part, { ...upstream, signal }),
        );
        checkVectors(made.vectors, request);
        return { candidate, ...made };
      },
    );
    // Some servers count nothing and tell a zero, which no input has.
    const tokens =
      usage === undefined || usage.inputTokens + usage.cachedTokens === 0
        ? estimatedTokens(order, 0)
        : reportedTokens(usage, order, (detail) => noteOverclaim(deps, candidate, requestId, detail));
    return { vectors, tokens, charged: await bill.settle(tokenUnits(tokens)) };
  } catch (error) {
    await bill.refund();
    throw error;
  }
}

const DECIDED_BY = 'The length of the inputs decides it: fewer or shorter ones need less.';

function embeddingOf({ vendor }: Candidate): EmbeddingWork {
  if (vendor.embedding === undefined) throw new Error(`vendor ${vendor.name} has no embeddings`);
  return vendor.embedding;
}

const FLOAT_BYTES = 4;

/**
 * Vectors are compared with others of the same model, so all must have one length, and the one that was asked for. A server
 * that overlooks `dimensions` is unfit for this request and may be fit for others.
 */
function checkVectors(vectors: readonly Buffer[], { input, dimensions }: EmbeddingRequest): void {
  const inputs = input.kind === 'texts' ? input.texts.length : input.lists.length;
  if (vectors.length !== inputs) {
    throw new UpstreamError('garbled', `${vectors.length} vectors for ${inputs} inputs`);
  }
  const bytes = vectors[0]?.length ?? 0;
  if (bytes === 0 || bytes % FLOAT_BYTES !== 0 || vectors.some(({ length }) => length !== bytes)) {
    throw new UpstreamError('garbled', 'vectors that are not of one length');
  }
  if (vectors.some(hasNoNumber)) throw new UpstreamError('garbled', 'a vector with what is no number');
  if (dimensions !== undefined && bytes !== dimensions * FLOAT_BYTES) {
    throw new UpstreamError('unfit', `vectors of ${bytes / FLOAT_BYTES} numbers where ${dimensions} were asked for`);
  }
}

/** An infinity or NaN, by the bits of its exponent: JSON has no word for it, and nothing can be compared with it. */
function hasNoNumber(vector: Buffer): boolean {
  const view = new DataView(vector.buffer, vector.byteOffset, vector.length);
  for (let at = 2; at < vector.length; at += FLOAT_BYTES) {
    if ((view.getUint16(at, true) & EXPONENT_BITS) === EXPONENT_BITS) return true;
  }
  return false;
}

const EXPONENT_BITS = 0x7f80;
