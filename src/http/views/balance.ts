import { z } from 'zod';
import { unixSeconds } from '../../clock.ts';
import { creditsToNumber } from '../../credits.ts';
import type { Balance } from '../../ledger/index.ts';

export const balanceSchema = z
  .strictObject({
    object: z.literal('credit_balance'),
    available: z.number().describe('What can be spent now; below zero by what real usage exceeded.'),
    reserved: z.number().describe('What running calls and jobs hold.'),
    spent: z.number(),
    updated_at: z.int(),
  })
  .meta({ id: 'CreditBalance' });

export function balanceView(balance: Balance): z.infer<typeof balanceSchema> {
  return {
    object: 'credit_balance',
    available: creditsToNumber(balance.available),
    reserved: creditsToNumber(balance.reserved),
    spent: creditsToNumber(balance.charged),
    updated_at: unixSeconds(balance.updatedAt),
  };
}
