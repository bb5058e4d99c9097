import type { FhirDocumentReference } from '../fhir.ts';

/**
 * When a document was created. `date` may be missing; then the creation of an attachment, the begin of what the document
 * is about, or the last update stands for it.
 */
export function createdAt({ date, content, context, meta }: FhirDocumentReference): Date {
  const creation = content?.find(({ attachment }) => attachment?.creation !== undefined)?.attachment?.creation;
  const times = [date, creation, context?.period?.start, meta?.lastUpdated].map((it) => new Date(it ?? ''));
  return times.find((it) => !Number.isNaN(it.getTime())) ?? new Date(0);
}
