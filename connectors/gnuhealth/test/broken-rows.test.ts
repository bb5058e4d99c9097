import type { Connector, LeftOutRecord } from '@crossward/connector-kit';
import { describe, expect, onTestFinished, test } from 'vitest';
import { institutions, people, professionals } from '../fake/data.ts';
import { startFake } from '../fake/server.ts';
import { gnuHealthConnector } from '../src/connector.ts';
import { bookAsAdmin, creation, freeSlots, read, write } from './bookings.ts';
import { ordinaryStarts } from './starts.ts';
import { contextFor, north, settingsFor } from './subject.ts';

type Row = Readonly<Record<string, unknown>>;
const model = 'gnuhealth.appointment';
const patientId = String(people.kari);
const canary = 'Kari-13116900216';

async function opened() {
  const fake = await startFake({ starts: ordinaryStarts(1) });
  onTestFinished(() => fake.close());
  const leftOut: LeftOutRecord[] = [];
  const context = { ...contextFor(settingsFor(fake.url)), leftOut: (record: LeftOutRecord) => leftOut.push(record) };
  return { fake, leftOut, connector: await gnuHealthConnector.open(context) };
}

const texts = [7, { text: canary }, [canary]];
const ids = [canary, 1.5, -1, 2 ** 40, [1]];
const times = [
  '2030-01-01T10:00:00',
  20300101,
  { __class__: 'datetime', year: 2030, month: 1, day: 1 },
  { __class__: 'datetime', year: 2030, month: 13, day: 1, hour: 0, minute: 0, second: 0, microsecond: 0 },
  { __class__: 'date', year: 2030, month: 1, day: 1 },
];

/** What a field may be that it must not be. */
const wrong: Readonly<Record<string, readonly unknown[]>> = {
  name: texts,
  state: texts,
  patient: ids,
  healthprof: ids,
  speciality: ids,
  institution: ids,
  appointment_date: times,
  appointment_date_end: times,
  appointment_type: texts,
  comments: texts,
  create_date: times,
  _timestamp: texts,
  id: [null, ...ids],
};
const brokenRows: readonly (readonly [string, (row: Row) => unknown])[] = [
  ['null', () => null],
  ['a text', () => canary],
  ['a list', (row) => [row]],
  ['nothing', () => ({})],
  ...Object.entries(wrong).flatMap(([field, values]) =>
    values.map((value) => [`${field} ${JSON.stringify(value)}`, (row: Row) => ({ ...row, [field]: value })] as const),
  ),
  ...Object.keys(wrong).map(
    (field) =>
      [`no ${field}`, (row: Row) => Object.fromEntries(Object.entries(row).filter(([it]) => it !== field))] as const,
  ),
];

describe('an appointment that cannot be read', () => {
  test('hides no other, wherever it is listed, and is counted', async () => {
    const { fake, connector, leftOut } = await opened();
    const slots = await freeSlots(connector, 8);
    const [first, second] = slots;
    const broken = await write(connector, creation(first));
    const good = await write(connector, creation(second));
    const free = slots.slice(2);
    const [freeRow] = [...fake.tables.of(model).values()].filter(
      ({ appointment_date, healthprof }) =>
        healthprof === 1 && appointment_date === (free[0]?.start.getTime() ?? 0) * 1000,
    );
    const { next } = (await connector.listAppointmentChanges?.({ careUnits: [north], limit: 50 })) ?? { next: '' };
    fake.as('desk', (it) => it.write(model, [Number(broken.id), Number(good.id)], { comments: 'changed' }));
    for (const [name, breakRow] of brokenRows) {
      leftOut.length = 0;
      const targets = [Number(broken.id), freeRow?.id];
      fake.spoil = (of, row) => (of === model && targets.includes(Number(row.id)) ? breakRow(row) : row);
      const listed = await connector.listAppointments?.({ careUnit: north, patientId, limit: 10 });
      expect(
        listed?.map(({ id }) => id),
        name,
      ).toEqual([good.id]);
      expect(leftOut, name).toMatchObject([{ type: model }]);
      expect(JSON.stringify(leftOut), name).not.toContain(canary);
      const found = await connector.findAppointments?.(north, [broken.id, good.id]);
      expect(
        found?.map(({ id }) => id),
        name,
      ).toEqual([good.id]);
      expect(
        (await freeSlots(connector, free.length - 1)).map(({ start }) => start),
        name,
      ).toEqual(free.slice(1).map(({ start }) => start));
      const { changes } =
        (await connector.listAppointmentChanges?.({ careUnits: [north], limit: 50, after: next })) ?? {};
      expect(
        changes?.map(({ appointment }) => appointment.id),
        name,
      ).toEqual([good.id]);
      await expect(write(connector, { kind: 'cancel', appointmentId: broken.id }), name).rejects.toMatchObject({
        kind: 'rejected',
      });
    }
  });

  test('takes its time as long as nobody knows whether it does', async () => {
    const { fake, connector } = await opened();
    const [slot] = await freeSlots(connector, 1);
    const id = bookAsAdmin(fake, slot?.start ?? new Date());
    fake.spoil = (of, row) => (of === model && row.id === id ? { ...row, appointment_date_end: 'soon' } : row);
    await expect(write(connector, creation(slot))).rejects.toMatchObject({ kind: 'rejected' });
  });
});

