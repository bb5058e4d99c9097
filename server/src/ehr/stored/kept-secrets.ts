import { isMapping } from '../../config/mistakes/mistake.ts';
import { secretNames } from '../../config/one-emr.ts';
import type { SecretsByName, StoredEmr } from './stored-emrs.ts';

/** The secrets that an EHR needs, as far as they are known. */
export interface NeededSecrets {
  readonly secrets: SecretsByName;
  /** Names of those that must be given. */
  readonly missing: readonly string[];
  /** They are stored, but may not be sent to an address that the stored EHR does not have. */
  readonly isElsewhere: boolean;
}

/**
 * Chooses the secrets that a definition names: those that are given, otherwise the stored ones. A stored secret is only for the
 * connector and the addresses that it was given for, so that nobody gets it by changing where it is sent.
 *
 * @param former absent: nothing is stored
 */
export function neededSecrets(definition: unknown, given: SecretsByName, former?: StoredEmr): NeededSecrets {
  const isElsewhere = former?.secrets !== undefined && !isAsFar(definition, former.definition);
  const stored = isElsewhere ? {} : (former?.secrets ?? {});
  const entries = secretNames(definition).map((name) => [name, own(given, name) || own(stored, name)] as const);
  return {
    secrets: Object.fromEntries(entries.flatMap(([name, value]) => (value ? [[name, value] as const] : []))),
    missing: entries.flatMap(([name, value]) => (value ? [] : name)),
    isElsewhere,
  };
}

function own(secrets: SecretsByName, name: string): string | undefined {
  return Object.hasOwn(secrets, name) ? secrets[name] : undefined;
}

function isAsFar(next: unknown, former: unknown): boolean {
  const known = new Set(originsIn(former));
  const connectorOf = (definition: unknown) => (isMapping(definition) ? definition.connector : undefined);
  return connectorOf(next) === connectorOf(former) && originsIn(next).every((origin) => known.has(origin));
}

/** The origins of all URLs, each with the name of its setting. Those of a plug-in can have any name. */
function originsIn(value: unknown, name = ''): string[] {
  if (typeof value === 'string')
    return /^https?:/i.test(value) && URL.canParse(value) ? [`${name} ${new URL(value).origin}`] : [];
  if (Array.isArray(value)) return value.flatMap((item) => originsIn(item, name));
  return isMapping(value) ? Object.entries(value).flatMap(([key, item]) => originsIn(item, key)) : [];
}
