import type { Organization, PractitionerRole, Resource } from '@medplum/fhirtypes';
import type { FastifyRequest } from 'fastify';
import type { CareUnitConnection } from '../ehr/connection.ts';
import { getResource } from '../resources/routes.ts';
import { startsWith } from './bookables.ts';
import { allResources, directoryOf } from './directory.ts';
import { asIncluded, type ListedType, searchDirectory } from './directory-search.ts';
import { accessOf, baseOf, unknownResource } from './face.ts';
import { careUnitLocationId, fhirIdOf, notationOf, readReference, toFhirId, versionOf } from './ids.ts';
import { fhirRead, fhirSearch } from './interaction.ts';
import { readNative, shows } from './native.ts';
import { anyOf, type Search, takesActive } from './search/input.ts';
import {
  careUnitReference,
  namedReference,
  type ResourceBody,
  toBookable,
  toCareUnitLocation,
} from './to-fhir/resource.ts';

/*
 * PractitionerRole is what a practitioner does at the care unit, and has the practitioner's id. Organization is the care unit, and
 * has the id of its Location. The EHR need not have either.
 */

function toRole(request: FastifyRequest, body: ResourceBody): PractitionerRole | undefined {
  const { careUnit } = accessOf(request);
  const id = body.kind === 'practitioner' ? fhirIdOf(body.id) : undefined;
  if (id === undefined) return undefined;
  const services = body.healthcare_service_ids.flatMap((it) => toFhirId(it) ?? []);
  return {
    resourceType: 'PractitionerRole',
    id,
    meta: { versionId: versionOf(body, careUnit.name) },
    active: true,
    practitioner: namedReference(`Practitioner/${id}`, shows(request, 'Practitioner') ? body.name : ''),
    organization: namedReference(`Organization/${careUnitLocationId(careUnit.id)}`, careUnit.name),
    location: [careUnitReference(careUnit)],
    ...(services.length > 0 && { healthcareService: services.map((it) => ({ reference: `HealthcareService/${it}` })) }),
  };
}

function toOrganization({ id, name }: CareUnitConnection): Organization {
  return {
    resourceType: 'Organization',
    id: careUnitLocationId(id),
    meta: { versionId: versionOf(id, name) },
    active: true,
    name,
  };
}

async function readRole(request: FastifyRequest, id: string): Promise<PractitionerRole> {
  const resource_id = notationOf(id);
  if (resource_id === undefined) throw unknownResource('resource_not_found');
  const role = toRole(request, await readNative(request, getResource, { params: { resource_id } }));
  if (!role) throw unknownResource('resource_not_found');
  return role;
}

async function readOrganization(request: FastifyRequest, id: string): Promise<Organization> {
  const organization = toOrganization(accessOf(request).careUnit);
  if (organization.id !== id) throw unknownResource('resource_not_found');
  return organization;
}

const references = ['practitioner', 'organization', 'location', 'service'] as const;

export const listedRoles: ListedType = {
  type: 'PractitionerRole',
  parameters: ['_id', 'active', ...references],
  includable: ['practitioner', 'organization', 'location'].map((it) => `PractitionerRole:${it}`),
  needs: ['resources'],
  matching(request, search) {
    const { careUnit } = accessOf(request);
    const matches = readFilter(search, baseOf(request));
    const includes = (name: string, type: string) =>
      search.includes.includes(`PractitionerRole:${name}`) && shows(request, type);
    const included = (body: ResourceBody): readonly (Resource | undefined)[] => [
      includes('practitioner', 'Practitioner') ? toBookable(body, careUnit) : undefined,
      includes('organization', 'Organization') ? toOrganization(careUnit) : undefined,
      includes('location', 'Location') ? toCareUnitLocation(careUnit) : undefined,
    ];
    return ({ resources }) =>
      resources
        .filter(({ kind }) => kind === 'practitioner')
        .map((it) => ({
          id: it.id,
          shown: toRole(request, it),
          included: () => included(it).flatMap((one) => (one ? [asIncluded(one)] : [])),
        }))
        .filter(({ shown }) => shown === undefined || matches(shown));
  },
};

export const listedOrganizations: ListedType = {
  type: 'Organization',
  parameters: ['_id', 'active', 'name'],
  includable: [],
  needs: [],
  matching(request, search) {
    const organization = toOrganization(accessOf(request).careUnit);
    const [ids, names] = [anyOf(search, '_id'), anyOf(search, 'name')];
    const isFound =
      (!ids || ids.includes(organization.id ?? '')) &&
      takesActive(search) &&
      (!names || names.some((it) => startsWith(organization.name ?? '', it)));
    return () => (isFound ? [{ id: '', shown: organization }] : []);
  },
};

function readFilter(search: Search, base: string): (role: PractitionerRole) => boolean {
  const ids = anyOf(search, '_id');
  const isActiveTaken = takesActive(search);
  const wanted = references.flatMap((name) => {
    const texts = anyOf(search, name)?.map((it) => readReference(it, base)?.id ?? it);
    return texts ? [{ name, texts }] : [];
  });
  return (role) => {
    const of = {
      practitioner: [role.practitioner],
      organization: [role.organization],
      location: role.location ?? [],
      service: role.healthcareService ?? [],
    };
    const refersTo = ({ name, texts }: (typeof wanted)[number]) =>
      of[name].some((it) => texts.includes(it?.reference?.split('/')[1] ?? ''));
    return (!ids || ids.includes(role.id ?? '')) && isActiveTaken && wanted.every(refersTo);
  };
}

const declared = { scopes: ['resources:read'], audit: 'none' } as const;
export const roleInteractions = [
  fhirRead('PractitionerRole', { name: 'fhir_read_practitionerrole', ...declared }, readRole),
  ...fhirSearch(
    'PractitionerRole',
    { name: 'fhir_search_practitionerrole', ...declared },
    searchDirectory(listedRoles, async (request) => directoryOf(await allResources(request), [])),
  ),
  fhirRead('Organization', { name: 'fhir_read_organization', ...declared }, readOrganization),
  ...fhirSearch(
    'Organization',
    { name: 'fhir_search_organization', ...declared },
    searchDirectory(listedOrganizations, async () => directoryOf([], [])),
  ),
];
