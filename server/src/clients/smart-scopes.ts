import { isScope, type Scope } from '../config/schema/schema.ts';
import { type Client, hasScope, ofType, type Permissions } from './client-registry.ts';

/** A group of interactions with a resource type that stands for a scope of the gateway. */
interface SmartScope {
  readonly resource: string;
  /** Of `cruds`, in that order: create, read, update, delete, search. */
  readonly letters: string;
  readonly scope: Scope;
}

/**
 * What the system scopes of SMART App Launch 2.2 stand for. A resource type can have several rows. Letters and resource types
 * that are not here are never granted.
 *
 * @internal a test compares the guide with it
 */
export const smartScopes: readonly SmartScope[] = [
  { resource: 'Appointment', letters: 'rs', scope: 'appointments:read' },
  { resource: 'Appointment', letters: 'cu', scope: 'appointments:write' },
  { resource: 'Slot', letters: 'rs', scope: 'resources:read' },
  { resource: 'Slot', letters: 'rs', scope: 'appointments:read' },
  { resource: 'Schedule', letters: 'rs', scope: 'resources:read' },
  { resource: 'Practitioner', letters: 'rs', scope: 'resources:read' },
  { resource: 'PractitionerRole', letters: 'rs', scope: 'resources:read' },
  { resource: 'Organization', letters: 'rs', scope: 'resources:read' },
  { resource: 'Location', letters: 'rs', scope: 'resources:read' },
  { resource: 'Device', letters: 'rs', scope: 'resources:read' },
  { resource: 'HealthcareService', letters: 'rs', scope: 'resources:read' },
  { resource: 'HealthcareService', letters: 'rs', scope: 'appointments:read' },
  { resource: 'Patient', letters: 'rs', scope: 'patients:read' },
  { resource: 'Patient', letters: 'c', scope: 'patients:write' },
  { resource: 'DocumentReference', letters: 'rs', scope: 'notes:read' },
  { resource: 'DocumentReference', letters: 'rs', scope: 'documents:read' },
  { resource: 'DocumentReference', letters: 'c', scope: 'notes:write' },
  { resource: 'DocumentReference', letters: 'c', scope: 'documents:write' },
  { resource: 'Binary', letters: 'r', scope: 'documents:read' },
  { resource: 'Subscription', letters: 'cruds', scope: 'webhooks:manage' },
];

const order = 'cruds';
/** A system scope for each resource type, with all its letters. */
export const supportedScopes: readonly string[] = [...Map.groupBy(smartScopes, ({ resource }) => resource)].map(
  ([resource, rows]) => scopeOf(resource, new Set(rows.flatMap(({ letters }) => [...letters]))),
);
/** The scopes of SMART App Launch 1: `.read` is `.rs`, `.write` is `.cud`. */
const earlier: Readonly<Record<string, string>> = { read: 'rs', write: 'cud', '*': order };

type Scopes = Pick<Client, 'scopes'>;

/**
 * What a client gets of the scopes that it asks for: system scopes of SMART App Launch 2.2, letter by letter, and the gateway's
 * own. `system/*.rs` becomes a scope for each resource type. What is unknown or not allowed is left out.
 *
 * @param asked separated by spaces (RFC 6749, section 3.3). `undefined`: all of the gateway's own scopes that the client has
 */
export function grantedScopes(asked: string | undefined, client: Scopes): string[] {
  if (asked === undefined) return [...client.scopes];
  const words = asked.split(' ');
  const own = [...new Set(words)].filter((word) => isScope(word) && client.scopes.has(word));
  return [...systemScopes(words, ({ scope }) => client.scopes.has(scope)), ...own];
}

/**
 * What granted scopes give of what the client still has: scopes of the gateway, and from system scopes what they stand for, for
 * one resource type each. A row of the table counts only with all its letters: `system/Appointment.c` alone does not let a client
 * change appointments.
 */
export function permissionsOf(granted: readonly string[], client: Scopes): Permissions {
  const own = granted.filter((word): word is Scope => isScope(word) && client.scopes.has(word));
  const ofTypes = granted.flatMap((word) => {
    const { resource, letters } = parse(word) ?? {};
    const isGiven = (row: SmartScope) =>
      row.resource === resource &&
      [...row.letters].every((it) => letters?.includes(it)) &&
      client.scopes.has(row.scope);
    return smartScopes.filter(isGiven).map((row) => ofType(row.resource, row.scope));
  });
  return { scopes: new Set(own), ofTypes: new Set(ofTypes) };
}

/** Whether a client may see resources of a FHIR type. */
export function maySeeResource(client: Permissions, resource: string): boolean {
  const reading = smartScopes.filter((row) => row.resource === resource && row.letters.includes('r'));
  return reading.some(({ scope }) => hasScope(client, scope, resource));
}

/** The system scopes that the words ask for, with the letters that are allowed. */
function systemScopes(words: readonly string[], isAllowed: (row: SmartScope) => boolean): string[] {
  const allowed = smartScopes.filter(isAllowed);
  const given = new Map<string, Set<string>>();
  for (const word of words) {
    const { resource: named, letters } = parse(word) ?? {};
    for (const row of allowed.filter(({ resource }) => named === '*' || named === resource)) {
      const common = [...row.letters].filter((letter) => letters?.includes(letter));
      if (common.length > 0) given.set(row.resource, new Set([...(given.get(row.resource) ?? []), ...common]));
    }
  }
  return [...given].map(([resource, letters]) => scopeOf(resource, letters));
}

function parse(word: string): { readonly resource: string; readonly letters: string } | undefined {
  const [, resource, access = ''] = /^system\/([A-Za-z]+|\*)\.([a-z]+|\*)$/.exec(word) ?? [];
  const letters = earlier[access] ?? access;
  // In this order, as the specification demands.
  if (resource === undefined || !/^c?r?u?d?s?$/.test(letters)) return undefined;
  return { resource, letters };
}

function scopeOf(resource: string, letters: ReadonlySet<string>): string {
  return `system/${resource}.${[...order].filter((letter) => letters.has(letter)).join('')}`;
}
