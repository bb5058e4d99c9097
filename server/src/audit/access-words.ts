import { type Reason, reasons } from '../problems/reasons.ts';
import type { FoundAccess } from './search.ts';

/** What an operation does with a patient's record, for the patient. */
const operations: Readonly<Record<string, string>> = {
  get_patient: 'Looked up your details',
  search_patients: 'Found you in a search for patients',
  create_patient: 'Found or created your record',
  patient: 'Completed the creation of your record that was interrupted',
  list_accesses: 'Showed who had access to your record',
  list_appointments: 'Listed your appointments',
  create_appointment: 'Booked an appointment',
  change_appointments: 'Changed several appointments',
  get_appointment: 'Looked at an appointment',
  fhir_find_appointments: 'Looked for free times for you',
  fhir_notify_appointment: 'Was told of your appointment, because it follows changes',
  change_appointment: 'Changed, moved, confirmed or cancelled an appointment',
  resend_confirmation: 'Sent you a new code',
  list_medical_notes: 'Listed your medical notes',
  create_medical_note: 'Wrote a medical note',
  get_medical_note: 'Read a medical note',
  list_documents: 'Listed your documents',
  create_document: 'Added a document',
  get_document: 'Looked at the description of a document',
  get_document_content: 'Opened a document',
  view_patient_page: 'Opened the page of your appointment',
  confirm_on_patient_page: 'Confirmed on the page of your appointment',
  cancel_on_patient_page: 'Cancelled on the page of your appointment',
  resend_on_patient_page: 'Asked for a new code on the page of your appointment',
  appointments: 'Completed or took back a change of your appointments that was interrupted',
  expiry: 'Released a time that was not confirmed',
  medical_note: 'Completed a medical note that was interrupted',
  erase_patient: 'Erased what the gateway itself held about you',
  document: 'Completed a document that was interrupted',
};

/** The native endpoint that says what one in FHIR does. */
const nativeOf: Readonly<Record<string, string>> = {
  fhir_read_patient: 'get_patient',
  fhir_search_patient: 'search_patients',
  fhir_create_patient: 'create_patient',
  fhir_read_appointment: 'get_appointment',
  fhir_search_appointment: 'list_appointments',
  fhir_create_appointment: 'create_appointment',
  fhir_book_appointment: 'create_appointment',
  fhir_validate_appointment: 'create_appointment',
  fhir_update_appointment: 'change_appointment',
  fhir_patch_appointment: 'change_appointment',
  fhir_confirm_appointment: 'change_appointment',
  fhir_validate_appointment_update: 'change_appointment',
  fhir_resend_code: 'resend_confirmation',
};

/** How an access ended, for the patient. */
const outcomes: Readonly<Record<string, string>> = {
  success: 'Done',
  dry_run: 'Tried, without changing anything',
  replayed: 'Repeated; the earlier answer was given again',
  not_done: 'Not done',
  undone: 'Taken back',
  looked_up: 'Looked up; the result was not known yet',
};

/** What was done, in words for the patient. An operation without words keeps its name. */
export function operationInWords({ operation }: Pick<FoundAccess, 'operation'>): string {
  return operations[nativeOf[operation] ?? operation] ?? operation.replaceAll('_', ' ');
}

/** How it ended, in words for the patient. */
export function outcomeInWords({ outcome }: Pick<FoundAccess, 'outcome'>): string {
  const known = outcomes[outcome];
  if (known !== undefined) return known;
  const title = Object.hasOwn(reasons, outcome) ? reasons[outcome as Reason].title : outcome.replaceAll('_', ' ');
  return `Not done: ${title.slice(0, 1).toLowerCase()}${title.slice(1)}`;
}
