import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { parse } from 'yaml';
import { Scrape } from './support/exposition.ts';
import { Gateway } from './support/gateway.ts';

// deploy/prometheus and deploy/grafana against the metrics that a running gateway exports.

interface Rule {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
  readonly labels?: Record<string, string>;
  readonly annotations?: Record<string, string>;
}

const rules: readonly Rule[] = parse(read('deploy/prometheus/alerts.yaml')).groups.flatMap(
  (group: { rules: readonly Rule[] }) => group.rules,
);
const dashboard = JSON.parse(read('deploy/grafana/tollgate.json'));

/** Metric to its labels: names from a scrape, labels from the table of the manual, which another test holds to the metrics. */
const exported = new Map<string, Set<string>>();

before(async () => {
  const gateway = await Gateway.start({ settings: { TOLLGATE_METRICS_PORT: '0' } });
  try {
    const seen = await Scrape.of(gateway.metricsUrl ?? '');
    const documented = new Map(
      [...read('docs/operating.md').matchAll(/^\| `(tollgate_\w+)` \| \w+ \|([^|]*)\|/gm)].map(
        ([, name, labels = '']) => [name, labels.split(/[ `,]+/).filter((label) => label !== '')],
      ),
    );
    for (const [, name = '', kind] of seen.text.matchAll(/^# TYPE (\w+) (\w+)$/gm)) {
      const labels = new Set([...(documented.get(name) ?? []), ...SCRAPED]);
      const names = kind === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name];
      for (const one of names) exported.set(one, one.endsWith('_bucket') ? new Set([...labels, 'le']) : labels);
    }
    // What Prometheus itself tells of a target.
    exported.set('up', new Set(SCRAPED));
    for (const { record } of rules) if (record !== undefined) exported.set(record, new Set());
  } finally {
    await gateway.stop();
  }
});
after(() => exported.clear());

/** Labels that Prometheus itself adds. */
const SCRAPED = ['instance', 'job'];
const WORDS = new Set(['by', 'without', 'and', 'or', 'unless', 'on', 'ignoring', 'group_left', 'bool', 'offset']);

function read(path: string): string {
  return readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
}

/** What an expression of PromQL asks of its metrics: each with the labels of its matchers, and the labels it groups by. */
function askedIn(expression: string): { metrics: readonly { name: string; labels: string[] }[]; groupings: string[] } {
  const groupings: string[] = [];
  const rest = expression.replace(/\b(?:by|without|on|ignoring)\s*\(([^)]*)\)/g, (_, list: string) => {
    groupings.push(...list.split(',').map((label) => label.trim()));
    return ' ';
  });
  const unquoted = rest.replace(/"(?:[^"\\]|\\.)*"/g, '""').replace(/\[[^\]]*\]/g, '');
  const metrics = [...unquoted.matchAll(/([a-z_][\w:]*)\s*(\{[^}]*\})?(?!\w*\s*\()/gi)]
    .filter(
      ([text, name = '']) => !WORDS.has(name) && !new RegExp(`${name}\\s*\\(`).test(unquoted) && !/^\d/.test(text),
    )
    .map(([, name = '', matchers = '']) => ({
      name,
      labels: [...matchers.matchAll(/(\w+)\s*[=!]/g)].map(([, label = '']) => label),
    }));
  return { metrics, groupings };
}

function assertKnown(expression: string): void {
  // A variable of the dashboard stands for a value.
  const { metrics, groupings } = askedIn(expression.replace(/\$\w+/g, 'x'));
  assert.notEqual(metrics.length, 0, expression);
  for (const { name, labels } of metrics) {
    const known = exported.get(name) ?? assert.fail(`no gateway exports ${name}: ${expression}`);
    for (const label of labels) assert.ok(known.has(label), `${name} has no label ${label}: ${expression}`);
  }
  for (const label of groupings) {
    const isKnown = metrics.every(({ name }) => exported.get(name)?.has(label));
    assert.ok(isKnown, `not every metric has the label ${label}: ${expression}`);
  }
}

test('R-529: every metric and label of an alert is one that a gateway exports', () => {
  for (const { expr } of rules) assertKnown(expr);
});

test('R-529: every metric and label of the dashboard is one that a gateway exports', () => {
  const panels: { title: string; targets?: { expr: string }[] }[] = dashboard.panels;
  const expressions = panels.flatMap(({ targets }) => targets ?? []).map(({ expr }) => expr);
  assert.ok(expressions.length > 20);
  for (const expression of expressions) assertKnown(expression);
  for (const { definition } of dashboard.templating.list.filter(({ type }: { type: string }) => type === 'query')) {
    const [, metric = '', label = ''] = /^label_values\((\w+), (\w+)\)$/.exec(definition) ?? assert.fail(definition);
    assert.ok(exported.get(metric)?.has(label), definition);
  }
});

test('R-529: an expression with a wrong metric or label is found', () => {
  for (const wrong of [
    'max(tollgate_no_such_metric) > 0',
    'sum(rate(tollgate_requests_total{colour="red"}[5m]))',
    'sum by (colour) (tollgate_requests_in_flight)',
    'histogram_quantile(0.9, sum by (le) (rate(tollgate_requests_total[5m])))',
  ]) {
    assert.throws(() => assertKnown(wrong), wrong);
  }
});

test('every alert has a severity, a sentence and a section of the manual to read', () => {
  const sections = new Set([...read('docs/operating.md').matchAll(/^## (.*)$/gm)].map(([, title]) => title));
  for (const { alert = '', labels, annotations } of rules.filter((rule) => rule.alert !== undefined)) {
    assert.match(labels?.severity ?? '', /^(critical|warning)$/, alert);
    assert.match(annotations?.summary ?? '', /\.$/, alert);
    const [, section = ''] = /^docs\/operating\.md, "(.*)"$/.exec(annotations?.runbook ?? '') ?? [];
    assert.ok(sections.has(section.replace(' - ', ': ')), `${alert}: ${section}`);
  }
});
