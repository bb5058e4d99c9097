import type { ConnectorModule } from '@crossward/connector-kit';
import type { Configuration, ConfiguredEmr } from '../../config/configuration.ts';
import type { Database } from '../../db/database.ts';
import { createDb } from '../../db/kysely.ts';
import { checkConnection, type EmrCheck, connectionFindings as findingsIn } from '../../ehr/check-connection.ts';
import { type Pause, readPauses } from '../../ehr/pauses.ts';
import { ConfigurationError } from '../../startup/configuration-error.ts';
import type { RunningGateway } from './check-gateway.ts';
import { type Finding, findingsOf } from './finding.ts';

interface Around {
  readonly connectors: readonly ConnectorModule[];
  /** Absent: it cannot be opened here, or lacks migrations. */
  readonly database?: Database | undefined;
  readonly running?: RunningGateway | undefined;
}

const found = findingsOf('EHRs');

/** Connects to each EHR that is not paused, with connections of its own. Changes nothing in them. */
export async function checkEmrs({ emrs }: Configuration, around: Around): Promise<Finding[]> {
  const pauses = await pausesIn(around);
  return (
    await Promise.all(
      emrs.map((emr) => {
        const pause = pauses.get(emr.id);
        return pause === undefined ? checkEmr(emr, around) : [found(emr.id, 'warning', pause)];
      }),
    )
  ).flat();
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
