import { z } from 'zod';
import { orPrecheckFailed } from '../billing/index.ts';
import type { ListedModel } from '../catalogue/index.ts';
import { MODALITIES } from '../configuration/index.ts';
import { creditsToNumber } from '../credits.ts';
import { ApiError } from '../errors.ts';
import { balanceOf } from '../ledger/index.ts';
import { READS, type Tool, textBlock } from './tool.ts';

const modelFilter = z.object({ modality: z.enum(MODALITIES).optional().describe('Only models of this kind.') });

export const listModels: Tool<typeof modelFilter> = {
  name: 'list_models',
  title: 'Models and prices',
  description: 'The models that can be used here, each with its price in credits. Free.',
  input: modelFilter,
  annotations: READS,
  scope: 'any',
  logged: undefined,
  run: async ({ catalogue, views }, { caller }, { modality }) => {
    const reachable = catalogue.snapshot.reachableFrom(caller.groups);
    const models = reachable.filter((model) => modality === undefined || model.modality === modality);
    return {
      content: [textBlock(models.map(lineOf).join('\n') || 'No models of this kind.')],
      structuredContent: { object: 'list', data: models.map(views.model) },
    };
  },
};

function lineOf({ id, modality, endpoints, pricing, description }: ListedModel): string {
  return `${id} (${modality}; ${endpoints.join(', ')}): ${JSON.stringify(pricing)} ${description}`.trim();
}

const nothing = z.object({});

export const credits: Tool<typeof nothing> = {
  name: 'credits',
  title: 'Balance',
  description: 'The credits of the account: available, held by running work, and spent. Free.',
  input: nothing,
  annotations: READS,
  scope: 'user:credits',
  logged: undefined,
  run: async ({ db, clock, views }, { caller: { accountId } }) => {
    const balance = await orPrecheckFailed(() => balanceOf(db, accountId, clock.now()));
    if (balance === undefined) throw new ApiError('no_account');
    const { available, reserved, charged } = balance;
    const words = `${creditsToNumber(available)} credits are available, ${creditsToNumber(reserved)} are held by running work, ${creditsToNumber(charged)} were spent.`;
    return { content: [textBlock(words)], structuredContent: { ...views.balance(balance) } };
  },
};
