import type { FastifyRequest } from 'fastify';
import { expect, test } from 'vitest';
import { Problem } from '../problems/problem.ts';
import { auditProblem } from './audit-problem.ts';
import { oneRecord } from './audit-request.ts';

/** A request of a care unit whose entry cannot be stored. */
function requestWithoutTrail(): FastifyRequest {
  const record = () => Promise.reject(new Error('no database'));
  const request = {
    routeOptions: { config: { endpoint: { audit: oneRecord, operationId: 'change_appointments' } } },
    access: { client: { id: 'app' }, ehr: { id: 'north' }, careUnit: { id: 'ward' } },
    seen: { patients: new Set(['emr_id:p-1']), records: new Set() },
    server: { endpointDeps: { services: { audit: { record } } } },
    log: { error: () => undefined },
  };
  return request as unknown as FastifyRequest;
}

const reasonOf = async (problem: Problem) => (await auditProblem(requestWithoutTrail(), problem))?.reason;

test('without an entry, a problem says nothing about a patient', async () => {
  expect(await reasonOf(new Problem('appointment_not_found'))).toBe('database_unavailable');
  expect(await reasonOf(new Problem('ehr_unavailable'))).toBe('ehr_unavailable');
  const faults = [{ id: 'a-1', reason: 'partially_applied', detail: 'Unchanged.' }] as const;
  expect(await reasonOf(new Problem('partially_applied', { faults }))).toBe('outcome_unknown');
});