test('the other records that cannot be read hide none of their kind', async () => {
  const { fake, connector, leftOut } = await opened();
  const evaluation = { patient: people.kari, healthprof: 1, institution: 1, evaluation_start: 0, chief_complaint: 'x' };
  const file = { name: 'a.pdf', type: 'data', resource: `gnuhealth.patient,${people.kari}`, data: Buffer.from('x') };
  fake.as('desk', (it) => {
    it.create('gnuhealth.patient.evaluation', [evaluation, evaluation]);
    it.create('ir.attachment', [{ ...file }, { ...file }]);
  });
  const broken: Record<string, (row: Row) => unknown> = {
    'gnuhealth.patient.evaluation': (row) => ({ ...row, create_date: null }),
    'ir.attachment': (row) => ({ ...row, name: null }),
    'gnuhealth.healthprofessional': (row) => ({ ...row, 'party.': null }),
    'gnuhealth.hp_specialty': (row) => ({ ...row, 'specialty.': null }),
    'party.address': (row) => ({ ...row, city: 7 }),
  };
  fake.spoil = (of, row) => (row.id === 1 ? (broken[of]?.(row) ?? row) : row);
  const page = { careUnit: north, patientId, limit: 10 };
  expect((await connector.listMedicalNotes?.(page))?.map(({ id }) => id)).toEqual(['2']);
  expect((await connector.listDocuments?.(page))?.map(({ id }) => id)).toEqual(['2']);
  expect((await connector.listResources?.(north))?.map(({ id }) => id)).toEqual([String(professionals.bo)]);
  expect((await connector.listHealthcareServices?.(north))?.length).toBeGreaterThan(0);
  expect(await connector.findPatient?.({ type: 'emr_id', value: patientId })).toMatchObject({ address: null });
  expect([...new Set(leftOut.map(({ type }) => type))].sort()).toEqual(Object.keys(broken).sort());
  const calls = [
    () => connector.findMedicalNote?.(north, patientId, '1'),
    () => connector.findDocument?.(north, patientId, '1'),
  ];
  for (const call of calls) await expect(call()).rejects.toMatchObject({ kind: 'rejected' });
  fake.spoil = (of, row) => (of === 'gnuhealth.patient' ? { ...row, 'party.': null } : row);
  await expect(connector.findPatient?.({ type: 'emr_id', value: patientId })).rejects.toMatchObject({
    kind: 'rejected',
  });
});

