import type { ConnectorModule } from '@crossward/connector-kit';
import type { Configuration, ConfiguredEmr, EmrInFile } from './config/configuration.ts';
import { isMapping } from './config/mistakes/mistake.ts';
import { configuredEmr, emrMistakes, emrMistakeText, secretNames } from './config/one-emr.ts';
import type { UnusedEmr } from './ehr/registry.ts';
import type { StoredEmr } from './ehr/stored/stored-emrs.ts';
import { assertUsable, type Configured } from './reconfigure.ts';
import { ConfigurationError } from './startup/configuration-error.ts';
import { lostPlaces } from './unfinished-writes/open-work.ts';

/** A configuration with the stored EHRs that can be used, and why the others cannot. */
export interface WithStored {
  readonly configured: Configured & { readonly stored: ReadonlySet<string> };
  readonly unused: readonly UnusedEmr[];
  readonly known: KnownEmrs;
}

/** Stored EHRs in use, by id. */
export type KnownEmrs = ReadonlyMap<string, KnownEmr>;

interface KnownEmr {
  readonly version: string;
  /** Beside which it was looked for mistakes. */
  readonly file: Configuration;
  readonly emr: ConfiguredEmr;
}

/**
 * Adds the stored EHRs to those of the file. Drafts are left out. One that this gateway cannot use hides no other: if its row
 * still means the same place, its former settings stay in use, otherwise it is left out.
 *
 * @param migrated the connectors whose tables the start has created
 * @param before those in use until now
 */
export async function withStored(
  { configuration, connectors }: Configured,
  emrs: readonly StoredEmr[],
  migrated: readonly ConnectorModule[],
  before: KnownEmrs = new Map(),
): Promise<WithStored> {
  const known = new Map<string, KnownEmr>();
  const unused: UnusedEmr[] = [];
  for (const stored of emrs.filter(({ isOpen }) => isOpen)) {
    const { id, version, secrets } = stored;
    const former = before.get(id);
    const isAsBefore = secrets && former?.version === version && former.file === configuration;
    try {
      const emr = isAsBefore ? former.emr : await usableEmr(stored, { configuration, connectors }, migrated);
      known.set(id, { version, file: configuration, emr });
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      const staysInUse = former && mayStayInUse(former.emr, stored, { configuration, connectors });
      if (staysInUse) known.set(id, former);
      const mistakes = [...error.mistakes, ...(staysInUse ? ['its former settings stay in use'] : [])];
      unused.push({ emr: id, text: mistakes.join('; ') });
    }
  }
  const usable = [...known.values()].map(({ emr }) => emr);
  const merged = { ...configuration, emrs: [...configuration.emrs, ...usable] };
  return { configured: { configuration: merged, connectors, stored: new Set(known.keys()) }, unused, known };
}

/** Whether the former settings mean the same server and care units as a row that cannot be used. */
function mayStayInUse(former: ConfiguredEmr, { definition }: StoredEmr, { configuration, connectors }: Configured) {
  const units = isMapping(definition) ? definition.care_units : undefined;
  const isReadable = Array.isArray(units) && units.every((unit) => isMapping(unit) && typeof unit.id === 'string');
  return (
    isReadable &&
    lostPlaces(former, definition as EmrInFile).length === 0 &&
    connectors.some(({ name }) => name === former.connector) &&
    !configuration.emrs.some(({ id }) => id === former.id)
  );
}

/** @throws {ConfigurationError} with why it cannot be used, never with a secret */
async function usableEmr(
  { id, definition, secrets }: StoredEmr,
  { configuration, connectors }: Configured,
  migrated: readonly ConnectorModule[],
): Promise<ConfiguredEmr> {
  if (configuration.emrs.some((emr) => emr.id === id))
    throw new ConfigurationError([
      `the configuration file of this gateway has an EHR with this id; remove one of them`,
    ]);
  if (!secrets) {
    throw new ConfigurationError([
      'its secret key is unknown to this gateway, or somebody else than a gateway has changed the row; change it with `crossward emr change`',
    ]);
  }
  const mistakes = emrMistakes(definition, aroundOf(configuration), connectors).map(emrMistakeText);
  if (mistakes.length > 0) throw new ConfigurationError(mistakes);
  const missing = secretNames(definition).filter((name) => !secrets[name]);
  if (missing.length > 0) throw new ConfigurationError([`no secret is stored for ${missing.join(', ')}`]);
  const emr = configuredEmr(definition, secrets);
  if (emr.id !== id) throw new ConfigurationError(['the row has the id of another EHR']);
  await assertUsable(emr, connectors, migrated);
  return emr;
}

/** The rules look at whether there are channels and a public URL, and at what is plain text. Secrets are none of that. */
export function aroundOf({ messages, http }: Configuration): Parameters<typeof emrMistakes>[1] {
  return { messages, http } as Parameters<typeof emrMistakes>[1];
}
