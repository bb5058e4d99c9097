import type { ConnectorModule } from '@crossward/connector-kit';
import type { Logger } from 'pino';
import type { RefreshableClients } from './clients/client-registry.ts';
import { noteGrants } from './clients/configured-grants.ts';
import type { Configuration, ConfiguredEmr } from './config/configuration.ts';
import type { Db } from './db/kysely.ts';
import type { EhrChange, Ehrs } from './ehr/registry.ts';
import { describeError } from './log/describe-error.ts';
import { createPageAssets } from './patient-page/assets.ts';
import { ConfigurationError } from './startup/configuration-error.ts';
import {
  countOpenWork,
  lostPlaces,
  type OpenWork,
  openWorkText,
  type WorkPlace,
} from './unfinished-writes/open-work.ts';

/** A configuration with its connectors: the built-in ones and its plug-ins. */
export interface Configured {
  readonly configuration: Configuration;
  readonly connectors: readonly ConnectorModule[];
  /** Ids of the EHRs that operators manage. Absent: none. */
  readonly stored?: ReadonlySet<string>;
}

/** What has changed. */
export type Changes = Pick<EhrChange, 'added' | 'reconnected' | 'removed' | 'unused' | 'isOpening'>;

/** The configuration cannot be used now, but later it may. */
class NotYet extends ConfigurationError {}

interface Parts {
  readonly ehrs: Ehrs;
  readonly clients: RefreshableClients;
  readonly db: Db;
  /** Those whose tables the start has created. */
  readonly migrated: readonly ConnectorModule[];
  readonly inUse: () => Configured;
  /** Called with what is in use from now on. */
  readonly applied: (configured: Configured) => void;
  readonly log: Logger;
}

/**
 * Returns what makes the gateway use the EHRs and clients of another configuration. What runs goes on with the former ones.
 *
 * It throws a ConfigurationError, and nothing has changed, if a connector cannot be opened because of a mistake; a `NotYet`, unless
 * it is forced, if an EHR or care unit with open work is missing, or the new connection to one cannot be opened. The clients of
 * the configuration are used then, too.
 */
export function createReconfigure({ ehrs, clients, db, migrated, inUse, applied, log }: Parts) {
  /** The clients of a file that is not used yet. They do not wait for its EHRs. */
  let meanwhile: Configuration['clients'] | undefined;

  async function reconfigure({ configuration, connectors, stored }: Configured, isForced: boolean): Promise<Changes> {
    const missing = missingIn(configuration, inUse());
    if (missing.length > 0 && !isForced) assertNothingOpen(await countOpenWork(db, missing));
    const change = await ehrs.prepare(configuration.emrs, connectors, stored);
    if (change.notOpen.length > 0 && !isForced) throw new NotYet(change.notOpen.map(notOpenText));
    change.apply();
    const used = { ...configuration, emrs: change.emrs };
    clients.configure({ emrs: change.emrs, clients: meanwhile ?? configuration.clients });
    applied({ configuration: used, connectors, ...(stored && { stored }) });
    return change;
  }

  return async (next: Configured, isForced: boolean, isSameFile = false): Promise<Changes> => {
    const { configuration, connectors, stored } = next;
    for (const emr of configuration.emrs.filter(({ id }) => !stored?.has(id)))
      await assertUsable(emr, connectors, migrated);
    const before = meanwhile;
    if (!isSameFile) meanwhile = undefined;
    try {
      return await reconfigure(next, isForced);
    } catch (error) {
      meanwhile = before;
      // A client that is revoked does not wait for an EHR.
      if (error instanceof NotYet && !isSameFile) {
        meanwhile = clientsMeanwhile(configuration, inUse());
        clients.configure({ emrs: inUse().configuration.emrs, clients: meanwhile });
      }
      throw error;
    } finally {
      await noteGrants(db, clients.configured()).catch((error) =>
        log.warn({ cause: describeError(error) }, 'noting the grants of the configuration failed, will retry'),
      );
    }
  };
}

/**
 * The clients of the next configuration while the EHRs of the former one are in use. Whoever has work open in a place that is to go
 * can end it.
 */
function clientsMeanwhile(next: Configuration, inUse: Configured): Configuration['clients'] {
  const former = inUse.configuration;
  const going = new Set(missingIn(next, inUse).map(({ emr }) => emr));
  const staying = new Set(former.emrs.map(({ id }) => id).filter((id) => !going.has(id)));
  return next.clients.map((client) => {
    const before = former.clients.find(({ id }) => id === client.id)?.grants ?? [];
    const grants = [
      ...client.grants.filter(({ emr }) => staying.has(emr)),
      ...before.filter(({ emr }) => going.has(emr)),
    ];
    return { ...client, grants };
  });
}

/**
 * The start creates tables, with all gateways of the former version still at work.
 *
 * @throws {ConfigurationError} if the EHR cannot be used before a restart, or has a logo that cannot be shown
 */
export async function assertUsable(
  { id, connector, care_units }: ConfiguredEmr,
  connectors: readonly ConnectorModule[],
  migrated: Parts['migrated'],
): Promise<void> {
  const module = connectors.find(({ name }) => name === connector);
  if (module?.migrations !== undefined && !migrated.includes(module)) {
    throw new ConfigurationError([
      `EHR ${id}: the connector ${connector} is new and has tables, which the gateway creates at a restart`,
    ]);
  }
  await Promise.all(care_units.map(assertLogo));
}

async function assertLogo({ patient_page, policies }: ConfiguredEmr['care_units'][number]): Promise<void> {
  if (patient_page.logo_file !== undefined) await createPageAssets(patient_page, policies.code.length);
}

/** EHRs of the file, and care units of them, that are in use and not in the configuration. Commands have counted for stored ones. */
function missingIn({ emrs }: Configuration, inUse: Configured): WorkPlace[] {
  return inUse.configuration.emrs
    .filter(({ id }) => !inUse.stored?.has(id))
    .flatMap((former) =>
      lostPlaces(
        former,
        emrs.find(({ id }) => id === former.id),
      ),
    );
}

function assertNothingOpen(open: readonly OpenWork[]): void {
  if (open.length > 0)
    throw new NotYet(open.map((it) => `${openWorkText(it)}; \`crossward reload --force\` leaves that to operators`));
}

function notOpenText({ emr, detail }: EhrChange['notOpen'][number]): string {
  const cause = detail === undefined ? '' : ` (${detail})`;
  return `EHR ${emr}: does not answer with its new settings${cause}; the former connection goes on; \`crossward reload --force\` replaces it`;
}
