import type { ConfiguredCareUnit } from '@crossward/connector-kit';
import type { Subject } from '@crossward/connector-kit/conformance';
import { startMedplum } from '../counterparts/medplum.ts';
import type { RunningFhirServer } from '../counterparts/running-server.ts';
import { healthcareServices } from '../fake/data-set.ts';
import { type FakeOptions, startFake } from '../fake/server.ts';
import type { Store } from '../fake/store.ts';
import { uploadTo } from '../fake/upload.ts';
import type { FhirResource } from '../src/fhir.ts';
import type { FhirSettings } from '../src/settings.ts';
import { nightsOfClockChanges } from './clock-changes.ts';
import { portalServer, portalSettings, portalUnits } from './portal-server.ts';
import { fhirSubject, settingsFor } from './subject.ts';

/** A booking mode, with a server that supports it. */
export interface Counterpart {
  readonly name: string;
  /** The capabilities that tests check. Absent: all. */
  readonly only?: readonly string[];
  make(): Promise<Subject>;
}

/**
 * What depends on the way to book. The rest (people, notes, documents, free times, what has changed, odd records) is the same
 * code in each mode, and is proved on one server of each kind: one that takes every write, one that keeps its slots itself, one
 * that proposes times, and Medplum.
 */
const booking = [
  'appointments-read',
  'create',
  'update',
  'cancel',
  'holds',
  'transactions',
  'operation-ids',
  'failed-reads',
  'lost-answers',
  'refusals',
  'races',
  'clock-changes',
  'concurrent-edits',
  'staff-in-between',
  'unclaimed',
];
/** What is left of a booking if another mode with the same steps has proved the rest: bodies, and what a lost answer leaves. */
const bodies = ['create', 'cancel', 'holds', 'operation-ids', 'lost-answers', 'races', 'unclaimed'];
/** What is left of a booking if another mode has proved the rest: that no time is given twice. */
const claims = ['create', 'update', 'holds', 'races', 'concurrent-edits'];

const checked = (only: readonly string[], counterparts: readonly Counterpart[]) =>
  counterparts.map((it): Counterpart => ({ ...it, only }));

/** Here each time zone has a process of its own. What the connector makes of a time is the same code in each mode. */
const withZones = 'transaction';

interface Server {
  readonly url: string;
  save(resource: FhirResource): Promise<unknown>;
  /** Of a fake, in which records can be what they should not be. */
  readonly store?: Store;
  close(): Promise<void>;
}

async function subjectOver(
  name: string,
  server: Server,
  settings: Partial<FhirSettings>,
  units?: readonly ConfiguredCareUnit[],
): Promise<Subject> {
  const { slots, nights } = nightsOfClockChanges();
  for (const slot of slots) await server.save(slot);
  const { minimal_create, operations } = settings.booking ?? {};
  const oneSlotOnly = minimal_create === true || operations === 'medplum';
  const subject = await fhirSubject(name, settingsFor(server.url, settings), server.close, {
    oneSlotOnly,
    store: server.store,
    units,
    zonesInProcesses: name.endsWith(withZones),
    // Who has a number. Each day of the time in which the checks book is a request.
    ...(settings.patient_header ? { otherPatientId: 'p-2', window: daysFromTomorrow(7) } : {}),
  });
  // Medplum calculates its free times, and reads no Slot.
  const oddRecords =
    operations === 'medplum' ? { ...subject.oddRecords, breakTimeSlot: undefined } : subject.oddRecords;
  return Object.create(subject, { clockChanges: { value: nights }, oddRecords: { value: oddRecords } });
}

function daysFromTomorrow(days: number): { readonly start: Date; readonly end: Date } {
  const start = new Date(Date.now() + dayMilliseconds);
  return { start, end: new Date(start.getTime() + days * dayMilliseconds) };
}

function onFake(
  way: string,
  options: FakeOptions,
  settings: Partial<FhirSettings> = {},
  units?: readonly ConfiguredCareUnit[],
): Counterpart {
  const name = `fhir-r4, ${way}`;
  return {
    name,
    async make() {
      const fake = await startFake({
        ...options,
        data: { ...ofTheWindow, ...options.data, oneActorEach: options.operations === 'medplum' },
      });
      const save = async (resource: FhirResource) => fake.store.save(resource);
      return subjectOver(name, { url: fake.url, save, store: fake.store, close: fake.close }, settings, units);
    },
  };
}

function onMedplum(way: string, transactions: boolean): Counterpart {
  const name = `fhir-r4 on Medplum, ${way}`;
  return {
    name,
    async make() {
      const medplum = await startMedplum({ transactions, data: ofTheWindow });
      const save = (resource: FhirResource) =>
        medplum.repository.createResource(resource as Parameters<typeof medplum.repository.createResource>[0]);
      return subjectOver(name, { url: medplum.url, save, close: medplum.close }, {});
    },
  };
}

/** A running server, as used by the connector and by the EHR's own staff. */
export function onRunning({ url, settings }: RunningFhirServer, name = `fhir-r4 on ${url}`): Counterpart {
  const { save } = uploadTo({ baseUrl: url });
  return { name, make: () => subjectOver(name, { url, save, close: async () => undefined }, settings) };
}

