/** What an operation is to FHIR. */
interface Interaction {
  /** RESTful interaction (FHIR R4, http://hl7.org/fhir/restful-interaction). */
  readonly code: 'read' | 'search-type' | 'create' | 'update' | 'patch' | 'operation';
  /** Type of the resource that it concerns. */
  readonly type: 'Patient' | 'Appointment' | 'DocumentReference' | 'AuditEvent';
  /** It can concern several patients, each of whom has one hash in the entry, or more if the request named the patient. */
  readonly isOfSeveral?: true;
}

/** Of each operation that leaves an entry. */
const interactions: Readonly<Record<string, Interaction>> = {
  get_patient: { code: 'read', type: 'Patient' },
  search_patients: { code: 'search-type', type: 'Patient', isOfSeveral: true },
  create_patient: { code: 'create', type: 'Patient' },
  list_accesses: { code: 'search-type', type: 'AuditEvent' },
  list_appointments: { code: 'search-type', type: 'Appointment', isOfSeveral: true },
  get_appointment: { code: 'read', type: 'Appointment' },
  create_appointment: { code: 'create', type: 'Appointment' },
  change_appointment: { code: 'patch', type: 'Appointment' },
  change_appointments: { code: 'patch', type: 'Appointment', isOfSeveral: true },
  resend_confirmation: { code: 'operation', type: 'Appointment' },
  list_medical_notes: { code: 'search-type', type: 'DocumentReference' },
  get_medical_note: { code: 'read', type: 'DocumentReference' },
  create_medical_note: { code: 'create', type: 'DocumentReference' },
  list_documents: { code: 'search-type', type: 'DocumentReference' },
  get_document: { code: 'read', type: 'DocumentReference' },
  get_document_content: { code: 'read', type: 'DocumentReference' },
  create_document: { code: 'create', type: 'DocumentReference' },
  list_timeslots: { code: 'operation', type: 'Appointment' },
  fhir_read_patient: { code: 'read', type: 'Patient' },
  fhir_search_patient: { code: 'search-type', type: 'Patient', isOfSeveral: true },
  fhir_create_patient: { code: 'create', type: 'Patient' },
  fhir_read_slot: { code: 'operation', type: 'Appointment' },
  fhir_search_slot: { code: 'operation', type: 'Appointment' },
  fhir_find_appointments: { code: 'operation', type: 'Appointment' },
  fhir_read_appointment: { code: 'read', type: 'Appointment' },
  fhir_search_appointment: { code: 'search-type', type: 'Appointment', isOfSeveral: true },
  fhir_create_appointment: { code: 'create', type: 'Appointment' },
  fhir_update_appointment: { code: 'update', type: 'Appointment' },
  fhir_patch_appointment: { code: 'patch', type: 'Appointment' },
  fhir_book_appointment: { code: 'operation', type: 'Appointment' },
  fhir_confirm_appointment: { code: 'operation', type: 'Appointment' },
  fhir_resend_code: { code: 'operation', type: 'Appointment' },
  fhir_validate_appointment: { code: 'operation', type: 'Appointment' },
  fhir_validate_appointment_update: { code: 'operation', type: 'Appointment' },
  view_patient_page: { code: 'read', type: 'Appointment' },
  get_calendar_file: { code: 'read', type: 'Appointment' },
  confirm_on_patient_page: { code: 'patch', type: 'Appointment' },
  cancel_on_patient_page: { code: 'patch', type: 'Appointment' },
  resend_on_patient_page: { code: 'operation', type: 'Appointment' },
  // Kinds of write, and the end of a hold, in the background.
  appointments: { code: 'patch', type: 'Appointment', isOfSeveral: true },
  expiry: { code: 'patch', type: 'Appointment', isOfSeveral: true },
  medical_note: { code: 'create', type: 'DocumentReference' },
  document: { code: 'create', type: 'DocumentReference' },
  patient: { code: 'create', type: 'Patient' },
  // On the command line, in the gateway's own database.
  erase_patient: { code: 'operation', type: 'Patient' },
};

/** An operation of a later release, on the same database, is told as what it is at least. */
const ofLaterRelease: Interaction = { code: 'operation', type: 'Patient', isOfSeveral: true };

export function interactionOf(operation: string): Interaction {
  return (Object.hasOwn(interactions, operation) && interactions[operation]) || ofLaterRelease;
}
