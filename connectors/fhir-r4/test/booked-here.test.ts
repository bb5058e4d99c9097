import type { Connector } from '@crossward/connector-kit';
import { describe, expect, test } from 'vitest';
import type { FakeOptions } from '../fake/server.ts';
import type { Store, Stored } from '../fake/store.ts';
import type { FhirSettings } from '../src/settings.ts';
import { creation, freeSlots, write } from './bookings.ts';
import { startFake } from './fake.ts';
import { north, openConnector, settingsFor } from './subject.ts';

interface Participation {
  readonly actor?: { readonly reference?: string };
}

const is = (type: string) => (it: Participation) => it.actor?.reference?.startsWith(`${type}/`) === true;

/** Changes the participants of this type. */
function participants(type: string, change: (it: Participation) => object | undefined) {
  return ({ participant }: Stored) => ({
    participant: (participant as readonly Participation[]).flatMap((it) => (is(type)(it) ? (change(it) ?? []) : [it])),
  });
}
const declined = (type: string) => participants(type, (it) => ({ ...it, status: 'declined' }));

/** What staff do to an appointment, or to what it names. */
const deeds: Readonly<Record<string, (store: Store, appointment: Stored) => void>> = {
  'decline for the patient and cancel': (store, it) =>
    void store.save({ ...it, ...declined('Patient')(it), status: 'cancelled' }),
  'decline for the patient': (store, it) => void store.save({ ...it, ...declined('Patient')(it) }),
  'decline for the practitioner': (store, it) => void store.save({ ...it, ...declined('Practitioner')(it) }),
  'decline for both': (store, it) => {
    const patient = { ...it, ...declined('Patient')(it) };
    store.save({ ...patient, ...declined('Practitioner')(patient) });
  },
  'cancel and remove the end': (store, { end: _, minutesDuration: _minutes, ...it }) =>
    void store.save({ ...it, status: 'cancelled' }),
  'delete the schedule': (store, it) => {
    for (const schedule of schedulesOf(store, it)) store.remove(schedule);
  },
  'delete the slots': (store, it) => {
    for (const slot of slotsOf(it)) store.remove(slot);
  },
  'delete the schedule and its slots': (store, it) => {
    for (const schedule of schedulesOf(store, it)) store.remove(schedule);
    for (const slot of slotsOf(it)) store.remove(slot);
  },
  'delete the practitioner': (store) => store.remove('Practitioner/r-1'),
  'delete the practitioner and the schedule': (store, it) => {
    for (const schedule of schedulesOf(store, it)) store.remove(schedule);
    store.remove('Practitioner/r-1');
  },
  'remove the practitioner': (store, it) =>
    void store.save({ ...it, ...participants('Practitioner', () => undefined)(it) }),
  'name the practitioner by the name alone': (store, it) =>
    void store.save({
      ...it,
      ...participants('Practitioner', (one) => ({ ...one, actor: { display: 'Dr Lind' } }))(it),
    }),
  'name the patient by the number alone': (store, it) => {
    const [identifier] = store.get('Patient/p-1').identifier as readonly object[];
    store.save({
      ...it,
      ...participants('Patient', (one) => ({ ...one, actor: { type: 'Patient', identifier } }))(it),
    });
  },
};

function slotsOf({ slot }: Stored): string[] {
  return ((slot ?? []) as readonly { reference: string }[]).map(({ reference }) => reference);
}

function schedulesOf(store: Store, appointment: Stored): string[] {
  return slotsOf(appointment).map((it) => (store.get(it).schedule as { reference: string }).reference);
}

const modes: readonly (readonly [string, FakeOptions, Partial<FhirSettings>])[] = [
  ['`transaction`', {}, {}],
  ['`slot_claim`', { transactions: 'none' }, {}],
  [
    '`create`',
    { transactions: 'none', plainWrites: false, checksAppointments: true },
    { booking: { mode: 'create', operation_lookup: true } },
  ],
];

describe.each(modes)('an appointment that was booked in %s', (_mode, options, more) => {
  test.each(Object.entries(deeds))('is shown and can be cancelled after staff %s', async (_deed, deed) => {
    const server = await startFake({ data: { days: 7 }, ...options });
    const settings = settingsFor(server.url, { ...more, patient_identifier_search: 'patient' });
    const connector = await openConnector(settings);
    const [slot] = await freeSlots(connector, 1);
    const [made] = await write(connector, [creation(slot)]);
    const id = made?.id ?? '';
    deed(server.store, server.store.get(`Appointment/${id}`));
    // The other one has not seen the schedule.
    const other = await openConnector(settings);
    const wanted = { id, start: slot.start, patientId: 'p-1' };
    for (const one of [connector, other]) {
      const found = await read(one, id);
      expect(found).toMatchObject(wanted);
      const listed = await one.listAppointments?.({ careUnit: north, patientId: 'p-1', limit: 10 });
      expect(listed).toEqual([found]);
    }
    for (const one of [other, connector]) {
      const [after] = await write(one, [{ kind: 'cancel', appointmentId: id }]);
      expect(after).toMatchObject({ ...wanted, state: 'cancelled' });
      expect(await read(one, id)).toMatchObject({ ...wanted, state: 'cancelled' });
    }
  });
});

async function read(connector: Connector, id: string) {
  return (await connector.findAppointments?.(north, [id]))?.[0];
}
