// Writes the schemas with which the chart and compose.yaml are checked, from the Go modules of Kubernetes, the Prometheus
// operator and the Compose Specification:
//   node test/deploy/write-schemas.ts
// It needs Go and the module proxy, and downloads 50 MB. The schemas are kept, so that tests need neither.
import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

const kubernetes = 'k8s.io/kubernetes@v1.34.2';
const operator = 'github.com/prometheus-operator/prometheus-operator@v0.85.0';
const compose = 'github.com/compose-spec/compose-go/v2@v2.16.2';
/** What the chart contains: file name of kubeconform, and name in Kubernetes' OpenAPI document. */
const kinds = {
  'configmap-v1': 'io.k8s.api.core.v1.ConfigMap',
  'deployment-apps-v1': 'io.k8s.api.apps.v1.Deployment',
  'networkpolicy-networking-v1': 'io.k8s.api.networking.v1.NetworkPolicy',
  'poddisruptionbudget-policy-v1': 'io.k8s.api.policy.v1.PodDisruptionBudget',
  'service-v1': 'io.k8s.api.core.v1.Service',
  'serviceaccount-v1': 'io.k8s.api.core.v1.ServiceAccount',
};

type Schema = { [key: string]: unknown };

const swagger: { definitions: Record<string, Schema> } = JSON.parse(
  await readFile(join(moduleFolder(kubernetes), 'api', 'openapi-spec', 'swagger.json'), 'utf8'),
);
for (const [name, definition] of Object.entries(kinds)) {
  await write(name, kubernetes, withDefinitions(definition));
}
const crd = parse(
  await readFile(
    join(moduleFolder(operator), 'example', 'prometheus-operator-crd', 'monitoring.coreos.com_servicemonitors.yaml'),
    'utf8',
  ),
);
await write('servicemonitor-monitoring-v1', operator, strict(crd.spec.versions[0].schema.openAPIV3Schema) as Schema);
await write(
  'compose',
  compose,
  JSON.parse(await readFile(join(moduleFolder(compose), 'schema', 'compose-spec.json'), 'utf8'), withoutText),
);

function moduleFolder(module: string): string {
  return JSON.parse(execFileSync('go', ['mod', 'download', '-json', module], { encoding: 'utf8' })).Dir;
}

/** A schema with all definitions that it refers to. */
function withDefinitions(name: string): Schema {
  const definitions: Record<string, Schema> = {};
  const add = (wanted: string) => {
    if (definitions[wanted]) return;
    const schema = strict(swagger.definitions[wanted]) as Schema;
    definitions[wanted] = schema;
    for (const [, next = ''] of JSON.stringify(schema).matchAll(/"#\/definitions\/([^"]+)"/g)) add(next);
  };
  add(name);
  return { $ref: `#/definitions/${name}`, definitions };
}

/** Unknown properties are mistakes, a number or text can be either, and an optional value can be null, as at the server. */
function strict(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(strict);
  if (typeof value !== 'object' || value === null) return value;
  const schema: Schema = Object.fromEntries(
    Object.entries(value)
      .filter(([key, content]) => key !== 'description' || typeof content !== 'string')
      .map(([key, content]) => [key, strict(content)]),
  );
  if (schema.format === 'int-or-string' || schema['x-kubernetes-int-or-string'] === true) {
    return { type: ['integer', 'string'] };
  }
  const isObject = typeof schema.properties === 'object' && schema.type === 'object';
  if (isObject && schema.additionalProperties === undefined) return { ...schema, additionalProperties: false };
  return schema;
}

function withoutText(key: string, value: unknown): unknown {
  return key === 'description' && typeof value === 'string' ? undefined : value;
}

async function write(name: string, source: string, schema: Schema): Promise<void> {
  const path = fileURLToPath(new URL(`schemas/${name}.json`, import.meta.url));
  const text = { $schema: 'http://json-schema.org/draft-07/schema#', $comment: `From ${source}`, ...schema };
  await writeFile(path, `${JSON.stringify(text)}\n`);
}
