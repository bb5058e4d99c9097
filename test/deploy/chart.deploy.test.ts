import { execFile, execFileSync } from 'node:child_process';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, inject, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { longestRequestSeconds } from './stop-times.ts';
import { require, toolsEnvironment, whatIsMissing } from './tools.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const chart = join(root, 'deploy', 'helm', 'crossward');
const example = join(root, 'deploy', 'helm', 'example-values.yaml');
/** Helm that was built without the version of a release assumes an old Kubernetes. */
const kubeVersion = ['--kube-version', '1.34.2'];
const missing = whatIsMissing('helm', 'kubeconform');
beforeEach((context) => require(missing, context));

interface Probe {
  readonly httpGet: object;
}

interface Container {
  readonly env: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: object }[];
  readonly ports: readonly { readonly name: string }[];
  readonly securityContext: object;
  readonly startupProbe: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
}

interface Rule {
  readonly from: readonly object[];
  readonly to: readonly object[];
  readonly ports: readonly { readonly port: string | number }[];
}

/** What the tests read of the chart's resources. */
interface Resource {
  readonly kind: string;
  readonly metadata: { readonly labels: Readonly<Record<string, string>> };
  readonly data: Readonly<Record<string, string>>;
  readonly spec: {
    readonly template: {
      readonly metadata: { readonly annotations: Readonly<Record<string, string>> };
      readonly spec: { readonly containers: readonly Container[] };
    };
    readonly policyTypes: readonly string[];
    readonly ingress: readonly Rule[];
    readonly egress: readonly Rule[];
    readonly ports: readonly { readonly name: string }[];
    readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
    readonly endpoints: readonly {
      readonly port: string;
      readonly relabelings: readonly { readonly targetLabel: string; readonly replacement: string }[];
    }[];
  };
}

const helm = async (...words: readonly string[]) => (await run('helm', words, { env: toolsEnvironment })).stdout;

const render = (...words: readonly string[]) => renderAs('crossward', ...words);

async function renderAs(release: string, ...words: readonly string[]): Promise<readonly Resource[]> {
  const text = await helm('template', release, chart, ...kubeVersion, '-f', example, ...words);
  return parseAllDocuments(text).map((document) => document.toJS());
}

const refusal = (...words: readonly string[]) =>
  render(...words).then(
    () => 'rendered',
    ({ stderr }: { stderr: string }) => stderr,
  );

function find(resources: readonly Resource[], kind: string): Resource {
  const found = resources.find((resource) => resource.kind === kind);
  if (!found) throw new Error(`The chart has no ${kind}.`);
  return found;
}

function containerOf(resources: readonly Resource[]): Container {
  const [container, ...others] = find(resources, 'Deployment').spec.template.spec.containers;
  if (!container || others.length > 0) throw new Error('The pod does not have one container.');
  return container;
}