describe('an appointment about which staff have entered little', () => {
  test('is shown, and can be cancelled', async () => {
    const { fake, connector } = await opened();
    const start = ordinaryStarts(1)[7] ?? new Date();
    const [id] = fake.as('desk', (it) =>
      it.create(model, [
        {
          state: 'confirmed',
          patient: people.kari,
          institution: institutions.north,
          appointment_date: start.getTime() * 1000,
          appointment_date_end: start.getTime() * 1000,
          comments: null,
        },
      ]),
    );
    const shown = {
      id: String(id),
      start,
      end: new Date(start.getTime() + 30 * 60_000),
      resourceId: null,
      healthcareServiceId: null,
    };
    expect(await read(connector, shown.id)).toMatchObject(shown);
    expect(await connector.listAppointments?.({ careUnit: north, patientId, limit: 10 })).toMatchObject([shown]);
    const update = { kind: 'update', appointmentId: shown.id } as const;
    expect(await write(connector, { ...update, comment: 'x' })).toMatchObject({ ...shown, comment: 'x' });
    const [slot] = await freeSlots(connector, 1);
    for (const resourceId of [undefined, String(professionals.ada)]) {
      await expect(write(connector, { ...update, time: slot, resourceId })).rejects.toMatchObject({
        kind: 'change_not_allowed',
      });
    }
    expect(await write(connector, { kind: 'cancel', appointmentId: shown.id })).toMatchObject({
      ...shown,
      state: 'cancelled',
    });
  });

  test('is shown with the name of a professional who is none of the care unit, and without an unknown speciality', async () => {
    const { fake, connector } = await opened();
    const [first, second] = await freeSlots(connector, 2);
    const ordinary = await write(connector, creation(first));
    expect(ordinary).toMatchObject({
      resourceId: String(professionals.ada),
      resourceName: expect.stringMatching(/Ada/),
    });
    const other = await write(connector, creation(second));
    const [speciality] = fake.as('desk', (it) =>
      it.create('gnuhealth.specialty', [{ name: 'Acupuncture', code: 'ACU' }]),
    );
    const { next } = (await connector.listAppointmentChanges?.({ careUnits: [north], limit: 50 })) ?? { next: '' };
    fake.as('desk', (it) => it.write(model, [Number(ordinary.id)], { speciality }));
    fake.as('desk', (it) => it.write(model, [Number(other.id)], { healthprof: professionals.cleo }));
    const shown = [
      { id: ordinary.id, resourceId: String(professionals.ada), healthcareServiceId: null },
      { id: other.id, resourceId: null, resourceName: expect.stringMatching(/Cleo/) },
    ];
    expect(await connector.listAppointments?.({ careUnit: north, patientId, limit: 10 })).toMatchObject(shown);
    expect(await connector.findAppointments?.(north, [ordinary.id, other.id])).toMatchObject(shown);
    const { changes } =
      (await connector.listAppointmentChanges?.({ careUnits: [north], limit: 50, after: next })) ?? {};
    expect(changes?.map(({ appointment }) => appointment)).toMatchObject(shown);
    for (const { id } of shown) {
      const time = (await freeSlots(connector, 1))[0];
      const update = { kind: 'update', appointmentId: id } as const;
      await expect(write(connector, { ...update, time })).rejects.toMatchObject({ kind: 'change_not_allowed' });
      expect(await write(connector, { kind: 'cancel', appointmentId: id })).toMatchObject({ state: 'cancelled' });
    }
  });

  test('is shown if it was imported past Tryton, and not changed: nothing tells whether staff have changed it', async () => {
    const { fake, connector } = await opened();
    const [first, second] = await freeSlots(connector, 2);
    const { id } = await write(connector, creation(first));
    const isSecond = (row: Row) => row.state === 'free' && row.id === Number(id) + 3;
    fake.spoil = (of, row) =>
      of === model && (row.id === Number(id) || isSecond(row)) ? { ...row, create_date: null, _timestamp: null } : row;
    expect(await read(connector, id)).toMatchObject({ state: 'booked' });
    await expect(write(connector, { kind: 'cancel', appointmentId: id })).rejects.toMatchObject({ kind: 'rejected' });
    expect((await freeSlots(connector, 1))[0]?.start).not.toEqual(second?.start);
    await expect(write(connector, creation(second))).rejects.toMatchObject({ kind: 'rejected' });
  });
});

test('times and dates are the same in every time zone of the machine', async () => {
  const zone = process.env.TZ;
  onTestFinished(() => {
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
  });
  const { fake, connector } = await opened();
  const [slot, to] = await freeSlots(connector, 2);
  const { id } = await write(connector, creation(slot));
  const facts = async (it: Connector) => ({
    appointment: await read(it, id),
    patient: await it.findPatient?.({ type: 'emr_id', value: patientId }),
    slots: await freeSlots(it, 3),
    row: fake.tables.of(model).get(Number(id))?.appointment_date,
  });
  const expected = await facts(connector);
  for (const other of ['Pacific/Kiritimati', 'America/St_Johns', 'Asia/Kathmandu']) {
    process.env.TZ = other;
    expect(new Date(0).getHours(), other).not.toBe(0);
    expect(await facts(connector), other).toEqual(expected);
    for (const time of [to, slot]) await write(connector, { kind: 'update', appointmentId: id, time });
    expect(await facts(connector), other).toEqual(expected);
  }
});