const dayMilliseconds = 24 * 60 * 60 * 1000;
/** As long as the window of the checks: each search looks through all slots. */
const ofTheWindow = { days: 17 };

/** An EHR that manages its slots itself and rejects writes to them. */
const scheduler: FakeOptions = { transactions: 'none', plainWrites: false, checksAppointments: true };

/** The next clock change is within the horizon. */
const writingSchedules: Partial<FhirSettings> = { schedules: { write: true, horizon_days: 400 } };

/** The fake server in booking modes that write slots and appointments: in a transaction, and with a claim on the slot. */
export const slotFakes: readonly Counterpart[] = [
  onFake(withZones, { validates: true, cachesSearches: true }, writingSchedules),
  // With small pages.
  ...checked(
    [...booking, 'time-slots', 'paging'],
    [onFake('slot claim', { transactions: 'none', validates: true, emptyBodies: true, pageSize: 50 })],
  ),
];

/** As slot claims, on a server with another status for a slot that is taken. */
export const otherSlotFakes = checked(claims, [
  onFake('slot claim rejected with 409', { transactions: 'none', lostClaimStatus: 409 }),
]);

/** The fake server in booking modes that create appointments only. */
export const createFakes: readonly Counterpart[] = [
  onFake(
    'checked create',
    { ...scheduler, emptyBodies: true, requiresServiceType: true },
    {
      booking: { mode: 'create', operation_lookup: true },
      slots: { require_service_type: true, search_by: 'schedule.actor' },
    },
  ),
  ...checked(bodies, [
    onFake('checked create without look-up', scheduler, { booking: { mode: 'create' } }),
    onFake(
      'minimal create',
      { ...scheduler, oneSlot: true, patchOnly: true, emptyBodies: true, requiresServiceType: true },
      { booking: { mode: 'create', minimal_create: true }, slots: { require_service_type: true } },
    ),
  ]),
  ...checked(booking, [
    onFake(
      'minimal create with look-up',
      { ...scheduler, oneSlot: true, patchOnly: true, emptyBodies: true, requiresServiceType: true },
      {
        booking: { mode: 'create', minimal_create: true, operation_lookup: true },
        slots: { require_service_type: true },
      },
    ),
  ]),
];

/** The fake server in booking modes with operations, and read-only. */
export const operationFakes: readonly Counterpart[] = [
  ...checked(booking, [
    onFake('`$book` of IHE', { ...scheduler, operations: 'ihe', operationsOnly: true }),
    onFake(
      '`$hold` and `$book` of IHE',
      { ...scheduler, operations: 'ihe' },
      { booking: { mode: 'operations', operations: 'ihe', hold: true, checked_update: true } },
    ),
  ]),
  ...checked(bodies, [
    onFake(
      '`$hold` and `$book` of Argonaut',
      { ...scheduler, operations: 'argonaut', patchOnly: true },
      { booking: { mode: 'operations', operations: 'argonaut', hold: true } },
    ),
    onFake(
      '`$book` of Epic',
      { ...scheduler, operations: 'epic' },
      { booking: { mode: 'operations', operations: 'epic' } },
    ),
  ]),
  ...checked(booking, [
    onFake(
      '`$book` of ISiK',
      { ...scheduler, operations: 'isik' },
      { booking: { mode: 'operations', operations: 'isik', operation_lookup: true } },
    ),
  ]),
  onFake(
    '`$hold`, `$confirm` and `$reschedule` of Medplum',
    { transactions: 'none', operations: 'medplum' },
    {
      booking: { mode: 'operations', operations: 'medplum', hold: true },
      healthcare_services: healthcareServices.map((it) => ({ ...it, reference: `HealthcareService/${it.id}` })),
    },
  ),
  ...checked(
    ['appointments-read', 'time-slots', 'appointment-changes', 'unclaimed'],
    [onFake('reading only', scheduler, { booking: { mode: 'none' } })],
  ),
];

/** The fake server with rules of its own, with few days and checks: what depends on its bodies and its header. */
export const portalFakes = checked(
  ['update', 'cancel', 'failed-reads', 'lost-answers', 'refusals', 'staff-in-between', 'unclaimed'],
  [onFake('rules of its own', { ...portalServer, data: { days: 9 } }, portalSettings, portalUnits)],
);

/** The fake server that cannot move an appointment, so that the new time is booked and the former one cancelled. */
export const rebookingFakes = checked(
  ['update', 'cancel', 'unclaimed'],
  [
    onFake(
      'checked create that rebooks',
      { ...scheduler, data: { days: 9 } },
      { booking: { mode: 'create', rebooks: true } },
    ),
    onFake(
      '`$book` of ISiK that rebooks',
      { ...scheduler, operations: 'isik', data: { days: 9 } },
      { booking: { mode: 'operations', operations: 'isik', rebooks: true } },
    ),
  ],
);

/** Every booking mode, with the fake server set up to support it. */
export const fakes: readonly Counterpart[] = [...slotFakes, ...otherSlotFakes, ...createFakes, ...operationFakes];

/** A FHIR server by another vendor, in the modes that `auto` chooses. */
export const medplums: readonly Counterpart[] = [
  onMedplum('with transactions', true),
  ...checked(claims, [onMedplum('without transactions', false)]),
];
