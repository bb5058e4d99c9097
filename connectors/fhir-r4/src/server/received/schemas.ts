import Type, { type TProperties, type TSchema } from 'typebox';

/*
 * The elements of resources that the connector reads, in the shapes of https://hl7.org/fhir/R4/resourcelist.html. Every element
 * may be missing. Elements that are not here may have any shape.
 */

function shape<Elements extends TProperties>(elements: Elements): TSchema {
  return Type.Object(Object.fromEntries(Object.entries(elements).map(([name, it]) => [name, Type.Optional(it)])));
}

const text = Type.String();
/** https://hl7.org/fhir/R4/datatypes.html#dateTime, instant and date: a year at least. */
const time = Type.String({ pattern: '^\\d{4}' });
const extension = Type.Array(shape({ url: text }));
const coding = shape({ system: text, code: text, display: text });
const concept = shape({ coding: Type.Array(coding), text });
const period = shape({ start: time, end: time });
const identifier = shape({ use: text, type: concept, system: text, value: text, period });
const reference = shape({ reference: text, type: text, identifier, display: text });
const name = shape({
  use: text,
  text,
  family: text,
  given: Type.Array(text),
  prefix: Type.Array(text),
  suffix: Type.Array(text),
  period,
});
const contact = shape({ system: text, value: text, use: text, rank: Type.Number(), period });
const address = shape({
  use: text,
  text,
  line: Type.Array(text),
  city: text,
  postalCode: text,
  country: text,
  period,
});
const attachment = shape({
  contentType: text,
  data: text,
  url: text,
  size: Type.Number(),
  hash: text,
  title: text,
  creation: time,
});

/** What every resource has: https://hl7.org/fhir/R4/resource.html */
const resource = {
  id: Type.String({ minLength: 1 }),
  meta: shape({ versionId: text, lastUpdated: time }),
  extension,
  identifier: Type.Array(identifier),
};

/** By type of resource. */
export const receivedSchemas: Readonly<Record<string, TSchema>> = {
  Patient: shape({
    ...resource,
    active: Type.Boolean(),
    name: Type.Array(name),
    telecom: Type.Array(contact),
    gender: text,
    birthDate: time,
    deceasedBoolean: Type.Boolean(),
    deceasedDateTime: time,
    address: Type.Array(address),
    link: Type.Array(shape({ type: text, other: reference })),
  }),
  Practitioner: shape({ ...resource, active: Type.Boolean(), name: Type.Array(name) }),
  PractitionerRole: shape({
    ...resource,
    active: Type.Boolean(),
    period,
    practitioner: reference,
    organization: reference,
    location: Type.Array(reference),
  }),
  Location: shape({ ...resource, status: text, name: text, managingOrganization: reference, partOf: reference }),
  Device: shape({
    ...resource,
    status: text,
    deviceName: Type.Array(shape({ name: text, type: text })),
    type: concept,
    owner: reference,
    location: reference,
  }),
  HealthcareService: shape({
    ...resource,
    active: Type.Boolean(),
    name: text,
    type: Type.Array(concept),
    providedBy: reference,
    location: Type.Array(reference),
  }),
  Schedule: shape({
    ...resource,
    active: Type.Boolean(),
    serviceType: Type.Array(concept),
    actor: Type.Array(reference),
    planningHorizon: period,
  }),
  Slot: shape({
    ...resource,
    serviceType: Type.Array(concept),
    schedule: reference,
    status: text,
    start: time,
    end: time,
    overbooked: Type.Boolean(),
  }),
  Appointment: shape({
    ...resource,
    status: text,
    serviceType: Type.Array(concept),
    cancelationReason: concept,
    description: text,
    start: time,
    end: time,
    minutesDuration: Type.Number(),
    slot: Type.Array(reference),
    contained: Type.Array(Type.Object({ resourceType: text })),
    created: time,
    comment: text,
    patientInstruction: text,
    participant: Type.Array(shape({ extension, type: Type.Array(concept), actor: reference, status: text, period })),
  }),
  DocumentReference: shape({
    ...resource,
    status: text,
    docStatus: text,
    type: concept,
    category: Type.Array(concept),
    subject: reference,
    date: time,
    author: Type.Array(reference),
    custodian: reference,
    description: text,
    content: Type.Array(shape({ attachment })),
    context: shape({ encounter: Type.Array(reference), related: Type.Array(reference), period }),
  }),
  Encounter: shape({ ...resource, appointment: Type.Array(reference) }),
};

/** https://hl7.org/fhir/R4/bundle.html */
export const bundleSchema = Type.Object({
  type: Type.Optional(text),
  link: Type.Optional(Type.Array(shape({ relation: text, url: text }))),
  entry: Type.Optional(Type.Array(Type.Unknown())),
});

/** An entry whose resource is looked at by itself. */
export const entrySchema = shape({
  fullUrl: text,
  resource: Type.Object({ resourceType: text }),
  search: shape({ mode: text }),
  request: shape({ method: text, url: text }),
  response: shape({ status: text, location: text, etag: text, lastModified: text }),
});

/** https://hl7.org/fhir/R4/operationoutcome.html */
export const outcomeSchema = shape({ issue: Type.Array(shape({ severity: text, code: text })) });
