import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Ajv } from 'ajv';
import { parse, parseAllDocuments } from 'yaml';
import { OPTIONAL_PACKAGES } from '../../scripts/components.ts';
import { helmProgram, toolPath } from '../../scripts/engines/npm-tools.ts';
import { sbomOf } from '../../scripts/sbom.ts';
import { commandsRunBy, ROOT, runShell } from '../support/manual.ts';
import { workFolder } from '../support/postgres.ts';

// What lies in deploy/, held to the programs and schemas that will read it.

// The schemas are of others, for other validators.
const LENIENT = { strict: false, validateFormats: false, validateSchema: false };
const CHART = join(ROOT, 'deploy/helm/tollgate');

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly annotations?: Record<string, string> };
  // biome-ignore lint/suspicious/noExplicitAny: its shape is what the Kubernetes schema checks.
  readonly spec?: any;
}

function helm(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  const document = ['--set-file', `configuration.document=${join(ROOT, 'deploy/compose/tollgate.yaml')}`];
  return spawnSync(helmProgram(), [...args, ...document], {
    encoding: 'utf8',
    env: { ...process.env, HOME: '/nonexistent' },
  });
}

function render(...values: string[]): Manifest[] {
  const { status, stdout, stderr } = helm('template', 'gate', CHART, ...values.flatMap((value) => ['--set', value]));
  assert.equal(status, 0, stderr);
  return parseAllDocuments(stdout).flatMap((document) => document.toJS() ?? []);
}

const EVERYTHING = [
  'metrics.serviceMonitor.enabled=true',
  'ingress.enabled=true',
  'ingress.hosts={api.example.com}',
  'upstreamSecrets={upstream-keys}',
  'settings.TOLLGATE_RPM=120',
  'secrets.files.REDIS_URL_FILE=redis-url',
  'serviceAccount.annotations.role=gate',
];
const LEAST = [
  'work.replicas=0',
  'metrics.enabled=false',
  'networkPolicy.enabled=false',
  'migrations.enabled=false',
  'serve.autoscaling.enabled=false',
  'serve.podDisruptionBudget.enabled=false',
  'serviceAccount.create=false',
];

test('the chart passes its own linter without a warning', () => {
  const { status, stdout } = helm('lint', '--strict', CHART);
  assert.equal(status, 0, stdout);
  assert.doesNotMatch(stdout, /WARNING|ERROR/);
});

test('every manifest of the chart is one that Kubernetes knows, with everything and with the least', async () => {
  for (const manifest of [...render(), ...render(...EVERYTHING), ...render(...LEAST)]) {
    // A resource of the Prometheus operator, whose schema is not Kubernetes' own.
    if (manifest.kind === 'ServiceMonitor') continue;
    const models = await import(toolPath(`kubernetes-models/${manifest.apiVersion}/index.js`));
    assert.doesNotThrow(() => new models[manifest.kind](manifest).validate(), manifest.kind);
  }
});

test('every container of the chart is unprivileged on a read-only file system, and its secrets are files', () => {
  const pods = render(...EVERYTHING).filter(({ kind }) => ['Deployment', 'Job'].includes(kind));
  assert.deepEqual(
    pods.map(({ metadata }) => metadata.name),
    ['gate-tollgate-serve', 'gate-tollgate-work', 'gate-tollgate-migrate'],
  );
  for (const { spec } of pods) {
    const { securityContext, containers, automountServiceAccountToken, volumes } = spec.template.spec;
    assert.deepEqual([securityContext.runAsNonRoot, securityContext.seccompProfile.type], [true, 'RuntimeDefault']);
    assert.equal(automountServiceAccountToken, false);
    assert.equal(volumes[0].secret.secretName, 'tollgate');
    for (const { securityContext: own, env } of containers) {
      assert.equal(own.readOnlyRootFilesystem, true);
      assert.equal(own.allowPrivilegeEscalation, false);
      assert.deepEqual(own.capabilities.drop, ['ALL']);
      const names = env.map(({ name }: { name: string }) => name);
      for (const secret of ['DATABASE_URL', 'REDIS_URL', 'TOLLGATE_SECRET', 'TOLLGATE_ADMIN_TOKEN']) {
        assert.ok(names.includes(`${secret}_FILE`) && !names.includes(secret), secret);
      }
    }
  }
});

test('the chart probes the routes for it, drains, and migrates before an upgrade', () => {
  const manifests = render();
  const find = (kind: string, name = 'serve') =>
    manifests.find((one) => one.kind === kind && one.metadata.name === `gate-tollgate-${name}`);
  const pod = find('Deployment')?.spec.template.spec;
  assert.equal(pod.containers[0].livenessProbe.httpGet.path, '/livez');
  assert.equal(pod.containers[0].readinessProbe.httpGet.path, '/readyz');
  assert.ok(pod.terminationGracePeriodSeconds > 30);
  assert.equal(find('Deployment')?.spec.strategy.rollingUpdate.maxUnavailable, 0);
  assert.equal(find('PodDisruptionBudget')?.spec.maxUnavailable, 1);
  assert.equal(find('HorizontalPodAutoscaler')?.spec.scaleTargetRef.name, 'gate-tollgate-serve');
  const job = find('Job', 'migrate');
  assert.equal(job?.metadata.annotations?.['helm.sh/hook'], 'pre-install,pre-upgrade');
  assert.deepEqual(job?.spec.template.spec.containers[0].args, ['migrate']);
});

