import { z } from 'zod';
import { offers } from '../../routing/index.ts';
import type { HttpDeps } from '../deps.ts';
import type { Routes } from '../edge/route.ts';
import { catalogueModelSchema, catalogueModelView } from '../views/models.ts';
import { requireAccount } from './key-bodies.ts';

/** The models as the playground needs them: everything that a form can offer. */
export function consoleCatalogueRoutes(routes: Routes, deps: HttpDeps): void {
  routes.add(
    {
      method: 'GET',
      path: '/api/console/catalogue',
      summary: 'The models that the account reaches, with prices and everything that can be asked of them',
      access: 'session',
      role: 'viewer',
      answers: { 200: z.strictObject({ object: z.literal('list'), data: z.array(catalogueModelSchema) }) },
      codes: ['account_not_found'],
    },
    async ({ accountId }) => {
      const { groups } = await requireAccount(deps, accountId);
      const models = deps.catalogue.snapshot.reachableFrom(groups);
      return {
        object: 'list',
        data: models.map((model) => catalogueModelView(model, offers.acceptsFor(deps, groups, model))),
      };
    },
  );
}
