import type { ConnectorModule } from '@crossward/connector-kit';
import type { Configuration, ConfiguredEmr } from './config/configuration.ts';
import { configuredEmr, emrMistakes, emrMistakeText, secretNames } from './config/one-emr.ts';
import type { UnusedEmr } from './ehr/registry.ts';
import type { StoredEmr } from './ehr/stored/stored-emrs.ts';
import { assertUsable, type Configured } from './reconfigure.ts';
import { ConfigurationError } from './startup/configuration-error.ts';

/** A configuration with the stored EHRs that can be used, and why the others cannot. */
export interface WithStored {
  readonly configured: Configured & { readonly stored: ReadonlySet<string> };
  readonly unused: readonly UnusedEmr[];
}

/**
 * Adds the stored EHRs to those of the file. Drafts are left out, and so is one that this gateway cannot use: it hides no other.
 *
 * @param migrated the connectors whose tables the start has created
 */
export async function withStored(
  { configuration, connectors }: Configured,
  emrs: readonly StoredEmr[],
  migrated: readonly ConnectorModule[],
): Promise<WithStored> {
  const usable: ConfiguredEmr[] = [];
  const unused: UnusedEmr[] = [];
  const usableBefore = known.get(configuration);
  const usableNow = new Map<string, ConfiguredEmr>();
  known.set(configuration, usableNow);
  for (const emr of emrs.filter(({ isOpen }) => isOpen)) {
    try {
      const before = emr.secrets && usableBefore?.get(emr.version);
      const found = before ?? (await usableEmr(emr, { configuration, connectors }, migrated));
      usableNow.set(emr.version, found);
      usable.push(found);
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      unused.push({ emr: emr.id, text: error.mistakes.join('; ') });
    }
  }
  const merged = { ...configuration, emrs: [...configuration.emrs, ...usable] };
  const stored = new Set(usable.map(({ id }) => id));
  return { configured: { configuration: merged, connectors, stored }, unused };
}

/** Those that were found usable with a configuration file, by their version: most do not change with the others. */
const known = new WeakMap<Configuration, Map<string, ConfiguredEmr>>();

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
