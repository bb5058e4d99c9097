import type { Database } from '../../db/database.ts';
import { checkAuditExport } from './check-audit-export.ts';
import { checkDatabase, failed } from './check-database.ts';
import { checkEmrs } from './check-emrs.ts';
import { checkGateway } from './check-gateway.ts';
import { checkMessages } from './check-messages.ts';
import { checkPublicAddresses } from './check-public-addresses.ts';
import { checkSecretKey } from './check-secret-key.ts';
import { checkWebhooks } from './check-webhooks.ts';
import { type Area, type Finding, findingsOf } from './finding.ts';
import { readSetup, type Setup } from './setup.ts';

interface Wanted {
  /** Path of the configuration file. Default: that of `CROSSWARD_CONFIG`, otherwise the demo. */
  readonly config: string | undefined;
  /** The areas to check. What these need of others is looked up all the same. */
  readonly wanted: readonly Area[];
  /** Whether it is a problem if no gateway runs. */
  readonly mustRun: boolean;
}

/** Checks what a gateway with this setup needs. Starts none, and changes nothing. */
export async function runChecks({ config, wanted, mustRun }: Wanted): Promise<Finding[]> {
  const findings = await inOrder(await readSetup(config), wanted, mustRun);
  // A mistake in the setup is the cause of what could not be checked.
  return findings.filter(
    ({ area, status }) => wanted.includes(area) || (area === 'configuration' && status === 'problem'),
  );
}

async function inOrder(setup: Setup, wanted: readonly Area[], mustRun: boolean): Promise<Finding[]> {
  const { environment, configuration, connectors } = setup;
  const wants = (...areas: Area[]) => areas.some((area) => wanted.includes(area));
  if (!environment) return [...setup.findings, ...unchecked(wanted, 'an environment variable has a mistake')];
  if (!wants('gateway', 'database', 'secret key', 'EHRs', 'messages', 'public addresses')) return [...setup.findings];

  const gateway = await checkGateway(environment, configuration, mustRun);
  const found = [...setup.findings, ...gateway.findings];
  const checked = await checkDatabase(environment, connectors, gateway.running);
  try {
    found.push(...checked.findings);
    if (wants('secret key')) found.push(...(await unlessFailing(checkSecretKey(environment, checked))));
    if (!configuration) {
      return [...found, ...unchecked(['EHRs', 'messages', 'public addresses'], 'the configuration has a mistake')];
    }
    const database: Database | undefined = checked.isMigrated ? checked.database : undefined;
    const others = await Promise.all(
      [
        wants('database') && database ? checkAuditExport(configuration, database) : [],
        wants('EHRs') ? checkEmrs(configuration, { environment, connectors, database, running: gateway.running }) : [],
        wants('messages') ? checkMessages(configuration, database) : [],
        wants('messages') && database ? checkWebhooks(database) : [],
        wants('public addresses') ? checkPublicAddresses(configuration, gateway.running) : [],
      ].map(unlessFailing),
    );
    return [...found, ...others.flat()];
  } finally {
    await checked.database?.close();
  }
}

/** What a check finds, or that the database fails it. */
async function unlessFailing(findings: Finding[] | Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await findings;
  } catch (error) {
    return [failed(error)];
  }
}

function unchecked(areas: readonly Area[], why: string): Finding[] {
  return areas.filter((area) => area !== 'configuration').map((area) => findingsOf(area)('all', 'unchecked', why));
}
