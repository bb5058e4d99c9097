import { randomUUID } from 'node:crypto';
import type { AppointmentChange, Connector, TimeSlot } from '@crossward/connector-kit';
import { onTestFinished } from 'vitest';
import { patients } from '../fake/data-set.ts';
import { type FakeProducer, startFake } from '../fake/server.ts';
import { careUnit, idOf, type Opened, openConnector } from './subject.ts';

export const details = {
  givenName: 'Tolvan',
  familyName: 'Tolvansson',
  phone: '+46701740605',
  email: 'tolvan@example.org',
};

/** The connector over a fake producer of its own, with the shortest ways to use it. */
export interface WithFake {
  readonly fake: FakeProducer;
  readonly connector: Connector;
  freeSlots(): Promise<readonly TimeSlot[]>;
  change(change: AppointmentChange): ReturnType<NonNullable<Connector['changeAppointments']>>;
  book(slot?: TimeSlot): Promise<{ readonly id: string; readonly start: Date }>;
}

export async function withFake(options: Opened & { readonly fake?: object } = {}): Promise<WithFake> {
  const fake = await startFake({ days: 3, ...options.fake });
  onTestFinished(fake.close);
  const connector = await openConnector(fake, options);
  const freeSlots: WithFake['freeSlots'] = async () => {
    const now = Date.now();
    const query = { careUnit, start: new Date(now), end: new Date(now + 10 * 86_400_000), limit: 500 };
    const services = { healthcareServiceIds: ['besok'], patientId: idOf(patients.first) };
    return (await connector.listTimeSlots?.({ ...query, ...services })) ?? [];
  };
  const change: WithFake['change'] = async (what) => {
    const write = { operationId: randomUUID(), careUnit, isFirst: true, changes: [what] };
    return (await connector.changeAppointments?.(write)) ?? [];
  };
  return {
    fake,
    connector,
    freeSlots,
    change,
    async book(slot) {
      const chosen = slot ?? (await freeSlots())[0];
      if (!chosen) throw new Error('No free slot');
      const [made] = await change(creationOf(chosen));
      if (!made) throw new Error('Not booked');
      return made;
    },
  };
}

export function creationOf(slot: TimeSlot, comment: string | null = null): AppointmentChange {
  const patientId = idOf(patients.first);
  return { kind: 'create', ...slot, patientId, patientDetails: details, comment, holdUntil: null };
}
