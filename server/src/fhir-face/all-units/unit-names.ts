import type { Resource } from '@medplum/fhirtypes';
import type { FastifyRequest } from 'fastify';
import type { Client } from '../../clients/client-registry.ts';
import type { CareUnitConnection } from '../../ehr/connection.ts';
import type { InCareUnit } from '../../writes/write-kind.ts';
import { baseOf, unitBase } from '../face.ts';
import { digest } from '../ids.ts';

/*
 * Ids over all care units: ten signs for EHR and care unit, a `.`, and the id at the base URL of the care unit. The signs are the
 * first 50 bits of a SHA-256, found again by trying the care units that the client is granted.
 */

const nameLength = 10;
const longestId = 64;

const names = new WeakMap<CareUnitConnection, string>();

/** What stands for a care unit in ids. */
export function unitName({ ehr, careUnit }: InCareUnit): string {
  const name = names.get(careUnit) ?? digest(ehr.id, careUnit.id).slice(0, nameLength);
  names.set(careUnit, name);
  return name;
}

export function clientOf({ access }: FastifyRequest): Client {
  if (!access) throw new Error('A request without a client');
  return access.client;
}

/** The care units that the client of a request is granted. */
export function grantedUnits(request: FastifyRequest): readonly InCareUnit[] {
  const { grants } = clientOf(request);
  return [...request.server.endpointDeps.services.ehrs.values()].flatMap((ehr) =>
    [...ehr.careUnits.values()].flatMap((careUnit) =>
      grants.get(ehr.id)?.has(careUnit.id) ? [{ ehr, careUnit }] : [],
    ),
  );
}

/** The id over all care units. `undefined`: it is too long. */
export function qualify(id: string, unit: InCareUnit): string | undefined {
  const text = `${unitName(unit)}.${id}`;
  return text.length > longestId ? undefined : text;
}

/** A care unit, and the id at its base URL. */
interface IdInUnit extends InCareUnit {
  readonly id: string;
}

/** The id at the base URL of a care unit. `undefined`: it is one of another care unit, or of none. */
export function idIn(id: string, unit: InCareUnit): string | undefined {
  const name = `${unitName(unit)}.`;
  return id.startsWith(name) && id.length > name.length ? id.slice(name.length) : undefined;
}

/** What an id over all care units names. `undefined`: nothing that the client is granted. */
export function readId(id: string, request: FastifyRequest): IdInUnit | undefined {
  const found = grantedUnits(request).flatMap((unit) => {
    const local = idIn(id, unit);
    return local === undefined ? [] : [{ ...unit, id: local }];
  });
  // Of two with one name, neither is taken for the other.
  return found.length === 1 ? found[0] : undefined;
}

/** What a reference names: relative, absolute below this base URL, or absolute below that of a care unit. */
export function readUnitReference(text: string, request: FastifyRequest): (IdInUnit & { type: string }) | undefined {
  const [, base = '', type = '', id = ''] = /^(.*\/)?([A-Z][A-Za-z]+)\/([^/]+)(?:\/_history\/[^/]+)?$/.exec(text) ?? [];
  if (base === '' || base === `${baseOf(request)}/`) {
    const found = readId(id, request);
    return found && { ...found, type };
  }
  const unit = grantedUnits(request).find((it) => base === `${unitBase(request, it)}/`);
  return unit && { ...unit, type, id };
}

/** A resource of a care unit with its references over all care units. Its own id may be missing: it is too long. */
export function inAllUnits<Shown extends Resource>(resource: Shown, unit: InCareUnit, request: FastifyRequest): Shown {
  return mapped(resource, {
    id: (id) => qualify(id, unit),
    reference(text) {
      const [type = '', id = ''] = text.split('/');
      const whole = qualify(id, unit);
      // An id that is too long is one of the care unit's own base URL.
      return whole === undefined ? `${unitBase(request, unit)}/${text}` : `${type}/${whole}`;
    },
  }) as Shown;
}

interface Mapping {
  id(id: string): string | undefined;
  reference(text: string): string;
}

/** Of a JSON Patch and of Parameters, the values can be ids and references, too. */
const valueNames = ['value', 'valueString', 'valueId', 'valueCode', 'valueUri'];

/** A copy with other ids of resources, and other references. */
export function mapped(value: unknown, mapping: Mapping, areValuesToo = false): unknown {
  if (Array.isArray(value)) return value.map((it) => mapped(it, mapping, areValuesToo));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, it]) => {
    if (typeof it !== 'string') return [name, mapped(it, mapping, areValuesToo)] as const;
    if (name === 'reference') return [name, mapping.reference(it)] as const;
    if (name === 'id' && 'resourceType' in value) return [name, mapping.id(it)] as const;
    const isValue = areValuesToo && valueNames.includes(name);
    return [name, isValue ? (mapping.id(it) ?? it) : it] as const;
  });
  return Object.fromEntries(members.filter(([, it]) => it !== undefined));
}
