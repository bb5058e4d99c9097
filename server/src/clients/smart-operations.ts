const resources = ['Practitioner', 'Location', 'Device'] as const;
const faceTypes = [
  ...['Patient', ...resources, 'PractitionerRole', 'Organization'],
  ...['HealthcareService', 'Schedule', 'Slot', 'Appointment'],
];

/** Groups of resource types. Each group is enough, with all its types. */
type Types = readonly (readonly string[])[];

const declared = (types: Types, ...operations: readonly string[]) => operations.map((it) => [it, types] as const);

/**
 * The FHIR resource types that operations show or change. A system scope is one for a resource type, so an operation that is not
 * here, such as the list of accesses to a record, needs a scope of the gateway.
 */
const types: ReadonlyMap<string, Types> = new Map([
  ...faceTypes.flatMap((type) =>
    declared([[type]], `fhir_read_${type.toLowerCase()}`, `fhir_search_${type.toLowerCase()}`),
  ),
  ...declared(
    [['Appointment']],
    ...['create', 'update', 'patch', 'confirm', 'book', 'validate'].map((it) => `fhir_${it}_appointment`),
    'fhir_resend_code',
    'fhir_validate_appointment_update',
    ...['list_appointments', 'get_appointment', 'create_appointment', 'change_appointment', 'change_appointments'],
    'resend_confirmation',
  ),
  ...declared([['Patient']], 'fhir_create_patient', 'get_patient', 'search_patients', 'create_patient'),
  ...declared(
    [['Slot']],
    'fhir_find_appointments',
    'list_timeslots',
    'search_timeslots',
    'list_timeslot_watches',
    'get_timeslot_watch',
  ),
  ...declared([['Appointment']], 'create_timeslot_watch', 'delete_timeslot_watch'),
  ...declared([['HealthcareService']], 'list_healthcare_services', 'list_services'),
  ...declared([['Schedule']], 'list_schedules', 'get_schedule'),
  // Each kind of resource is a type of its own in FHIR.
  ...declared([resources], 'list_resources', 'get_resource'),
  ...declared([['DocumentReference']], 'list_medical_notes', 'get_medical_note', 'create_medical_note'),
  ...declared([['DocumentReference']], 'list_documents', 'get_document', 'create_document'),
  ...declared([['Binary']], 'get_document_content'),
  ...declared(
    [['Subscription']],
    ...['list_webhook_endpoints', 'create_webhook_endpoint', 'get_webhook_endpoint', 'change_webhook_endpoint'],
    ...['delete_webhook_endpoint', 'rotate_webhook_secret', 'test_webhook_endpoint'],
    ...['replay_events', 'list_webhook_deliveries', 'redeliver_event'],
    ...['read', 'search', 'create', 'update', 'delete', 'status', 'events'].map((it) => `fhir_${it}_subscription`),
    ...['fhir_read_basic', 'fhir_search_basic'],
  ),
  ...declared([['Appointment'], ['Subscription']], 'list_events'),
]);

/** See `types`. Empty: no system scope is enough. */
export function typesOf(operationId: string): Types {
  return types.get(operationId) ?? [];
}
