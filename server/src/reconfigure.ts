import { isDeepStrictEqual } from 'node:util';
import type { ConnectorModule } from '@crossward/connector-kit';
import type { Logger } from 'pino';
import { countOpenWork, type OpenWork, type WorkPlace } from './background/open-work.ts';
import type { RefreshableClients } from './clients/client-registry.ts';
import { noteGrants } from './clients/configured-grants.ts';
import type { Configuration, ConfiguredEmr } from './config/configuration.ts';
import type { Db } from './db/kysely.ts';
import type { EhrChange, Ehrs } from './ehr/registry.ts';
import { describeError } from './log/describe-error.ts';
import { createPageAssets } from './patient-page/assets.ts';
import { ConfigurationError } from './startup/configuration-error.ts';

/** A configuration with its connectors: the built-in ones and its plug-ins. */
export interface Configured {
  readonly configuration: Configuration;
  readonly connectors: readonly ConnectorModule[];
}

/** What has changed. */
export type Changes = Pick<EhrChange, 'added' | 'reconnected' | 'removed'>;

/** The configuration cannot be used now, but later it may. */
class NotYet extends ConfigurationError {}

interface Parts {
  readonly ehrs: Ehrs;
  readonly clients: RefreshableClients;
  readonly db: Db;
  /** Those whose tables the start has created. */
  readonly migrated: readonly ConnectorModule[];
  readonly inUse: () => Configuration;
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
  async function reconfigure({ configuration, connectors }: Configured, isForced: boolean): Promise<Changes> {
    const missing = missingIn(configuration, inUse());
    if (missing.length > 0 && !isForced) assertNothingOpen(await countOpenWork(db, missing));
    const change = await ehrs.prepare(configuration.emrs, connectors);
    if (change.notOpen.length > 0 && !isForced) throw new NotYet(change.notOpen.map(notOpenText));
    change.apply();
    clients.configure(configuration);
    applied({ configuration, connectors });
    return change;
  }

  return async (next: Configured, isForced: boolean): Promise<Changes> => {
    const { configuration, connectors } = next;
    assertTables(configuration, connectors, migrated);
    await Promise.all(configuration.emrs.flatMap(({ care_units }) => care_units).map(assertLogo));
    try {
      return await reconfigure(next, isForced);
    } catch (error) {
      // A client that is revoked does not wait for an EHR.
      if (error instanceof NotYet)
        clients.configure({ emrs: inUse().emrs, clients: clientsMeanwhile(configuration, inUse()) });
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
function clientsMeanwhile(next: Configuration, former: Configuration): Configuration['clients'] {
  const going = new Set(missingIn(next, former).map(({ emr }) => emr));
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

/** The start creates tables, with all gateways of the former version still at work. */
function assertTables(
  { emrs }: Configuration,
  connectors: readonly ConnectorModule[],
  migrated: Parts['migrated'],
): void {
  const mistakes = emrs.flatMap(({ id, connector }) => {
    const module = connectors.find(({ name }) => name === connector);
    return module?.migrations === undefined || migrated.includes(module)
      ? []
      : [`EHR ${id}: the connector ${connector} is new and has tables, which the gateway creates at a restart`];
  });
  if (mistakes.length > 0) throw new ConfigurationError(mistakes);
}

async function assertLogo({ patient_page, policies }: ConfiguredEmr['care_units'][number]): Promise<void> {
  if (patient_page.logo_file !== undefined) await createPageAssets(patient_page, policies.code.length);
}

/**
 * EHRs, and care units of the others, that are in use and not in the configuration. An id that now stands for another server or
 * institution is one of them: the new one would not know what is open in the former one, and a write would be made again there.
 */
function missingIn({ emrs }: Configuration, inUse: Configuration): WorkPlace[] {
  return inUse.emrs.flatMap((former): WorkPlace[] => {
    const { id } = former;
    const next = emrs.find((emr) => emr.id === id);
    if (!next || !isDeepStrictEqual(serverOf(next), serverOf(former))) return [{ emr: id, careUnit: null }];
    const kept = new Map(next.care_units.map((careUnit) => [careUnit.id, placeOf(careUnit)]));
    return former.care_units.flatMap((careUnit) =>
      isDeepStrictEqual(kept.get(careUnit.id), placeOf(careUnit)) ? [] : { emr: id, careUnit: careUnit.id },
    );
  });
}

/** The connector, and the address and database that its settings name. */
function serverOf({ connector, settings }: ConfiguredEmr): readonly unknown[] {
  const { base_url, provider_url, url, database } = settings as Readonly<Record<string, unknown>>;
  return [connector, base_url, provider_url, url, database];
}

/** What names the institution in the EHR. Lists and mappings say what can be booked there. */
function placeOf({ settings = {} }: ConfiguredEmr['care_units'][number]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => typeof value !== 'object'));
}

function assertNothingOpen(open: readonly OpenWork[]): void {
  if (open.length > 0) throw new NotYet(open.map(openText));
}

function openText({ emr, careUnit, writes, codes, holds }: OpenWork): string {
  const counts = [
    [writes, 'write', 'writes'],
    [codes, 'code', 'codes'],
    [holds, 'hold', 'holds'],
  ] as const;
  const words = counts.flatMap(([count, one, many]) => (count > 0 ? [`${count} ${count === 1 ? one : many}`] : []));
  const place = careUnit === null ? `EHR ${emr}:` : `EHR ${emr}: the care unit ${careUnit}`;
  return `${place} is neither removed nor moved to another server or institution while something is open there (${words.join(', ')}); \`crossward reload --force\` leaves that to operators`;
}

function notOpenText({ emr, detail }: EhrChange['notOpen'][number]): string {
  const cause = detail === undefined ? '' : ` (${detail})`;
  return `EHR ${emr}: does not answer with its new settings${cause}; the former connection goes on; \`crossward reload --force\` replaces it`;
}
