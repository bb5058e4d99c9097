import type { Connector } from '@crossward/connector-kit';

/** How the ids of an EHR look. `own` is the inverse of `shown`; other ids are unknown to the EHR. */
export interface Renaming {
  shown(id: string): string;
  own(id: string): string | undefined;
}

/** Ids between two texts. */
export function between(before: string, after: string): Renaming {
  return {
    shown: (id) => before + id + after,
    own: (id) =>
      id.length > before.length + after.length && id.startsWith(before) && id.endsWith(after)
        ? id.slice(before.length, id.length - after.length)
        : undefined,
  };
}

/** The same EHR with other ids of patients, resources, services and records, in every operation. */
export function withRenamedIds(connector: Connector, current: () => Renaming): Connector {
  const toOwn = (id: string) => current().own(id) ?? 'unknown';
  const operations = Object.entries(connector).flatMap(([name, operation]) => {
    if (typeof operation !== 'function') return [];
    const namesOperation = /^(find(Operation|.*Write)|withdraw.*)$/.test(name);
    const renamed = async (...args: unknown[]) => {
      const own = args.map((it) => (typeof it === 'string' && namesOperation ? it : rename(it, toOwn, true)));
      const result: unknown = rename(await operation(...own), (id) => current().shown(id), false);
      return /^list(Resources|HealthcareServices)$/.test(name) ? (result as { id: string }[]).sort(byId) : result;
    };
    return [[name, renamed]];
  });
  return { ...connector, ...Object.fromEntries(operations) };
}

/** Renames the ids in an argument or a result. A string or a list of strings on its own is ids. */
function rename(value: unknown, change: (id: string) => string, isId: boolean): unknown {
  if (typeof value === 'string') return isId ? change(value) : value;
  if (Array.isArray(value)) return value.map((it) => rename(it, change, isId));
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  if ('timeZone' in value) return value;
  const isEmrId = 'type' in value && value.type === 'emr_id';
  const entries = Object.entries(value).map(([key, it]) => [
    key,
    rename(it, change, isIdKey(key) || (isEmrId && key === 'value')),
  ]);
  return Object.fromEntries(entries);
}

function isIdKey(key: string): boolean {
  return key === 'freeing' || (/(^id|Ids?)$/.test(key) && key !== 'operationId' && key !== 'careUnitId');
}

function byId(a: { id: string }, b: { id: string }): number {
  return a.id < b.id ? -1 : Number(a.id > b.id);
}
