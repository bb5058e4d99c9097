import Type, { type Static } from 'typebox';

/*
 * What is read of each record of FHIR STU3 (https://hl7.org/fhir/STU3/). What does not fit is left out, and hides no other.
 */

const text = Type.String();
const optionalText = Type.Optional(text);
const reference = Type.Object({ reference: optionalText, display: optionalText });
const concept = Type.Object({ text: optionalText });
const extension = Type.Optional(
  Type.Array(Type.Object({ url: text, valueCode: optionalText, valueString: optionalText })),
);

export const slotSchema = Type.Object({
  id: text,
  extension,
  serviceType: Type.Optional(Type.Array(concept)),
  schedule: reference,
  status: text,
  start: text,
  end: text,
});

export const scheduleSchema = Type.Object({
  id: text,
  serviceCategory: Type.Optional(concept),
  actor: Type.Optional(Type.Array(reference)),
});
export type FhirSchedule = Static<typeof scheduleSchema>;

const humanName = Type.Object({
  family: optionalText,
  given: Type.Optional(Type.Array(text)),
  prefix: Type.Optional(Type.Array(text)),
});

/** A Practitioner. A Location has a text as its name. */
export const actorSchema = Type.Object({
  id: text,
  name: Type.Optional(Type.Union([text, Type.Array(humanName)])),
});

export const appointmentSchema = Type.Object({
  id: text,
  extension,
  status: text,
  serviceCategory: Type.Optional(concept),
  serviceType: Type.Optional(Type.Array(concept)),
  start: text,
  end: optionalText,
  minutesDuration: Type.Optional(Type.Number()),
  comment: optionalText,
  participant: Type.Array(Type.Object({ actor: Type.Optional(reference) })),
});

export const identifierSchema = Type.Object({ system: optionalText, value: optionalText });

/** Without what the kit reads in any form: names, contacts and the like. */
export const patientSchema = Type.Object({
  id: text,
  identifier: Type.Optional(Type.Array(identifierSchema)),
  active: Type.Optional(Type.Boolean()),
  deceasedBoolean: Type.Optional(Type.Boolean()),
  deceasedDateTime: optionalText,
});

export const bundleSchema = Type.Object({
  link: Type.Optional(Type.Array(Type.Object({ relation: optionalText }))),
  entry: Type.Optional(Type.Array(Type.Object({ resource: Type.Optional(Type.Unknown()) }))),
});

const coding = Type.Object({ code: optionalText });
export const outcomeSchema = Type.Object({
  issue: Type.Array(
    Type.Object({
      severity: optionalText,
      details: Type.Optional(Type.Object({ coding: Type.Optional(Type.Array(coding)) })),
    }),
  ),
});
