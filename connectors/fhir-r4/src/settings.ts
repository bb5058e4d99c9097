import { identifierTypeSchema, type SecretValue } from '@crossward/connector-kit';
import { secretSetting as secret, settingsOf, textSetting } from '@crossward/connector-kit/rest';
import Type, { type Static } from 'typebox';

const text = textSetting();
const scope = Type.Optional(Type.String({ description: 'Scopes to request, separated by spaces.' }));
const tokenUrl = Type.Optional(
  Type.String({ description: 'Token endpoint. Default: from .well-known/smart-configuration.' }),
);

const auth = Type.Union([
  settingsOf({ type: Type.Literal('none') }),
  settingsOf({ type: Type.Literal('basic'), username: text, password: secret }),
  settingsOf({ type: Type.Literal('bearer'), token: secret }),
  settingsOf({
    type: Type.Literal('client_credentials'),
    token_url: tokenUrl,
    client_id: text,
    client_secret: secret,
    scope,
    send_secret_in: Type.Optional(
      Type.Union([Type.Literal('header'), Type.Literal('body')], {
        description: 'HTTP Basic (default) or body.',
      }),
    ),
  }),
  settingsOf({
    type: Type.Literal('smart_backend_services'),
    token_url: tokenUrl,
    client_id: text,
    private_key: Type.Unsafe<SecretValue>({ ...secret, description: 'PKCS #8 in PEM, or a JWK as JSON.' }),
    algorithm: Type.Optional(Type.Union([Type.Literal('RS384'), Type.Literal('ES384')])),
    key_id: text,
    scope,
  }),
]);

const identifierSystems = Type.Unsafe<Readonly<Record<string, readonly string[]>>>({
  type: 'object',
  propertyNames: identifierTypeSchema(),
  additionalProperties: Type.Array(text, { minItems: 1 }),
  description: 'Identifier systems of a type, in place of its own. All of them are searched and read.',
});

const healthcareService = settingsOf({
  id: text,
  name: text,
  duration_minutes: Type.Optional(Type.Integer({ minimum: 1 })),
  service_types: Type.Optional(
    Type.Array(settingsOf({ system: Type.Optional(text), code: text }), {
      description: 'Codings of Slot.serviceType and Schedule.serviceType. The first is written.',
    }),
  ),
  reference: Type.Optional(Type.String({ pattern: '^HealthcareService/', description: 'HealthcareService/<id>' })),
});

const coding = (description: string) =>
  Type.Optional(settingsOf({ system: text, code: text, display: Type.Optional(text) }, description));

/**
 * The number of resources that a move of an appointment with two slots writes: the appointment, its previous slots and
 * its new ones.
 */
export const resourcesPerChange = 5;
/** Three changes. For a server that takes less, slot claims are better. */
export const smallestTransaction = 3 * resourcesPerChange;

const ownBody = Type.Optional(
  settingsOf({
    profile: Type.Optional(textSetting('The profile that it names (meta.profile).')),
    elements: Type.Optional(
      Type.Array(Type.String({ pattern: '^[a-z][A-Za-z]+$' }), {
        minItems: 1,
        description:
          'The elements of the Appointment that it has, such as slot, besides id, status and the comment. Default: all.',
      }),
    ),
  }),
);

const automatic = (description: string) =>
  Type.Optional(Type.Union([Type.Boolean(), Type.Literal('auto')], { description }));