describe('the chart', () => {
  test('is accepted by helm lint', async () => {
    expect(await helm('lint', '--strict', chart, '-f', example)).toContain('0 chart(s) failed');
  });

  test.each([
    ['the example', []],
    [
      'all that can be turned on',
      [
        ...['--set', 'secret.previousSecretKeysKey=previous,networkPolicy.others[0].cidr=192.0.2.20/32'],
        ...['--set', 'networkPolicy.others[0].port=587,secretFiles[0].name=tls,secretFiles[0].secret=ehr-tls'],
        ...['--set', 'env.LOG_LEVEL=warn,imagePullSecrets[0].name=registry,nodeSelector.disk=ssd'],
        ...['--set', 'podAnnotations.team=care,podLabels.team=care,serviceMonitor.labels.release=prometheus'],
        ...['--set', 'serviceAccount.annotations.team=care,tolerations[0].key=care,tolerations[0].operator=Exists'],
      ],
    ],
    [
      'all that can be turned off',
      [
        '--set',
        'networkPolicy.enabled=false,serviceMonitor.enabled=false,podDisruptionBudget.enabled=false,drainSeconds=0',
      ],
    ],
  ])('with %s, Kubernetes and the Prometheus operator know every field', async (_, words) => {
    const text = await helm('template', 'crossward', chart, ...kubeVersion, '-f', example, ...words);
    const folder = await mkdtemp(join(inject('runFolder'), 'chart-'));
    await writeFile(join(folder, 'all.yaml'), text);
    const { stdout } = await check(join(folder, 'all.yaml'));
    expect(JSON.parse(stdout).summary).toMatchObject({ invalid: 0, errors: 0, skipped: 0 });
  });

  test('a field that Kubernetes does not know is found', async () => {
    const text = await helm('template', 'crossward', chart, ...kubeVersion, '-f', example);
    const folder = await mkdtemp(join(inject('runFolder'), 'chart-'));
    await writeFile(join(folder, 'all.yaml'), text.replace('readOnlyRootFilesystem', 'readOnlyRootFileSystem'));
    await expect(check(join(folder, 'all.yaml'))).rejects.toMatchObject({
      stdout: expect.stringContaining('readOnlyRootFileSystem'),
    });
  });

  test('a pod has no rights: no root, no capability, no writable file, no token', async () => {
    const resources = await render();
    expect(find(resources, 'Deployment').spec.template.spec).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: 'RuntimeDefault' } },
    });
    expect(containerOf(resources).securityContext).toEqual({
      allowPrivilegeEscalation: false,
      privileged: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  });

  test('secrets are references alone', async () => {
    const resources = await render();
    const secrets = containerOf(resources).env.filter(({ name }) => /URL|SECRET/.test(name));
    expect(secrets).toEqual([
      { name: 'DATABASE_URL', valueFrom: { secretKeyRef: { name: 'crossward', key: 'database-url' } } },
      { name: 'CROSSWARD_SECRET_KEY', valueFrom: { secretKeyRef: { name: 'crossward', key: 'secret-key' } } },
      { name: 'BOOKING_APP_SECRET', valueFrom: { secretKeyRef: { name: 'crossward-clients', key: 'booking-app' } } },
    ]);
    expect(resources.map(({ kind }) => kind)).not.toContain('Secret');
  });

  test('the network policy denies all but callers, Prometheus, names, the database and the EHRs', async () => {
    const spec = find(await render(), 'NetworkPolicy').spec;
    expect(spec.policyTypes).toEqual(['Ingress', 'Egress']);
    expect(spec.ingress.map(({ ports }) => ports[0]?.port)).toEqual(['http', 'operations']);
    expect(spec.ingress.every(({ from }) => from.length > 0)).toBe(true);
    expect(spec.egress.map(({ ports }) => ports[0]?.port)).toEqual([53, 5432, 443]);
    expect(spec.egress.slice(1).map(({ to }) => to)).toEqual([
      [{ ipBlock: { cidr: '10.20.0.10/32' } }],
      [{ ipBlock: { cidr: '192.0.2.10/32' } }],
    ]);
  });

  test('probes and Prometheus use ports that exist, which no ingress reaches', async () => {
    const resources = await render();
    const container = containerOf(resources);
    const probes = [container.startupProbe, container.livenessProbe, container.readinessProbe];
    expect(probes.map(({ httpGet }) => httpGet)).toEqual([
      { path: '/health/live', port: 'operations' },
      { path: '/health/live', port: 'operations' },
      { path: '/health/ready', port: 'operations' },
    ]);
    expect(container.ports.map(({ name }) => name)).toEqual(['http', 'operations']);
    const monitor = find(resources, 'ServiceMonitor').spec;
    const services = resources.filter(({ kind }) => kind === 'Service');
    const seen = services.filter(({ metadata }) =>
      Object.entries(monitor.selector.matchLabels).every(([label, value]) => metadata.labels[label] === value),
    );
    expect(seen.map(({ spec }) => spec.ports.map(({ name }) => name))).toEqual([['operations']]);
    expect(monitor.endpoints).toMatchObject([{ port: 'operations' }]);
  });

  test('the alert rules know the gateways of a release with any name, each release as a job of its own', async (context) => {
    require(whatIsMissing('promtool'), context);
    const jobs = await Promise.all(
      [
        ['crossward', '--namespace', 'clinic'],
        ['booking', '--namespace', 'clinic'],
        ['booking', '--namespace', 'hospital'],
      ].map(async ([release = '', ...words]) => {
        const [endpoint] = find(await renderAs(release, ...words), 'ServiceMonitor').spec.endpoints;
        return endpoint?.relabelings.find(({ targetLabel }) => targetLabel === 'job')?.replacement ?? '';
      }),
    );
    expect(new Set(jobs).size).toBe(3);
    const alerts = (name: string, summary: (instance: string) => string, runbook: string) => ({
      eval_time: '10m',
      alertname: name,
      exp_alerts: jobs.map((job, index) => ({
        exp_labels: { severity: 'critical', job, instance: `pod-${index}` },
        exp_annotations: { summary: summary(`pod-${index}`), runbook_url: `docs/runbooks.md#${runbook}` },
      })),
    });
    const series = (up: number) =>
      jobs.map((job, index) => ({ series: `up{job="${job}", instance="pod-${index}"}`, values: `${up}x20` }));
    const down = alerts('CrosswardDown', (it) => `Gateway ${it} does not respond`, 'crosswarddown');
    const silent = alerts(
      'CrosswardDatabaseSilent',
      (it) => `The database does not respond to ${it}`,
      'crosswarddatabasesilent',
    );
    const present = { eval_time: '10m', alertname: 'CrosswardAbsent', exp_alerts: [] };
    const file = join(await mkdtemp(join(inject('runFolder'), 'chart-')), 'rules.json');
    await writeFile(
      file,
      JSON.stringify({
        rule_files: [join(root, 'deploy/prometheus/alerts.yaml')],
        tests: [
          { interval: '1m', input_series: series(0), alert_rule_test: [down, present] },
          { interval: '1m', input_series: series(1), alert_rule_test: [silent, present] },
        ],
      }),
    );
    const { stdout } = await run('promtool', ['test', 'rules', file]);
    expect(stdout).toContain('SUCCESS');
  });

  test('the configuration arrives as it was written, and the gateway accepts it', async () => {
    const data = find(await render('--set', 'config.documents.max_bytes=104857600'), 'ConfigMap').data;
    const written = parse(await readFile(example, 'utf8')).config;
    expect(parse(data['crossward.yaml'] ?? '')).toEqual({
      ...written,
      documents: { max_bytes: 104857600 },
      http: { ...written.http, operations_port: 9090, drain_seconds: 5 },
    });
    const folder = await mkdtemp(join(inject('runFolder'), 'chart-'));
    await writeFile(join(folder, 'crossward.yaml'), data['crossward.yaml'] ?? '');
    const { env } = containerOf(await render());
    const key = Buffer.alloc(32, 1).toString('base64');
    const variables = env.map(({ name, value }) => [
      name,
      value ?? (name === 'DATABASE_URL' ? 'postgres://db/x' : key),
    ]);
    const output = execFileSync(process.execPath, [join(root, 'server/src/cli/crossward.js'), 'config', 'check'], {
      env: { ...Object.fromEntries(variables), CROSSWARD_CONFIG: join(folder, 'crossward.yaml') },
      encoding: 'utf8',
    });
    expect(output).not.toMatch(/problem/);
  });

  test('a pod has time for its drain and its longest request', async () => {
    const values = parse(await readFile(join(chart, 'values.yaml'), 'utf8'));
    expect(values.terminationGracePeriodSeconds).toBeGreaterThan(values.drainSeconds + longestRequestSeconds);
    expect(find(await render(), 'Deployment').spec.template.spec).toMatchObject({ terminationGracePeriodSeconds: 90 });
    expect(await refusal('--set', 'drainSeconds=90')).toContain('must be longer than drainSeconds');
  });

  test('other settings start new pods, and EHRs, clients and replicas none', async () => {
    const checksum = async (...words: string[]) =>
      find(await render(...words), 'Deployment').spec.template.metadata.annotations['checksum/config'];
    expect(await checksum()).toBe(await checksum('--set', 'replicas=3'));
    expect(await checksum()).toBe(await checksum('--set', 'config.emrs[0].name=Other,config.clients[0].name=Other'));
    expect(await checksum()).not.toBe(await checksum('--set', 'config.limits.requests_per_minute=60'));
  });

  test.each([
    ['no image', 'image.repository=', 'repository'],
    ['no Secret', 'secret.name=', 'name'],
    ['a misspelled value', 'replica=3', 'replica'],
    ['an EHR at every address', 'networkPolicy.ehrs[0].cidr=0.0.0.0/0', 'cidr'],
    ['a policy without a database', 'networkPolicy.database=null', 'database'],
    ['a port of its own for health', 'config.http.operations_port=9191', 'http'],
    ['a drain of its own', 'config.http.drain_seconds=9', 'http'],
    ['workers', 'env.CROSSWARD_WORKERS=2', 'env'],
    ['no EHR', 'config.emrs=null', 'emrs'],
  ])('%s is refused, with the name of the value', async (_, value, name) => {
    const text = await refusal('--set', value);
    expect(text).toMatch(/don't meet the specifications of the schema/);
    expect(text).toContain(name);
  });
});

function check(path: string) {
  const location = join(root, 'test', 'deploy', 'schemas', '{{.ResourceKind}}{{.KindSuffix}}.json');
  const words = ['-strict', '-summary', '-output', 'json', '-schema-location', location, path];
  return run('kubeconform', words, { env: toolsEnvironment });
}
