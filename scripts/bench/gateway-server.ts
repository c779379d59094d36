// The gateway as it runs in production: embedded PostgreSQL with fsync, auth, limits and log on.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startApp } from '../../src/app.ts';
import { loadConfig } from '../../src/config.ts';
import { CONCURRENCY_MAX, RPM_MAX } from '../../src/limits.ts';
import { createLog } from '../../src/log.ts';
import { answerBench } from './child.ts';

const folder = await mkdtemp(join(tmpdir(), 'tollgate-bench-'));
const [upstream] = process.argv.slice(2);
const configFile = join(folder, 'bench.yaml');
if (upstream !== undefined) await writeFile(configFile, documentFor(upstream));
const config = loadConfig({
  PORT: '0',
  ...(upstream === undefined ? {} : { TOLLGATE_CONFIG: configFile }),
  TOLLGATE_DATA: folder,
  TOLLGATE_RPM: String(RPM_MAX),
  TOLLGATE_CONCURRENCY: String(CONCURRENCY_MAX),
});
const { log } = createLog('info');
const app = await startApp({ config, environment: {}, log, progress: () => undefined });
answerBench({ url: app.url, key: app.firstStart?.key ?? '' }, async () => {
  await app.stop(1000);
  await rm(folder, { recursive: true, force: true });
});

/** One chat model and one native, served by the bench's own upstream. */
function documentFor(url: string): string {
  return JSON.stringify({
    upstreams: [
      { id: 'fake', vendor: 'openai', base_url: `${url}/v1` },
      { id: 'fake-native', vendor: 'gemini', base_url: url, api_key: 'key' },
    ],
    models: [modelOf('chat', 'fake'), modelOf('native', 'fake-native')],
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
