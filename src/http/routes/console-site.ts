import { z } from 'zod';
import { SIGN_UP_MODES } from '../../config.ts';
import type { HttpDeps } from '../deps.ts';
import type { Routes } from '../edge/route.ts';

const siteSchema = z
  .strictObject({
    object: z.literal('site'),
    name: z.string(),
    base_url: z.string().describe('Under which the API is reached, without a slash at its end.'),
    version: z.string(),
    sign_up: z.enum(SIGN_UP_MODES).describe('By operators alone, by invitation, or without one.'),
    identity_provider: z
      .strictObject({ name: z.string(), url: z.string() })
      .nullable()
      .describe('Where people also sign in, and the page that leads there.'),
    links: z.strictObject({ openapi: z.string(), price_list: z.string(), sign_in: z.string(), sign_up: z.string() }),
  })
  .meta({ id: 'Site' });

/** What the console shows before a person has signed in. */
export function consoleSiteRoutes(routes: Routes, { config, openId, version }: HttpDeps): void {
  const { publicUrl } = config;
  const provider = openId?.settings.name;
  routes.add(
    {
      method: 'GET',
      path: '/api/console/site',
      summary: 'What a visitor may know of this deployment',
      access: 'public',
      answers: { 200: siteSchema },
    },
    () => ({
      object: 'site',
      name: 'Tollgate',
      base_url: publicUrl,
      version,
      sign_up: config.signUp.mode,
      identity_provider: provider === undefined ? null : { name: provider, url: `${publicUrl}/sign-in/provider` },
      links: {
        openapi: `${publicUrl}/openapi.json`,
        price_list: `${publicUrl}/api/hub/public/models`,
        sign_in: `${publicUrl}/sign-in`,
        sign_up: `${publicUrl}/sign-up`,
      },
    }),
  );
}
