import type { HealthcareService } from '@crossward/connector-kit';
import { type EndpointGroup, endpoint } from '../api/endpoint.ts';
import { pageOfAll, pagingQuery } from '../api/paging.ts';
import { ehrReadReasons } from '../api/route-reasons.ts';
import { healthcareServiceListSchema, healthcareServiceSchema } from './contract.ts';
import { listServices } from './services.ts';

export const listHealthcareServices = endpoint({
  operationId: 'list_healthcare_services',
  tag: 'Healthcare services',
  summary: 'List healthcare services',
  level: 'care_unit',
  method: 'GET',
  path: '/healthcare-services',
  needs: ['listHealthcareServices'],
  audit: 'none',
  scopes: ['resources:read', 'appointments:read'],
  query: pagingQuery,
  response: { status: 200, description: 'Healthcare services, sorted by id.', schema: healthcareServiceListSchema },
  reasons: ['cursor_invalid', ...ehrReadReasons],
  examples: {
    params: { emr: 'sandbox-uk', care_unit_id: 'riverside' },
    response: {
      healthcare_services: [
        {
          id: 'consultation',
          name: 'Consultation',
          codes: [
            {
              system: 'http://terminology.hl7.org/CodeSystem/service-type',
              code: '124',
              display: 'General Practice',
            },
          ],
          duration_minutes: 30,
        },
      ],
      next_cursor: null,
    },
  },
  async handle({ client, ehr, careUnit, query, cursors }) {
    const filters = [ehr.id, careUnit.id];
    const binding = { clientId: client.id, operationId: 'list_healthcare_services', filters };
    const all = await ehr.call('listHealthcareServices', careUnit);
    const { entries, next_cursor } = await pageOfAll(cursors, query, binding, all);
    return { body: { healthcare_services: entries.map(healthcareServiceBody), next_cursor } };
  },
});

export function healthcareServiceBody({ id, name, durationMinutes, codes = [] }: HealthcareService) {
  return {
    id,
    name,
    codes: codes.map(({ system, code, display }) => ({ system, code, display })),
    duration_minutes: durationMinutes,
  };
}

export const healthcareServiceEndpoints: EndpointGroup = {
  schemas: [healthcareServiceSchema],
  endpoints: [listHealthcareServices, listServices],
};