export const fhirSettings = settingsOf({
  base_url: Type.String({ pattern: '^https?://', description: 'Base URL of the FHIR interface, without a query.' }),
  own_base_urls: Type.Optional(
    Type.Array(Type.String({ pattern: '^https?://' }), {
      description:
        'Other base URLs by which the server names itself, such as the one behind a proxy. Links and references that begin with one of them are its own. Requests always go to base_url.',
    }),
  ),
  local_time_zone: Type.Optional(
    textSetting(
      'The time zone in which the server writes moments without an offset: that of its care units, such as Europe/Oslo. Default: a record with such a moment is left out.',
    ),
  ),
  auth: Type.Optional(auth),
  headers: Type.Optional(
    Type.Record(Type.String({ pattern: '^[A-Za-z0-9-]{1,60}$' }), Type.Union([text, secret]), {
      description:
        'Request headers for every request to the FHIR interface, such as the key of an API gateway in front of it. The token endpoint does not get them.',
    }),
  ),
  search_method: Type.Optional(
    Type.Union([Type.Literal('get'), Type.Literal('post')], {
      description: 'How to search for everything but people by number. Default: get.',
    }),
  ),
  search_profiles: Type.Optional(
    Type.Record(Type.String({ pattern: '^[A-Z][A-Za-z]+$' }), text, {
      description:
        'The profile (_profile) that a search for a type of resource names, for a server that rejects one without it.',
    }),
  ),
  patient_header: Type.Optional(
    settingsOf(
      {
        name: Type.String({ pattern: '^[A-Za-z0-9-]{1,60}$' }),
        identifier_type: Type.Unsafe<string>(identifierTypeSchema('patient')),
      },
      'The request header that names the patient by a number, for a server that wants it in each call about appointments and free times. They are then listed for one patient at a time, and changes by staff are not reported. Needs booking.mode create or none.',
    ),
  ),
  patient_identifier_types: Type.Optional(
    Type.Array(Type.Unsafe<string>(identifierTypeSchema('patient')), {
      description:
        'The types of numbers by which this EHR knows its patients. Default: no_personal_number, se_personal_number and nhs_number.',
    }),
  ),
  resource_identifier_types: Type.Optional(
    Type.Array(Type.Unsafe<string>(identifierTypeSchema('resource')), {
      description:
        'The types of numbers by which this EHR knows its staff. Default: no_personal_number, se_personal_number and hsa_id.',
    }),
  ),
  identifier_systems: Type.Optional(identifierSystems),
  patient_search: Type.Optional(
    Type.Union([Type.Literal('post'), Type.Literal('get')], {
      description: 'How to search for a patient by number. POST (default) keeps the number out of the URL.',
    }),
  ),
  patient_identifier_search: Type.Optional(
    Type.Union([Type.Literal('patient'), Type.Literal('actor')], {
      description:
        'The parameter with :identifier by which Appointments are found that name their patient by a number and no reference. Default: they are not in the list of the patient. Costs two more requests for each list.',
    }),
  ),
  identifier_lists: Type.Optional(
    Type.Boolean({
      description:
        'Whether a search and the condition of a create find each number of a list. Default: true. A server that rejects lists needs no setting; one that finds nobody by them does.',
    }),
  ),
  healthcare_services: Type.Optional(
    Type.Array(healthcareService, { description: 'What can be booked. Default: every HealthcareService.' }),
  ),
  directory_seconds: Type.Optional(
    Type.Integer({ minimum: 0, description: 'How long schedules, staff and services are cached. Default: 60.' }),
  ),
  slots: Type.Optional(
    settingsOf({
      search_by: Type.Optional(Type.Union([Type.Literal('schedule'), Type.Literal('schedule.actor')])),
      by_service: Type.Optional(
        settingsOf(
          {
            service: textSetting('The parameter for the id of the HealthcareService.'),
            unit: Type.Optional(textSetting('The parameter for slot_unit of the care unit.')),
            moved: Type.Optional(textSetting('The parameter for the id of an appointment to be moved.')),
          },
          'For a server that searches for the Slots of one service at a time, in place of search_by, and has no search for Schedules. The answers include the Schedules of the Slots. Each care unit names its resources, and each service its reference. Needs booking.mode create or none.',
        ),
      ),
      lower_bound: Type.Optional(
        Type.Union([Type.Literal('ge'), Type.Literal('gt')], {
          description: 'The prefix of the lower bound of start that the server takes. Default: ge.',
        }),
      ),
      require_service_type: Type.Optional(
        Type.Boolean({ description: 'Whether the server rejects a search for slots without service-type.' }),
      ),
      check_appointments: Type.Optional(
        Type.Boolean({
          description:
            'Whether appointments take their time whatever the Slots say. For a server whose staff move appointments without changing the Slots. Costs one more search for each listing and booking. Default: false.',
        }),
      ),
      page_size: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
      longest_hours: Type.Optional(
        Type.Integer({
          // A day at least: a caller can ask for three months, each part of which is a request.
          minimum: 24,
          maximum: 2400,
          description:
            'The longest time that one search may span. A longer one becomes several searches. Default: no limit.',
        }),
      ),
    }),
  ),
  booking: Type.Optional(
    settingsOf({
      mode: Type.Optional(
        Type.Union([
          Type.Literal('auto'),
          Type.Literal('transaction'),
          Type.Literal('slot_claim'),
          Type.Literal('operations'),
          Type.Literal('create'),
          Type.Literal('none'),
        ]),
      ),
      hold: automatic(
        'Whether to hold times until a code is entered. Default: only if the connector writes Slots. For $hold, true promises that the server ends no hold before its code expires.',
      ),
      operation_lookup: automatic(
        'Whether the server stores the operation id and finds appointments, notes and documents by it. auto: appointments by the mode, notes and documents yes.',
      ),
      operations: Type.Optional(
        Type.Union(
          [
            Type.Literal('ihe'),
            Type.Literal('argonaut'),
            Type.Literal('epic'),
            Type.Literal('isik'),
            Type.Literal('medplum'),
          ],
          { description: 'The form of $find, $hold and $book (experimental). Default: ihe.' },
        ),
      ),
      operations_url: Type.Optional(
        Type.String({
          pattern: '^https?://',
          description: 'Base URL of $find, $hold and $book. Default: base_url.',
        }),
      ),
      checked_update: Type.Optional(
        Type.Boolean({
          description:
            'Whether a server with $book checks an Appointment that is moved by PUT, takes its new Slots and frees the former ones. Default: false.',
        }),
      ),
      minimal_create: Type.Optional(
        Type.Boolean({ description: 'Whether a new Appointment names its Slot and its patient alone.' }),
      ),
      comment_field: Type.Optional(
        Type.Union([Type.Literal('comment'), Type.Literal('description'), Type.Literal('patientInstruction')]),
      ),
      comment_extension: Type.Optional(
        textSetting(
          'The URL of an extension of type string that has the comment, in place of comment_field. Needs mode create.',
        ),
      ),
      changes: Type.Optional(
        Type.Array(Type.Union([Type.Literal('create'), Type.Literal('update'), Type.Literal('cancel')]), {
          description: 'What is offered of what the mode can do. Default: everything.',
        }),
      ),
      rebooks: Type.Optional(
        Type.Boolean({
          description:
            'Whether a move books the new time and cancels the former appointment, for a server that cannot move one. Then no update has a time. Default: false.',
        }),
      ),
      booked_status: Type.Optional(
        Type.Union([Type.Literal('proposed'), Type.Literal('pending')], {
          description:
            'The status that the server wants in an Appointment that books a time, and may keep. It then means booked. Needs mode create.',
        }),
      ),
      bodies: Type.Optional(
        settingsOf(
          { create: ownBody, update: ownBody, cancel: ownBody },
          'What the body of each change has, for a server that takes no other. The Appointment is read after the change. Needs mode create, and update of Appointment in the CapabilityStatement.',
        ),
      ),
      transaction_size: Type.Optional(
        Type.Integer({
          minimum: smallestTransaction,
          description: 'How many resources the server accepts in one transaction. Default: any number.',
        }),
      ),
      cancel_reason: Type.Optional(Type.Union([Type.Literal('comment'), Type.Literal('cancelationReason')])),
      probe: Type.Optional(
        Type.Boolean({
          description: 'Whether to prove transactions and If-Match when the connection opens. Default: true.',
        }),
      ),
    }),
  ),
  medical_notes: Type.Optional(
    settingsOf({
      category: coding('Category of notes. Default: clinical-note of US Core.'),
      type: coding('Type of new notes. Default: LOINC 11506-3 (progress note).'),
      author: Type.Optional(
        Type.Union([Type.Literal('practitioner'), Type.Literal('practitioner_role')], {
          description: 'How a new note names its author. Default: practitioner.',
        }),
      ),
      care_unit: Type.Optional(
        Type.Union([Type.Literal('recorded'), Type.Literal('any')], {
          description:
            'Which notes a care unit shows. recorded (default): those that name it. any: all that do not name another one, for a server that does not record care units.',
        }),
      ),
    }),
  ),
  documents: Type.Optional(
    settingsOf({
      category: coding('Category of new documents, other than that of notes. Default: none.'),
      type: coding('Type of new documents. Default: LOINC 34133-9 (summary of episode note).'),
      author: Type.Optional(
        Type.Union([Type.Literal('practitioner'), Type.Literal('practitioner_role')], {
          description: 'How a new document names its author. Default: practitioner.',
        }),
      ),
      care_unit: Type.Optional(
        Type.Union([Type.Literal('recorded'), Type.Literal('any')], {
          description:
            'Which documents a care unit shows. recorded (default): those that name it. any: all that do not name another one, for a server that does not record care units.',
        }),
      ),
    }),
  ),
  schedules: Type.Optional(
    settingsOf({
      write: Type.Optional(
        Type.Boolean({
          description:
            'Whether to create, end and change schedules, with their Slots. Needs a server that is booked by transactions. Default: false.',
        }),
      ),
      horizon_days: Type.Optional(
        Type.Integer({
          minimum: 7,
          maximum: 730,
          description: 'For how many days ahead a schedule has Slots. Default: 92.',
        }),
      ),
    }),
  ),
  binary_storage_url: Type.Optional(
    Type.String({
      pattern: '^https?://',
      description:
        'Where the signed URLs begin by which the server replaces references to its Binaries; the id of the Binary follows. Medplum: its storageBaseUrl. The contents are read from the Binaries.',
    }),
  ),
  prefer_handling_strict: Type.Optional(Type.Boolean()),
});
export type FhirSettings = Static<typeof fhirSettings>;
export type AuthSettings = NonNullable<FhirSettings['auth']>;
export type BookingMode = 'transaction' | 'slot_claim' | 'operations' | 'create' | 'none';

/** The `settings` of a care unit. */
export const careUnitSettings = settingsOf({
  location: Type.Optional(Type.String({ pattern: '^Location/' })),
  organization: Type.Optional(Type.String({ pattern: '^Organization/' })),
  /** Ids as in the gateway. Default: every resource with a schedule at the place. */
  resources: Type.Optional(Type.Array(text)),
  /** The care unit in searches for Slots: the value of the parameter `slots.by_service.unit`. */
  slot_unit: Type.Optional(text),
});
export type CareUnitSettings = Static<typeof careUnitSettings>;

export const defaultPageSize = 200;
/** More slots than one resource has in a month. A server that sends fewer sends a link to the next page. */
export const defaultSlotPageSize = 1000;
export const defaultDirectorySeconds = 60;
export const defaultHorizonDays = 92;
