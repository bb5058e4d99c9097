import type { ConnectorModule } from '@crossward/connector-kit';
import type { Configuration, ConfiguredEmr } from '../../config/configuration.ts';
import type { Environment } from '../../config/environment/environment.ts';
import type { Database } from '../../db/database.ts';
import { createDb } from '../../db/kysely.ts';
import { checkConnection, type EmrCheck, connectionFindings as findingsIn } from '../../ehr/check-connection.ts';
import { type Pause, readPauses } from '../../ehr/pauses.ts';
import { readStoredEmrs } from '../../ehr/stored/stored-emrs.ts';
import { createKeyRing } from '../../secrets/key-ring.ts';
import { ConfigurationError } from '../../startup/configuration-error.ts';
import { withStored } from '../../stored-emrs.ts';
import type { RunningGateway } from './check-gateway.ts';
import { readKeys } from './check-secret-key.ts';
import { type Finding, findingsOf } from './finding.ts';

interface Around {
  readonly environment: Environment;
  readonly connectors: readonly ConnectorModule[];
  /** Absent: it cannot be opened here, or lacks migrations. */
  readonly database?: Database | undefined;
  readonly running?: RunningGateway | undefined;
}

const found = findingsOf('EHRs');

/** Connects to each EHR that is not paused, with connections of its own. Changes nothing in them. */
export async function checkEmrs(configuration: Configuration, around: Around): Promise<Finding[]> {
  const pauses = await pausesIn(around);
  const { emrs, findings } = await withStoredOnes(configuration, around);
  const checked = await Promise.all(
    emrs.map((emr) => {
      const pause = pauses.get(emr.id);
      return pause === undefined ? checkEmr(emr, around) : [found(emr.id, 'warning', pause)];
    }),
  );
  return [...checked.flat(), ...findings];
}

/** The EHRs of the configuration and the open ones of the database, and which of these no gateway can use. */
async function withStoredOnes(configuration: Configuration, { connectors, database, environment }: Around) {
  const none = { emrs: configuration.emrs, findings: [] };
  if (!database) return none;
  // What is wrong with the keys is a finding about them.
  const keys = await readKeys(environment)
    .then((it) => it.keys)
    .catch(() => undefined);
  if (!keys) return none;
  const stored = await readStoredEmrs(createDb(database), createKeyRing(keys));
  const { configured, unused } = await withStored({ configuration, connectors }, stored.emrs, connectors);
  const findings = unused.map(({ emr, text }) =>
    found(emr, 'problem', `is stored in the database, and cannot be used: ${text}`),
  );
  return { emrs: configured.configuration.emrs, findings };
}

/** The pauses in words, by the id of the EHR. The running gateway knows which there are. */
async function pausesIn({ database, running }: Around): Promise<ReadonlyMap<string, string>> {
  if (!database) return new Map((running?.paused ?? []).map((id) => [id, 'operators have paused it: not checked']));
  const pauses = await readPauses(createDb(database));
  return new Map(pauses.map(({ emr, ...pause }) => [emr, inWords(pause)]));
}

function inWords({ since, until }: Pause): string {
  const end = until === null ? 'until `crossward emr resume`' : `until ${until.toISOString()}`;
  return `operators have paused it since ${since.toISOString()}, ${end}: not checked`;
}

async function checkEmr(emr: ConfiguredEmr, { connectors, database, running }: Around): Promise<Finding[]> {
  const module = connectors.find(({ name }) => name === emr.connector);
  if (!module) return [];
  if (module.migrations && !database) return [inDatabase(emr, running)];
  try {
    return reportOf(await checkConnection({ emr, module }, database?.pool));
  } catch (error) {
    if (error instanceof ConfigurationError) return [found(emr.id, 'problem', error.message)];
    throw error;
  }
}

/** The EHR is in the database that only the running gateway can use. */
function inDatabase({ id, connector }: ConfiguredEmr, running: RunningGateway | undefined): Finding {
  if (!running) return found(id, 'unchecked', `needs the database: the connector ${connector} keeps its data there`);
  return running.notOpen.includes(id)
    ? found(id, 'problem', 'the running gateway could not open it since its start')
    : found(id, 'ok', 'the running gateway has opened it');
}

/** Each cause once. */
function reportOf(check: EmrCheck): Finding[] {
  const { emr, connector, probe, claims, error } = check;
  const findings = findingsIn(check)
    .filter(({ status }) => status === 'problem' || status === 'warning')
    .map(({ name, status, detail }) => found(emr, status === 'problem' ? 'problem' : 'warning', `${name}: ${detail}`));
  if (claims === null) {
    const cause = (error ?? '').replace(/^\w+: /, '');
    const others = findings.filter(({ text }) => !text.toLowerCase().includes(cause.toLowerCase()));
    return [found(emr, 'problem', `cannot be opened: ${cause}`), ...others];
  }
  if (findings.some(({ status }) => status === 'problem')) return findings;
  const recommended = Object.keys(probe?.recommendedSettings ?? {});
  const hint =
    recommended.length === 0 ? '' : `; \`emr check --emr ${emr}\` recommends settings: ${recommended.join(', ')}`;
  return [found(emr, 'ok', `${connector} is open, with ${claims.operations.length} operations${hint}`), ...findings];
}
