import type { Document } from '@crossward/connector-kit';
import type { CareUnitConnection, EhrConnection } from '../ehr/connection.ts';
import { formatIdentifier } from '../identifiers/index.ts';
import { formatInstant } from '../time/date-times.ts';
import type { DocumentBody } from './contract.ts';

export function documentBody(document: Document, careUnit: CareUnitConnection): DocumentBody {
  return {
    id: document.id,
    patient_id: formatIdentifier({ type: 'emr_id', value: document.patientId }),
    created_at: formatInstant(document.createdAt, careUnit.timeZone),
    author_id: document.authorId === null ? null : formatIdentifier({ type: 'emr_id', value: document.authorId }),
    title: document.title,
    content_type: document.contentType,
    size: document.size,
  };
}

/** The path of a document. Names the patient by the EHR's own id. */
export function documentPath(
  ehr: EhrConnection,
  careUnit: CareUnitConnection,
  { patientId, id }: Pick<Document, 'patientId' | 'id'>,
): string {
  const patient = formatIdentifier({ type: 'emr_id', value: patientId });
  const parts = ['', 'api', 'emrs', ehr.id, 'care-units', careUnit.id, 'patients', patient, 'documents', id];
  return parts.map(encodeURIComponent).join('/');
}