test('the chart takes roles apart where there are processes that work, and puts them together where there are none', () => {
  const roles = (manifests: Manifest[]) =>
    manifests
      .filter(({ kind }) => kind === 'Deployment')
      .map(({ spec }) =>
        spec.template.spec.containers[0].env.find(({ name }: { name: string }) => name === 'TOLLGATE_ROLE'),
      )
      .map(({ value }) => value);
  assert.deepEqual(roles(render()), ['serve', 'work']);
  assert.deepEqual(roles(render(...LEAST)), ['both']);
});

test('the chart refuses a secret among settings, a misspelt value and a drain that is too short', () => {
  for (const value of ['settings.DATABASE_URL=postgres://x', 'serve.replica=3', 'terminationGracePeriodSeconds=20']) {
    const { status, stderr } = helm('template', 'gate', CHART, '--set', value);
    assert.notEqual(status, 0, value);
    assert.match(stderr, /values don't meet the specifications of the schema/);
  }
});

test('the Dockerfile has nothing that its validator complains of', async () => {
  const { validate } = await import(toolPath('dockerfile-utils/lib/main.js'));
  assert.deepEqual(validate(readFileSync(join(ROOT, 'Dockerfile'), 'utf8')), []);
});

test('compose.yaml fits the schema of the Compose specification', () => {
  const schema = JSON.parse(readFileSync(toolPath('dclint/schemas/compose.schema.json'), 'utf8'));
  const check = new Ajv(LENIENT).compile(schema);
  const compose: { services: Record<string, object> } = parse(readFileSync(join(ROOT, 'compose.yaml'), 'utf8'), {
    merge: true,
  });
  assert.ok(check(compose), JSON.stringify(check.errors, undefined, 2));
  const misspelt = { ...compose.services.postgres, imagee: 'x' };
  assert.ok(!check({ ...compose, services: { postgres: misspelt } }), 'the schema refuses what it does not know');
});

test('the bill of materials fits the schema of CycloneDX 1.6', () => {
  const schemaOf = (file: string) =>
    JSON.parse(readFileSync(toolPath(`@cyclonedx/cyclonedx-library/res/schema/${file}`), 'utf8'));
  const ajv = new Ajv(LENIENT);
  for (const name of ['spdx', 'jsf-0.82', 'cryptography-defs']) {
    const file = `${name}.SNAPSHOT.schema.json`;
    ajv.addSchema({ ...schemaOf(file), $id: `http://cyclonedx.org/schema/${file}` });
  }
  const check = ajv.compile(schemaOf('bom-1.6.SNAPSHOT.schema.json'));
  for (const packages of [[], OPTIONAL_PACKAGES]) {
    assert.ok(check(sbomOf(packages)), JSON.stringify(check.errors?.slice(0, 3)));
  }
});

test('systemd finds nothing wrong with the unit, and little that it exposes', (t) => {
  const folder = workFolder(t);
  const unit = join(folder, 'tollgate.service');
  // This tree, in place of where the unit expects an installation. A link, since its own path may have a space.
  symlinkSync(ROOT, join(folder, 'tree'));
  const text = readFileSync(join(ROOT, 'deploy/systemd/tollgate.service'), 'utf8');
  writeFileSync(unit, text.replaceAll('/opt/tollgate/', `${folder}/tree/`));
  const verified = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' });
  assert.deepEqual([verified.status, verified.stderr], [0, '']);
  const { status, stdout } = spawnSync('systemd-analyze', ['security', '--offline=true', '--threshold=20', unit], {
    encoding: 'utf8',
  });
  assert.equal(status, 0, stdout);
  assert.match(stdout, /Overall exposure level for tollgate\.service: 1\.\d OK/);
});

test('Deployment: the files of systemd are installed where they belong, and its own tools make user and folder', async (t) => {
  const DESTDIR = workFolder(t);
  const env = { ...process.env, DESTDIR, DATABASE_URL: 'postgres://gate@db/tollgate' };
  const commands = commandsRunBy('test/engines/deploy-files.test.ts', 'Deployment');
  const { code, output } = await runShell(commands, { cwd: ROOT, env });
  assert.equal(code, 0, output);
  assert.match(readFileSync(join(DESTDIR, 'etc/passwd'), 'utf8'), /^tollgate:.*:\/usr\/sbin\/nologin$/m);
  assert.equal(statSync(join(DESTDIR, 'etc/tollgate')).mode & 0o777, 0o750);
  for (const secret of ['secret', 'admin-token', 'database-url']) {
    assert.equal(statSync(join(DESTDIR, 'etc/tollgate', secret)).mode & 0o777, 0o600);
  }
});
