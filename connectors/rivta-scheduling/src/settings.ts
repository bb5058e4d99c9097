import { type ResourceKind, resourceKinds } from '@crossward/connector-kit';
import { settingsOf, textSetting } from '@crossward/connector-kit/rest';
import Type, { type Static } from 'typebox';

/** `SubjectOfCareIdType`: personal, coordination and reserve numbers. */
export const subjectOfCarePattern = /^[0-9]{8}[0-9pPtTfF][0-9]{3}$/;

const text = textSetting();

/** The operations that a producer may leave out. GetBookingDetails and GetSubjectOfCareSchedule are obligatory. */
export const optionalOperations = [
  'GetAllPerformers',
  'GetAllTimeTypes',
  'GetAvailableTimeslots',
  'MakeBooking',
  'UpdateBooking',
  'CancelBooking',
] as const;
export type OptionalOperation = (typeof optionalOperations)[number];

const actor = Type.Union(
  [settingsOf({ type: Type.Literal('agent'), hsa_id: text }), settingsOf({ type: Type.Literal('patient') })],
  { description: 'Who acts: an agent with this HSA id, or the patient.' },
);

const notes = settingsOf(
  {
    url: Type.String({ pattern: '^https?://', description: 'Address of GetCareDocumentation 2.1.' }),
    logical_address: textSetting('HSA id of the source system, or of the national aggregating service.'),
    not_approved: Type.Optional(
      Type.Union([Type.Literal('hide'), Type.Literal('show')], {
        description: 'What to do with notes that are not approved for the patient. Default: hide.',
      }),
    ),
    reserve_number_oid: Type.Optional(
      Type.String({
        pattern: '^[0-2](\\.[0-9]+)+$',
        description: "OID of the region's reserve numbers. Absent: no notes by reserve numbers.",
      }),
    ),
  },
  'Journal notes by GetCareDocumentation 2.1. Absent: none.',
);

/** Settings of a connection. */
export const rivtaSettings = settingsOf({
  url: Type.String({
    pattern: '^https?://',
    description: 'Address of the contracts. {operation} stands for the name of the operation.',
  }),
  actor,
  operations: Type.Optional(
    Type.Array(Type.Unsafe<OptionalOperation>({ enum: optionalOperations }), {
      description: 'What the producer has beside GetBookingDetails and GetSubjectOfCareSchedule. Default: all.',
    }),
  ),
  search_subject: Type.Optional(
    Type.String({
      pattern: subjectOfCarePattern.source,
      description: 'Synthetic number that the producer takes for questions about no patient, such as for time types.',
    }),
  ),
  repeated_hour: Type.Optional(
    Type.Union([Type.Literal('first'), Type.Literal('second'), Type.Literal('refuse')], {
      description: 'Which instant a time has in the hour that the clocks repeat. Default: refuse.',
    }),
  ),
  notes: Type.Optional(notes),
});
export type RivtaSettings = Static<typeof rivtaSettings>;

const resource = settingsOf({
  id: textSetting('HSA id of the performer, or resourceID of the producer.'),
  name: text,
  kind: Type.Optional(Type.Unsafe<ResourceKind>({ enum: resourceKinds })),
  healthcare_services: Type.Optional(Type.Array(text)),
});

const service = settingsOf({
  id: textSetting('timeTypeID of the producer.'),
  name: text,
  duration_minutes: Type.Optional(Type.Integer({ minimum: 1 })),
});

/** Settings of a care unit. */
export const careUnitSettings = settingsOf({
  healthcare_facility: textSetting('HSA id of the unit that owns the schedule.'),
  logical_address: Type.Optional(text),
  medical_facility: Type.Optional(text),
  resources: Type.Optional(Type.Array(resource)),
  healthcare_services: Type.Optional(Type.Array(service)),
});
export type CareUnitSettings = Static<typeof careUnitSettings>;

/** Where a care unit is in the national catalogue, with what its settings list. */
export interface Facility {
  readonly hsaId: string;
  readonly logicalAddress: string;
  /** HSA id of the unit that has the medical responsibility. */
  readonly medical: string;
  readonly settings: CareUnitSettings;
}

export function facilityIn(settings: CareUnitSettings): Facility {
  const { healthcare_facility: hsaId, logical_address = hsaId, medical_facility = hsaId } = settings;
  return { hsaId, logicalAddress: logical_address, medical: medical_facility, settings };
}
