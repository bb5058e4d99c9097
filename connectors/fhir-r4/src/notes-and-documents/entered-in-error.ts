import type { FhirDocumentReference } from '../fhir.ts';

/** https://hl7.org/fhir/R4/valueset-document-reference-status.html, https://hl7.org/fhir/R4/valueset-composition-status.html */
export function isEnteredInError({ status, docStatus }: FhirDocumentReference): boolean {
  return status === 'entered-in-error' || docStatus === 'entered-in-error';
}

/** Whether callers see the document. One that another has replaced is hidden. */
export function isCurrentDocument(document: FhirDocumentReference): boolean {
  return !isEnteredInError(document) && document.status !== 'superseded';
}
