import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { Scrape } from '../support/exposition.ts';
import { Gateway } from '../support/gateway.ts';

// The rules and the metrics as Prometheus itself reads them.

function promtool(args: readonly string[], input = ''): void {
  const { status, stdout, stderr } = spawnSync('/usr/bin/promtool', args, { encoding: 'utf8', input });
  assert.equal(status, 0, stdout + stderr);
}

test('R-529: Prometheus takes the alert rules, and their unit tests hold', () => {
  promtool(['check', 'rules', 'deploy/prometheus/alerts.yaml']);
  promtool(['test', 'rules', 'deploy/prometheus/alerts.test.yaml']);
});

test('R-529: Prometheus finds nothing wrong with what is scraped', async () => {
  const gateway = await Gateway.start({ settings: { TOLLGATE_METRICS_PORT: '0' } });
  try {
    const { key } = await gateway.newCaller();
    await gateway.call('GET', '/v1/models', { key });
    await gateway.call('POST', '/v1/chat/completions', { key, body: { model: 'a"b\\c', messages: [] } });
    const { text } = await Scrape.of(gateway.metricsUrl ?? '');
    // The library's own names of process and runtime are not ours to judge.
    const own = text.split('\n').filter((line) => /^(?:# (?:HELP|TYPE) )?tollgate_/.test(line));
    promtool(['check', 'metrics'], `${own.join('\n')}\n`);
  } finally {
    await gateway.stop();
  }
});
