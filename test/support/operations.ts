import type { Gateway } from './gateway.ts';

/** Who may use an operation: the caller's key, a signed-in person, the operator's token, or nothing at all. */
export type Access = 'key' | 'session' | 'operator' | 'public';

export interface Operation {
  readonly method: string;
  /** With a name of nothing in the place of each parameter. */
  readonly path: string;
}

/** Every operation of the published contract that this access opens. */
export async function operationsOf(gateway: Gateway, access: Access): Promise<Operation[]> {
  const { json } = await gateway.call('GET', '/openapi.json');
  const paths = json.paths as Record<string, Record<string, { security: Record<string, unknown>[] }>>;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { security }]) => (Object.keys(security[0] ?? {})[0] ?? 'public') === access)
      .map(([method]) => ({ method: method.toUpperCase(), path: path.replace(/\{\w+\}/g, 'none') })),
  );
}
