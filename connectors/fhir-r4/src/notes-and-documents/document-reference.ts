import type { FhirDocumentReference } from '../fhir.ts';
import { readInstant } from '../mappers/instants.ts';

/**
 * When a document was created. `date` may be missing; then the creation of an attachment, the begin of what the document
 * is about, or the last update stands for it.
 */
export function createdAt({ date, content, context, meta }: FhirDocumentReference): Date {
  const creation = content?.find(({ attachment }) => attachment?.creation !== undefined)?.attachment?.creation;
  // Of a bare date, nobody says in which time zone the day is: UTC, wherever this process runs.
  const read = (text: string | undefined) => readInstant(text) ?? readInstant(`${text}T00:00:00Z`);
  const times = [date, creation, context?.period?.start, meta?.lastUpdated].map(read);
  return times.find((it) => it !== undefined) ?? new Date(0);
}

/** https://hl7.org/fhir/R4/valueset-document-reference-status.html, https://hl7.org/fhir/R4/valueset-composition-status.html */
export function isEnteredInError({ status, docStatus }: FhirDocumentReference): boolean {
  return status === 'entered-in-error' || docStatus === 'entered-in-error';
}

/** Whether callers see the document. One that another has replaced is hidden. */
export function isCurrentDocument(document: FhirDocumentReference): boolean {
  return !isEnteredInError(document) && document.status !== 'superseded';
}
