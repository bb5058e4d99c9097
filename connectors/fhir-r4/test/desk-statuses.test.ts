import { describe, expect, test } from 'vitest';
import type { FakeOptions } from '../fake/server.ts';
import type { FhirAppointment } from '../src/fhir.ts';
import { creation, freeSlots, write } from './bookings.ts';
import { startFake } from './fake.ts';
import { openConnector, settingsFor } from './subject.ts';

async function start(options: FakeOptions) {
  const server = await startFake({ data: { days: 14 }, ...options });
  const connector = await openConnector(settingsFor(server.url));
  const [slot, other] = await freeSlots(connector, 2);
  const [made] = await write(connector, [creation(slot)]);
  const reference = `Appointment/${made?.id}`;
  const appointmentId = made?.id ?? '';
  const inEhr = () => server.store.get(reference) as unknown as FhirAppointment;
  const atTheDesk = (status: string) => void server.store.save({ ...inEhr(), status } as FhirAppointment);
  return { server, connector, slot, other, appointmentId, inEhr, atTheDesk };
}

describe.each([
  ['transaction', {}],
  ['slot_claim', { transactions: 'none' }],
] as const)('in mode %s', (_, options) => {
  test.each(['arrived', 'checked-in', 'fulfilled'])(
    'a visit that is %s cannot be moved or cancelled',
    async (status) => {
      const { connector, other, appointmentId, inEhr, atTheDesk } = await start(options);
      atTheDesk(status);
      const before = inEhr();
      const rejection = { kind: 'appointment_started' };
      const time = { start: other.start, end: other.end };
      await expect(write(connector, [{ kind: 'update', appointmentId, time }])).rejects.toMatchObject(rejection);
      await expect(write(connector, [{ kind: 'cancel', appointmentId }])).rejects.toMatchObject(rejection);
      expect(inEhr()).toEqual(before);
      const [commented] = await write(connector, [{ kind: 'update', appointmentId, comment: 'new' }]);
      const attendance = status === 'fulfilled' ? 'completed' : 'arrived';
      expect(commented).toMatchObject({ state: 'booked', hasStarted: true, attendance, comment: 'new' });
    },
  );

  test.each(['pending', 'proposed', 'waitlist'])('an appointment set to %s can be cancelled', async (status) => {
    const { connector, slot, appointmentId, inEhr, atTheDesk } = await start(options);
    atTheDesk(status);
    const [cancelled] = await write(connector, [{ kind: 'cancel', appointmentId }]);
    expect(cancelled).toMatchObject({ id: appointmentId, state: 'cancelled' });
    expect(inEhr().status).toBe('cancelled');
    expect((await freeSlots(connector, 1))[0]).toEqual(slot);
  });
});
