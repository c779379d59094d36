import { z } from 'zod';
import { ENDPOINTS } from '../../configuration/index.ts';
import { creditsToNumber } from '../../credits.ts';
import type { McpViews } from '../../mcp/index.ts';
import { factorsSchema, factorsView } from './requests.ts';

/** What an estimate can be asked of: endpoints, and formats that ride on chat. */
export const ESTIMATED = [...ENDPOINTS, 'responses', 'messages'] as const;

export const estimateSchema = z
  .strictObject({
    object: z.literal('estimate'),
    model: z.string(),
    endpoint: z.enum(ESTIMATED),
    credits: z.number().describe('What the call would reserve.'),
    factors: factorsSchema,
  })
  .meta({ id: 'Estimate' });

type Estimated = Omit<Parameters<McpViews['estimate']>[0], 'endpoint'> & {
  readonly endpoint: (typeof ESTIMATED)[number];
};

export function estimateView({ model, endpoint, amount, factors }: Estimated): z.infer<typeof estimateSchema> {
  return { object: 'estimate', model, endpoint, credits: creditsToNumber(amount), factors: factorsView(factors) };
}
