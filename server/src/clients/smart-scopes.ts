import { isScope, type Scope } from '../config/schema.ts';
import type { Client } from './client-registry.ts';

/** A group of interactions with a resource type that stands for a scope of the gateway. */
interface SmartScope {
  readonly resource: string;
  /** Of `cruds`, in that order: create, read, update, delete, search. */
  readonly letters: string;
  /** The scopes of which one is enough. The first that the client has is given. */
  readonly anyOf: readonly [Scope, ...Scope[]];
}

/**
 * What the system scopes of SMART App Launch 2.2 stand for. A resource type can have several rows. Letters and resource types
 * that are not here are never granted.
 *
 * @internal a test compares the guide with it
 */
export const smartScopes: readonly SmartScope[] = [
  { resource: 'Appointment', letters: 'rs', anyOf: ['appointments:read'] },
  { resource: 'Appointment', letters: 'cu', anyOf: ['appointments:write'] },
  { resource: 'Slot', letters: 'rs', anyOf: ['resources:read', 'appointments:read'] },
  { resource: 'Schedule', letters: 'rs', anyOf: ['resources:read'] },
  { resource: 'Practitioner', letters: 'rs', anyOf: ['resources:read'] },
  { resource: 'Location', letters: 'rs', anyOf: ['resources:read'] },
  { resource: 'Device', letters: 'rs', anyOf: ['resources:read'] },
  { resource: 'HealthcareService', letters: 'rs', anyOf: ['resources:read', 'appointments:read'] },
  { resource: 'Patient', letters: 'rs', anyOf: ['patients:read'] },
  { resource: 'DocumentReference', letters: 'rs', anyOf: ['notes:read'] },
  { resource: 'DocumentReference', letters: 'rs', anyOf: ['documents:read'] },
  { resource: 'DocumentReference', letters: 'c', anyOf: ['notes:write'] },
  { resource: 'DocumentReference', letters: 'c', anyOf: ['documents:write'] },
  { resource: 'Binary', letters: 'r', anyOf: ['notes:read'] },
  { resource: 'Binary', letters: 'r', anyOf: ['documents:read'] },
  { resource: 'Subscription', letters: 'cruds', anyOf: ['webhooks:manage'] },
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
  const letters = new Map<string, Set<string>>();
  const own = new Set<Scope>();
  for (const word of asked.split(' ')) {
    if (isScope(word) && client.scopes.has(word)) own.add(word);
    for (const [resource, letter] of allowedOf(word, client)) {
      letters.set(resource, (letters.get(resource) ?? new Set()).add(letter));
    }
  }
  const system = [...letters].map(([resource, given]) => scopeOf(resource, given));
  return [...system, ...own];
}

/**
 * The scopes of the gateway that granted ones stand for and the client still has. A row of the table counts only with all its
 * letters: `system/Appointment.c` alone gives no `appointments:write`, with which the client could change appointments.
 */
export function nativeScopes(granted: readonly string[], client: Scopes): Set<Scope> {
  const given = new Set<Scope>();
  for (const word of granted) {
    if (isScope(word) && client.scopes.has(word)) given.add(word);
    const { resource, letters } = parse(word) ?? {};
    for (const row of smartScopes) {
      if (row.resource !== resource || ![...row.letters].every((letter) => letters?.includes(letter))) continue;
      const scope = row.anyOf.find((it) => client.scopes.has(it));
      if (scope) given.add(scope);
    }
  }
  return given;
}

/** The resource types and letters of a word that the client may have. */
function allowedOf(word: string, client: Scopes): [string, string][] {
  const { resource: named, letters } = parse(word) ?? {};
  return smartScopes
    .filter(({ resource }) => named === '*' || named === resource)
    .filter(({ anyOf }) => anyOf.some((scope) => client.scopes.has(scope)))
    .flatMap((row) =>
      [...row.letters].filter((it) => letters?.includes(it)).map((it): [string, string] => [row.resource, it]),
    );
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
