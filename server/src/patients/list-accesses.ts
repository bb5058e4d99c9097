import type { PatientIdentifier } from '@crossward/connector-kit';
import type { Static, TObject } from 'typebox';
import type { Access, EndpointDeps } from '../api/endpoint.ts';
import { page } from '../api/paging.ts';
import { readOpenRange } from '../api/request-times.ts';
import { readAuditKeys } from '../audit/audit-keys.ts';
import { isIncomplete } from '../audit/lost-keys.ts';
import { type FoundAccess, searchEntries } from '../audit/search.ts';
import { formatIdentifier } from '../identifiers/index.ts';
import { inQuery } from '../problems/places.ts';
import { Problem } from '../problems/problem.ts';
import { formatInstant } from '../time/date-times.ts';
import type { AccessBody, accessQuery } from './contract.ts';

const places = { start: inQuery('start'), end: inQuery('end') };

/**
 * A page of the accesses to a patient's record, newest first: those at the care units of the EHR that the client is granted.
 *
 * @param identifiers all that are known of the patient: the trail has each access under those that it named or met
 */
export async function pageOfAccesses(
  { client, ehr, careUnit, cursors, clients, services: { db, keys } }: Access & EndpointDeps,
  identifiers: readonly PatientIdentifier[],
  query: Static<TObject<typeof accessQuery>>,
): Promise<{ accesses: AccessBody[]; next_cursor: string | null }> {
  const patients = [...new Set(identifiers.map(formatIdentifier))].sort();
  const careUnitIds = [...(client.grants.get(ehr.id) ?? [])].sort();
  const { start: from, end: to } = readOpenRange(query, places, careUnit.timeZone);
  if (await isIncomplete(db, keys, { patients, from, to })) throw new Problem('audit_trail_incomplete');
  const auditKeys = await readAuditKeys(db, keys);
  const { entries, next_cursor } = await page<FoundAccess>(
    cursors,
    query,
    {
      clientId: client.id,
      operationId: 'list_accesses',
      filters: [ehr.id, careUnit.id, patients, careUnitIds, from ?? null, to ?? null],
    },
    ({ at, key }) => [at, key],
    (after, limit) =>
      searchEntries(
        db,
        auditKeys.values(),
        { emr: ehr.id, careUnitIds, patients, from, to },
        { limit, before: after && { at: new Date(String(after[0])), key: String(after[1]) } },
      ),
  );
  const accesses = entries.map((it) => ({
    time: formatInstant(it.at, careUnit.timeZone),
    actor: it.actor_kind,
    client: { id: it.client_id, name: clients.nameOf(it.client_id) ?? null },
    operation: it.operation,
    care_unit_id: it.care_unit_id,
    outcome: it.outcome,
    request_id: it.request_id,
  }));
  return { accesses, next_cursor };
}
