import type { Device, Location, Practitioner } from '@medplum/fhirtypes';
import type { FastifyRequest } from 'fastify';
import { getResource } from '../resources/routes.ts';
import { allResources, type Directory, directoryOf } from './directory.ts';
import { type ListedType, nameIn, searchDirectory } from './directory-search.ts';
import { accessOf, unknownResource } from './face.ts';
import { isNationalNumber } from './identifier-systems.ts';
import { notationOf } from './ids.ts';
import { fhirRead, fhirSearch } from './interaction.ts';
import { readNative } from './native.ts';
import { anyOf, assertNotInUrl, requireSystem, type Search, takesActive, tokensOf } from './search/input.ts';
import { type BookableType, toBookable, toCareUnitLocation, typeOfKind } from './to-fhir/resource.ts';

type Bookable = Practitioner | Location | Device;

const types: readonly BookableType[] = ['Practitioner', 'Location', 'Device'];

/** Practitioner, Location and Device: what can be booked, and the care unit itself. */
export const bookableInteractions = types.flatMap((type) => {
  const lower = type.toLowerCase();
  const declared = { scopes: ['resources:read'], audit: 'none' } as const;
  return [
    fhirRead(type, { name: `fhir_read_${lower}`, ...declared }, (request, id) => read(request, type, id)),
    ...fhirSearch(
      type,
      { name: `fhir_search_${lower}`, ...declared },
      searchDirectory(listedBookable(type), ofResources),
    ),
  ];
});

async function ofResources(request: FastifyRequest): Promise<Directory> {
  return directoryOf(await allResources(request), []);
}

async function read(request: FastifyRequest, type: BookableType, id: string): Promise<Bookable> {
  const { careUnit } = accessOf(request);
  const location = toCareUnitLocation(careUnit);
  if (type === 'Location' && id === location.id) return location;
  const resource_id = notationOf(id);
  if (resource_id === undefined) throw unknownResource('resource_not_found');
  const body = await readNative(request, getResource, { params: { resource_id } });
  const resource = typeOfKind[body.kind] === type ? toBookable(body, careUnit) : undefined;
  if (!resource) throw unknownResource('resource_not_found');
  return resource;
}

export function listedBookable(type: BookableType): ListedType {
  return {
    type,
    parameters: ['_id', 'identifier', nameParameter(type), ...(type === 'Practitioner' ? ['active'] : [])],
    includable: [],
    needs: ['resources'],
    // The links repeat no number of a person.
    hidden: (search) =>
      tokensOf(search, 'identifier')?.some((it) => isNationalNumber(it.system ?? '')) ? ['identifier'] : [],
    matching(request, search) {
      const { careUnit } = accessOf(request);
      const matches = readFilter(request, search);
      return ({ resources }) => {
        const own = resources.filter(({ kind }) => typeOfKind[kind] === type);
        const all = own.map((it) => ({ id: it.id, shown: toBookable(it, careUnit) }));
        if (type === 'Location') all.push({ id: '', shown: toCareUnitLocation(careUnit) });
        return all.filter(({ shown }) => shown === undefined || matches(shown));
      };
    },
  };
}

/** https://hl7.org/fhir/R4/device.html#search: a Device has another one. */
function nameParameter(type: BookableType): string {
  return type === 'Device' ? 'device-name' : 'name';
}

function readFilter(request: FastifyRequest, search: Search): (resource: Bookable) => boolean {
  const ids = anyOf(search, '_id');
  const names = anyOf(search, 'name') ?? anyOf(search, 'device-name');
  const isActiveTaken = takesActive(search);
  const identifiers = tokensOf(search, 'identifier')?.map((it) => requireSystem(it, 'identifier'));
  for (const { system } of identifiers ?? []) {
    if (isNationalNumber(system)) assertNotInUrl(request, 'identifier');
  }
  return (resource) =>
    (!ids || ids.includes(resource.id ?? '')) &&
    isActiveTaken &&
    (!names || names.some((name) => nameOf(resource).some((it) => startsWith(it, name)))) &&
    (!identifiers ||
      identifiers.some(({ system, value }) =>
        resource.identifier?.some((it) => it.system === system && it.value === value),
      ));
}

function nameOf(resource: Bookable): readonly string[] {
  const name = nameIn(resource);
  if (resource.resourceType !== 'Practitioner') return [name];
  // Any part of a name matches from its start.
  return name.split(' ').map((_, index, words) => words.slice(index).join(' '));
}

/** https://hl7.org/fhir/R4/search.html#string */
export function startsWith(text: string, start: string): boolean {
  const plain = (it: string) => it.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase();
  return plain(text).startsWith(plain(start));
}
