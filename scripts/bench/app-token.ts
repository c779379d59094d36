import { findEmbeddedPostgres } from '@tollgate/embedded-postgres';
import { systemClock } from '../../src/clock.ts';
import { Apps } from '../../test/support/tokens.ts';
import type { Gateway } from './gateway.ts';

/** An access token of an app that a person lets act for the account of the bench. */
export async function appToken({ folder, accountId }: Gateway): Promise<string> {
  const state = await findEmbeddedPostgres(folder);
  if (state.state !== 'running') throw new Error('the database of the gateway does not run');
  const apps = await Apps.open({ database: { address: state.connection }, clock: systemClock });
  try {
    return await apps.newToken(accountId);
  } finally {
    await apps.close();
  }
}
