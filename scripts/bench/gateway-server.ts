// The gateway as it runs in production: embedded PostgreSQL with fsync, auth, limits and log on.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findEmbeddedPostgres } from '@tollgate/embedded-postgres';
import { startApp } from '../../src/app.ts';
import { systemClock } from '../../src/clock.ts';
import { loadConfig } from '../../src/config.ts';
import { CONCURRENCY_MAX, RPM_MAX } from '../../src/limits.ts';
import { createLog } from '../../src/log.ts';
import { tuneMemory } from '../../src/memory.ts';
import { Apps } from '../../test/support/tokens.ts';
import { ADMIN_TOKEN, answerBench } from './child.ts';

/** Pictures that are there at once, and clips that never are. */
const INSTANT = {
  id: 'bench/instant',
  modality: 'image',
  owned_by: 'bench',
  endpoints: ['images'],
  pricing: { mode: 'per_image', credits: { base: 1 } },
  routes: [{ upstream: 'fake', model: 'upstream-model' }],
};
const SLOW = {
  id: 'bench/slow',
  modality: 'video',
  owned_by: 'bench',
  endpoints: ['videos'],
  pricing: { mode: 'per_second', credits: { per_second: 1 } },
  accepts: { seconds_max: 5 },
  routes: [{ upstream: 'queue', model: 'bench/slow' }],
};

const SPEECH = {
  id: 'bench/speech',
  modality: 'audio',
  owned_by: 'bench',
  endpoints: ['audio_speech'],
  pricing: { mode: 'per_second', credits: { per_second: 0.001 } },
  routes: [{ upstream: 'fake', model: 'upstream-model' }],
};

const TRANSCRIPTION = {
  id: 'bench/transcription',
  modality: 'audio',
  owned_by: 'bench',
  endpoints: ['transcriptions'],
  pricing: { mode: 'per_second', credits: { per_second: 0.000001 } },
  routes: [{ upstream: 'fake', model: 'upstream-model' }],
};

tuneMemory();
const [upstream = '', given] = process.argv.slice(2);
const folder = given ?? (await mkdtemp(join(tmpdir(), 'tollgate-bench-')));
const configFile = join(folder, 'bench.yaml');
if (upstream !== '') await writeFile(configFile, documentFor(upstream));
const config = loadConfig({
  PORT: '0',
  ...(upstream === '' ? {} : { TOLLGATE_CONFIG: configFile }),
  TOLLGATE_DATA: folder,
  TOLLGATE_ADMIN_TOKEN: ADMIN_TOKEN,
  TOLLGATE_RPM: String(RPM_MAX),
  TOLLGATE_CONCURRENCY: String(CONCURRENCY_MAX),
  TOLLGATE_TOKEN_RPM: String(RPM_MAX),
  TOLLGATE_TOKEN_CONCURRENCY: String(CONCURRENCY_MAX),
});
const { log } = createLog('info');
const app = await startApp({ config, environment: {}, log, progress: () => undefined });
const { key = '', account } = app.firstSteps;
answerBench({ url: app.url, key, token: await tokenOf(account?.id ?? '') }, async () => {
  await app.stop(1000);
  await rm(folder, { recursive: true, force: true });
});

/** Of an app that a person lets act for the account. */
async function tokenOf(accountId: string): Promise<string> {
  const state = await findEmbeddedPostgres(folder);
  if (state.state !== 'running') throw new Error('the database of the gateway does not run');
  const apps = await Apps.open({ database: { address: state.connection }, clock: systemClock });
  try {
    return await apps.newToken(accountId);
  } finally {
    await apps.close();
  }
}

/** One model of each kind that is measured, served by the bench's own upstream. */
function documentFor(url: string): string {
  return JSON.stringify({
    upstreams: [
      { id: 'fake', vendor: 'openai', base_url: `${url}/v1` },
      { id: 'queue', vendor: 'fal', base_url: url, api_key: 'key' },
      { id: 'fake-native', vendor: 'gemini', base_url: url, api_key: 'key' },
    ],
    models: [modelOf('chat', 'fake'), modelOf('native', 'fake-native'), INSTANT, SLOW, SPEECH, TRANSCRIPTION],
  });
}

function modelOf(endpoint: 'chat' | 'native', upstream: string): object {
  return {
    id: `bench/${endpoint}`,
    modality: 'chat',
    owned_by: 'bench',
    endpoints: [endpoint],
    max_output_tokens: 100,
    pricing: { mode: 'per_token', credits: { input_per_k: 0.001, output_per_k: 0.002 } },
    routes: [{ upstream, model: 'upstream-model' }],
  };
}
