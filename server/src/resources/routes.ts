import type { Resource } from '@crossward/connector-kit';
import type { Static } from 'typebox';
import { type EndpointGroup, endpoint } from '../api/endpoint.ts';
import { resourceIdentifier } from '../api/identifiers.ts';
import { pageOfAll, pagingQuery } from '../api/paging.ts';
import { ehrReadReasons, identifierReasons } from '../api/route-reasons.ts';
import { resourceNotation } from '../api/schemas.ts';
import { requireResource } from '../ehr/lookups.ts';
import { formatIdentifier } from '../identifiers/index.ts';
import { inPath } from '../problems/places.ts';
import { resourceListSchema, resourceSchema } from './contract.ts';

const example = {
  id: 'emr_id:r-1',
  identifiers: ['emr_id:r-1', 'hsa_id:SE0000000000-1001'],
  kind: 'practitioner',
  name: 'Läkare Noggrann Provsson',
  healthcare_service_ids: ['consultation', 'vaccination'],
};
const place = { emr: 'sandbox-se', care_unit_id: 'sodermalm' };

export const listResources = endpoint({
  operationId: 'list_resources',
  tag: 'Resources',
  summary: 'List resources',
  level: 'care_unit',
  method: 'GET',
  path: '/resources',
  needs: ['listResources'],
  audit: 'none',
  scopes: ['resources:read'],
  query: pagingQuery,
  response: { status: 200, description: 'Resources, sorted by id.', schema: resourceListSchema },
  reasons: ['cursor_invalid', ...ehrReadReasons],
  examples: { params: place, response: { resources: [example], next_cursor: null } },
  async handle({ client, ehr, careUnit, query, cursors }) {
    const binding = { clientId: client.id, operationId: 'list_resources', filters: [ehr.id, careUnit.id] };
    const all = await ehr.call('listResources', careUnit);
    const { entries, next_cursor } = await pageOfAll(cursors, query, binding, all);
    return { body: { resources: entries.map(resourceBody), next_cursor } };
  },
});

export const getResource = endpoint({
  operationId: 'get_resource',
  tag: 'Resources',
  summary: 'Get a resource',
  level: 'care_unit',
  method: 'GET',
  path: '/resources/:resource_id',
  needs: ['findResource'],
  audit: 'none',
  scopes: ['resources:read'],
  params: { resource_id: resourceNotation() },
  response: { status: 200, description: 'The resource.', schema: resourceSchema },
  reasons: ['resource_not_found', ...identifierReasons, ...ehrReadReasons],
  examples: { params: { ...place, resource_id: 'hsa_id:SE0000000000-1001' }, response: example },
  async handle({ ehr, careUnit, params, readHeader }) {
    const at = inPath('resource_id');
    const identifier = resourceIdentifier(params.resource_id, at, ehr, readHeader);
    return { body: resourceBody(await requireResource(ehr, careUnit, identifier, at)) };
  },
});

export const resourceEndpoints: EndpointGroup = {
  schemas: [resourceSchema],
  endpoints: [listResources, getResource],
};

export function resourceBody(resource: Resource): Static<typeof resourceSchema> {
  return {
    id: formatIdentifier({ type: 'emr_id', value: resource.id }),
    identifiers: resource.identifiers.map(formatIdentifier),
    kind: resource.kind,
    name: resource.name,
    healthcare_service_ids: [...resource.healthcareServiceIds],
  };
}
