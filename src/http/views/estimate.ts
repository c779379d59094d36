import { z } from 'zod';
import { ENDPOINTS } from '../../configuration/index.ts';
import { creditsToNumber } from '../../credits.ts';
import type { McpViews } from '../../mcp/index.ts';
import { factorsSchema, factorsView } from './requests.ts';

export const estimateSchema = z
  .strictObject({
    object: z.literal('estimate'),
    model: z.string(),
    endpoint: z.enum(ENDPOINTS),
    credits: z.number().describe('What the call would reserve.'),
    factors: factorsSchema,
  })
  .meta({ id: 'Estimate' });

type Estimated = Parameters<McpViews['estimate']>[0];

export function estimateView({ model, endpoint, amount, factors }: Estimated): z.infer<typeof estimateSchema> {
  return { object: 'estimate', model, endpoint, credits: creditsToNumber(amount), factors: factorsView(factors) };
}
