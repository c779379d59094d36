import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import type { Environment } from '../src/config.ts';
import { Gateway } from './support/gateway.ts';

/** Which of the libraries that export signals this process has loaded; all of them are CommonJS. */
function loaded(): readonly string[] {
  const files = Object.keys(createRequire(import.meta.url).cache);
  return ['prom-client', 'sdk-trace-node'].filter((name) => files.some((file) => file.includes(`/${name}/`)));
}

async function startOnce(settings: Environment): Promise<void> {
  await (await Gateway.start({ settings })).stop();
}

test('a library that exports signals is loaded only where its export is on', async () => {
  await startOnce({});
  assert.deepEqual(loaded(), []);
  await startOnce({ TOLLGATE_SLOW_REQUEST_MS: '1', OTEL_SERVICE_NAME: 'gate' });
  assert.deepEqual(loaded(), []);
  await startOnce({ TOLLGATE_METRICS_PORT: '0' });
  assert.deepEqual(loaded(), ['prom-client']);
  await startOnce({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_METRICS_EXPORTER: 'none' });
  assert.deepEqual(loaded(), ['prom-client', 'sdk-trace-node']);
});
