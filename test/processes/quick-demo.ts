import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hashSecret } from '../../server/src/config/configuration.ts';
import { demoConfigurationPath } from '../../server/src/config/file/demo.ts';
import { parseYaml } from '../../server/src/config/file/yaml-file.ts';
import { scopes } from '../../server/src/config/schema/schema.ts';
import type { ChildSetup } from './child-gateway.ts';

/** Short limits: a lease expires after nine seconds, and a write that the EHR does not show soon counts as not made. */
const quick = {
  timeout_ms: 2_000,
  queue_timeout_ms: 2_000,
  settling_seconds: 2,
  changes_seconds: 1,
  // The simulated EHRs report on their own that they are unavailable.
  breaker: { failures: 1_000 },
};

interface Ehr {
  readonly id: string;
  readonly policies?: object;
}

/** Codes and holds outlast a test, however slow the machine is. */
const lasting = { code: { lifetime_seconds: 3_600 } };

/**
 * Writes a configuration file with the demo's EHRs, short limits and lasting codes, for tests that kill gateways.
 *
 * @param moreEhrs makes further EHRs from those of the demo
 * @param connection limits in place of the short ones
 */
export async function writeQuickDemo(
  folder: string,
  more: { readonly http?: object; readonly [setting: string]: unknown } = {},
  moreEhrs: (ehrs: readonly Ehr[]) => readonly Ehr[] = () => [],
  connection: object = quick,
): Promise<ChildSetup> {
  const client = { id: 'demo', secret: randomBytes(32).toString('base64url') };
  const file = parseYaml(await readFile(demoConfigurationPath, 'utf8'));
  if ('mistakes' in file) throw new Error('The configuration of the demo cannot be read');
  const demo = file.value as { readonly emrs: readonly Ehr[] };
  const emrs = [...demo.emrs, ...moreEhrs(demo.emrs)];
  const grants = emrs.map(({ id }) => ({ emr: id }));
  const configuration = {
    ...demo,
    emrs: emrs.map((emr) => ({ ...emr, connection, policies: { ...emr.policies, ...lasting } })),
    clients: [{ id: client.id, name: 'Demo', secrets: [{ sha256: hashSecret(client.secret) }], scopes, grants }],
    ...more,
    http: { drain_seconds: 0, ...more.http },
  };
  const path = join(folder, 'quick-demo.yaml');
  await writeFile(path, JSON.stringify(configuration));
  return {
    client,
    variables: { CROSSWARD_CONFIG: path, CROSSWARD_SECRET_KEY: randomBytes(32).toString('base64') },
  };
}
