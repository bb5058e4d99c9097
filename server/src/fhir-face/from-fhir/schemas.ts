import { genders } from '@crossward/connector-kit';
import Type, { type Static } from 'typebox';
import { choice } from '../../api/schemas.ts';

/**
 * What a client may send: https://hl7.org/fhir/R4/appointment.html, https://hl7.org/fhir/R4/patient.html. Elements that the gateway reads have their form here. Others
 * are known by name, so that a misspelt one is an error.
 */
const open = { additionalProperties: true };
/** Extensions of primitive elements are in names with an underscore. */
const closed = { additionalProperties: false, patternProperties: { '^_': {} } };
const text = Type.String({ format: 'text', minLength: 1 });
/** The offset is required: https://hl7.org/fhir/R4/datatypes.html#instant */
const instant = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d+)?(Z|[+-]\\d{2}:\\d{2})$' });
const anything = Type.Optional(Type.Unknown());

const byName = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, anything]));
const ofElement = byName(['id', 'extension']);

const identifier = Type.Object({ system: Type.Optional(text), value: Type.Optional(text) }, open);
const reference = Type.Object(
  {
    reference: Type.Optional(text),
    type: Type.Optional(text),
    identifier: Type.Optional(identifier),
    ...byName(['display']),
    ...ofElement,
  },
  closed,
);
const coding = Type.Object(
  {
    system: Type.Optional(text),
    code: Type.Optional(text),
    ...byName(['version', 'display', 'userSelected']),
    ...ofElement,
  },
  closed,
);
const concept = Type.Object(
  { coding: Type.Optional(Type.Array(coding)), text: Type.Optional(text), ...ofElement },
  closed,
);

/** https://hl7.org/fhir/R4/valueset-participationstatus.html */
const participationStatuses = ['accepted', 'declined', 'tentative', 'needs-action'] as const;

const participant = Type.Object(
  {
    actor: Type.Optional(reference),
    status: choice(participationStatuses),
    ...byName(['type', 'required', 'period', 'modifierExtension']),
    ...ofElement,
  },
  closed,
);

/** https://hl7.org/fhir/R4/valueset-appointmentstatus.html */
export const statuses = [
  'proposed',
  'pending',
  'booked',
  'arrived',
  'fulfilled',
  'cancelled',
  'noshow',
  'entered-in-error',
  'checked-in',
  'waitlist',
] as const;

/** Elements that no EHR behind the gateway keeps. */
const dropped = [
  'serviceCategory',
  'specialty',
  'appointmentType',
  'reasonCode',
  'reasonReference',
  'priority',
  'description',
  'supportingInformation',
  'created',
  'basedOn',
  'patientInstruction',
] as const;

/** Elements of any resource. */
const ofResource = byName(['meta', 'text', 'language', 'contained', 'extension']);

/** Elements that change what the others mean, or that nobody could act upon. */
export const refused = ['modifierExtension', 'implicitRules', 'requestedPeriod'] as const;

export const fhirAppointmentSchema = Type.Object(
  {
    resourceType: Type.Literal('Appointment'),
    id: Type.Optional(text),
    status: choice(statuses),
    start: Type.Optional(instant),
    end: Type.Optional(instant),
    minutesDuration: Type.Optional(Type.Integer({ minimum: 1 })),
    slot: Type.Optional(Type.Array(reference)),
    serviceType: Type.Optional(Type.Array(concept)),
    participant: Type.Array(participant, { minItems: 1 }),
    comment: Type.Optional(text),
    cancelationReason: Type.Optional(concept),
    identifier: Type.Optional(Type.Array(identifier)),
    ...byName([...dropped, ...refused]),
    ...ofResource,
  },
  closed,
);
export type SentAppointment = Static<typeof fhirAppointmentSchema>;
export type SentReference = Static<typeof reference>;

const humanName = Type.Object(
  { use: Type.Optional(text), family: Type.Optional(text), given: Type.Optional(Type.Array(text)) },
  open,
);
const contactPoint = Type.Object(
  { system: Type.Optional(text), value: Type.Optional(text), use: Type.Optional(text) },
  open,
);
const address = Type.Object(
  {
    use: Type.Optional(text),
    line: Type.Optional(Type.Array(text)),
    city: Type.Optional(text),
    postalCode: Type.Optional(text),
    country: Type.Optional(text),
  },
  open,
);

/** Elements of a Patient that no EHR behind the gateway keeps. */
const droppedOfPatient = [
  'maritalStatus',
  'multipleBirthBoolean',
  'multipleBirthInteger',
  'photo',
  'contact',
  'communication',
  'generalPractitioner',
  'managingOrganization',
] as const;

/** Elements that change what the others mean: a record out of use, of somebody who is dead, or that stands for another. */
export const refusedOfPatient = [
  'modifierExtension',
  'implicitRules',
  'deceasedBoolean',
  'deceasedDateTime',
  'link',
] as const;

export const fhirPatientSchema = Type.Object(
  {
    resourceType: Type.Literal('Patient'),
    identifier: Type.Array(identifier, { minItems: 1 }),
    name: Type.Array(humanName, { minItems: 1 }),
    birthDate: text,
    active: Type.Optional(Type.Literal(true)),
    gender: Type.Optional(choice(genders)),
    telecom: Type.Optional(Type.Array(contactPoint)),
    address: Type.Optional(Type.Array(address)),
    ...byName([...droppedOfPatient, ...refusedOfPatient, 'id']),
    ...ofResource,
  },
  closed,
);
export type SentPatient = Static<typeof fhirPatientSchema>;

/** A Patient that only says who is meant. */
export const namedPatientSchema = Type.Object(
  { resourceType: Type.Literal('Patient'), id: Type.Optional(text), identifier: Type.Optional(Type.Array(identifier)) },
  open,
);

const parameter = Type.Object(
  {
    name: text,
    resource: anything,
    part: anything,
    valueReference: Type.Optional(reference),
    valueUri: Type.Optional(text),
    valueId: Type.Optional(text),
    valueString: Type.Optional(text),
    valueCode: Type.Optional(text),
    valueBoolean: Type.Optional(Type.Boolean()),
  },
  open,
);
/** https://hl7.org/fhir/R4/parameters.html */
export const parametersSchema = Type.Object({
  resourceType: Type.Literal('Parameters'),
  parameter: Type.Optional(Type.Array(parameter)),
});
export type SentParameter = Static<typeof parameter>;

/** RFC 6902 */
export const jsonPatchSchema = Type.Array(
  Type.Object(
    {
      op: choice(['add', 'remove', 'replace', 'move', 'copy', 'test']),
      path: Type.String(),
      from: Type.Optional(Type.String()),
      value: anything,
    },
    { additionalProperties: true },
  ),
  { minItems: 1, maxItems: 100 },
);
export type JsonPatch = Static<typeof jsonPatchSchema>;
