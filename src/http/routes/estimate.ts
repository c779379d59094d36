import { z } from 'zod';
import { measure, quote } from '../../billing/index.ts';
import { ENDPOINTS } from '../../configuration/index.ts';
import { creditsToNumber } from '../../credits.ts';
import { ApiError } from '../../errors.ts';
import { ESTIMATE_BODY_BYTES_MAX } from '../../limits.ts';
import { chargeFactors } from '../../pricing/index.ts';
import type { HttpParts } from '../parts.ts';
import type { Routes } from '../route.ts';

const estimateBody = z.looseObject({
  endpoint: z.enum(ENDPOINTS).describe('The route that the rest of the body is for, as in a model’s `endpoints`.'),
  model: z.string({ error: 'missing_model' }).min(1, { error: 'missing_model' }),
});

const estimateSchema = z
  .strictObject({
    object: z.literal('estimate'),
    model: z.string(),
    endpoint: z.enum(ENDPOINTS),
    credits: z.number().describe('What the call would reserve.'),
    factors: z.strictObject({
      mode: z.string(),
      once: z.number().describe('Credits charged once, which no ratio multiplies.'),
      units: z.array(z.strictObject({ unit: z.string(), count: z.number(), per: z.number(), rate: z.number() })),
      ratios: z.array(z.strictObject({ map: z.string(), key: z.string(), ratio: z.number() })),
    }),
  })
  .meta({ id: 'Estimate' });

export function estimateRoutes(routes: Routes, { catalogue }: HttpParts): void {
  routes.add(
    {
      method: 'POST',
      path: '/v1/estimate',
      summary: 'What a create call would reserve: its body plus `endpoint`',
      access: 'caller',
      body: { kind: 'json', schema: estimateBody, bytesMax: ESTIMATE_BODY_BYTES_MAX },
      answers: { 200: estimateSchema },
      codes: [
        'missing_model',
        'model_not_found',
        'missing_prompt',
        'missing_messages',
        'missing_input',
        'invalid_n',
        'invalid_seconds',
        'invalid_duration',
        'text_too_long',
        'conflicting_parameters',
      ],
    },
    ({ body, caller }) => {
      const model = catalogue.snapshot.find(body.model, caller.groups);
      if (model === undefined || !model.endpoints.includes(body.endpoint)) throw new ApiError('model_not_found');
      const { units, selectors } = measure(body.endpoint, body, model);
      const { amount } = quote(model.pricing, selectors, units);
      const { mode, once, units: counted, ratios } = chargeFactors(model.pricing, selectors, units);
      return {
        object: 'estimate',
        model: model.id,
        endpoint: body.endpoint,
        credits: creditsToNumber(amount),
        factors: { mode, once, units: counted, ratios },
      };
    },
  );
}
