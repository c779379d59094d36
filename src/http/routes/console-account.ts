import { z } from 'zod';
import type { HttpDeps } from '../deps.ts';
import type { Routes } from '../edge/route.ts';
import { requireAccount } from './key-bodies.ts';

const accountSchema = z
  .strictObject({
    id: z.string(),
    object: z.literal('account'),
    name: z.string(),
    status: z.enum(['active', 'suspended']),
    groups: z.array(z.string()).describe('Its routing groups, from which a key may be given some.'),
    limits: z
      .strictObject({ rpm: z.int(), concurrency: z.int() })
      .describe(
        'In force for its console and its OAuth access tokens together, and the most that its keys are given there.',
      ),
  })
  .meta({ id: 'ConsoleAccount' });

/** What the account that the session works in may have. */
export function consoleAccountRoutes(routes: Routes, deps: HttpDeps): void {
  routes.add(
    {
      method: 'GET',
      path: '/api/console/account',
      summary: 'The account that the session works in: its routing groups and rates',
      access: 'session',
      role: 'viewer',
      answers: { 200: accountSchema },
      codes: ['account_not_found'],
    },
    async ({ accountId }) => {
      const account = await requireAccount(deps, accountId);
      const { defaultRpm, defaultConcurrency } = deps.config;
      return {
        id: account.id,
        object: 'account',
        name: account.name,
        status: account.status,
        groups: [...account.groups],
        limits: { rpm: account.rpm ?? defaultRpm, concurrency: account.concurrency ?? defaultConcurrency },
      };
    },
  );
}
