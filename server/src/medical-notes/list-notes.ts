import type { MedicalNote } from '@crossward/connector-kit';
import type { Static, TObject } from 'typebox';
import type { Access, EndpointDeps } from '../api/endpoint.ts';
import { resourceIdentifier } from '../api/identifiers.ts';
import { type Page, page } from '../api/paging.ts';
import { readOpenRange } from '../api/request-times.ts';
import { requireResource } from '../ehr/lookups.ts';
import type { ReadHeader } from '../identifiers/index.ts';
import { inQuery } from '../problems/places.ts';
import type { medicalNoteQuery } from './contract.ts';

const places = { start: inQuery('start'), end: inQuery('end') };

/** A page of the patient's notes at the care unit, newest first. */
export async function listNotes(
  { client, ehr, careUnit, cursors }: Access & Pick<EndpointDeps, 'cursors'>,
  patientId: string,
  query: Static<TObject<typeof medicalNoteQuery>>,
  readHeader: ReadHeader,
): Promise<Page<MedicalNote>> {
  const { start, end } = readOpenRange(query, places, careUnit.timeZone);
  const authorPlace = inQuery('author_id');
  const author =
    query.author_id === undefined
      ? undefined
      : await requireResource(
          ehr,
          careUnit,
          resourceIdentifier(query.author_id, authorPlace, ehr, readHeader),
          authorPlace,
        );
  const authorId = author?.id;
  const filters = [ehr.id, careUnit.id, patientId, start ?? null, end ?? null, authorId ?? null];
  return page<MedicalNote>(
    cursors,
    query,
    { clientId: client.id, operationId: 'list_medical_notes', filters },
    ({ createdAt, id }) => [createdAt, id],
    (after, limit) =>
      ehr.call('listMedicalNotes', {
        careUnit,
        patientId,
        start,
        end,
        authorId,
        after: after && { createdAt: new Date(String(after[0])), id: String(after[1]) },
        limit,
      }),
  );
}
