import type { Connector } from '@crossward/connector-kit';
import { expect, test } from 'vitest';
import { patients } from '../fake/data-set.ts';
import type { FakeProducer } from '../fake/server.ts';
import { careUnit, idOf } from './subject.ts';
import { creationOf, withFake } from './with-fake.ts';

const special = { subject: patients.first, id: 'uppfoljning', name: 'Uppföljning' };

/** A producer that offers one more service to one patient, and has a time for it. */
async function opened() {
  const { fake, connector, change } = await withFake();
  fake.behaviour.ofOnePatient = special;
  const [slot] = fake.calendar.slots;
  if (!slot) throw new Error('No slot');
  fake.calendar.slots[0] = { ...slot, timeTypes: [special] };
  return { fake, connector, change };
}

async function servicesIn(connector: Connector, wanted: readonly string[], patient?: string) {
  const found = await connector.listHealthcareServices?.(careUnit, wanted, patient && idOf(patient));
  return found?.map(({ id }) => id);
}

function slotsIn(connector: Connector, patient: string | undefined, healthcareServiceIds?: readonly string[]) {
  const [start, end] = [new Date(), new Date(Date.now() + 10 * 86_400_000)];
  const patientId = patient && idOf(patient);
  const filter = healthcareServiceIds && { healthcareServiceIds };
  return connector.listTimeSlots?.({
    careUnit,
    start,
    end,
    limit: 500,
    ...filter,
    ...(patientId ? { patientId } : {}),
  });
}

const timeTypeRequests = ({ log }: FakeProducer) => log.filter(({ operation }) => operation === 'GetAllTimeTypes');

test('a service that is offered to some patients is found for them, and for nobody else', async () => {
  const { fake, connector } = await opened();
  expect(await servicesIn(connector, [special.id], patients.first)).toEqual(['besok', 'provtagning', special.id]);
  expect(await servicesIn(connector, [special.id], patients.second)).toEqual(['besok', 'provtagning']);
  expect(await servicesIn(connector, [special.id])).toEqual(['besok', 'provtagning']);
  const before = timeTypeRequests(fake).length;
  expect(await servicesIn(connector, ['besok'], patients.first)).toEqual(['besok', 'provtagning']);
  expect(timeTypeRequests(fake).length).toBe(before);
});

test('its times are offered to them, and can be booked', async () => {
  const { connector, change } = await opened();
  const [slot, ...others] = (await slotsIn(connector, patients.first, [special.id])) ?? [];
  expect(others).toEqual([]);
  expect(slot).toMatchObject({ healthcareServiceId: special.id });
  expect(await slotsIn(connector, patients.first)).toContainEqual(slot);
  expect(await slotsIn(connector, patients.second, [special.id])).toEqual([]);
  for (const patient of [patients.second, undefined]) {
    const services = (await slotsIn(connector, patient))?.map((it) => it.healthcareServiceId);
    expect(services).not.toContain(special.id);
  }
  if (!slot) throw new Error('No slot');
  expect(await change(creationOf(slot))).toMatchObject([{ healthcareServiceId: special.id }]);
});

test('the services that settings list are those of every patient', async () => {
  const units = { healthcare_services: [{ id: 'besok', name: 'Besök' }] };
  const { fake, connector } = await withFake({ units });
  fake.behaviour.ofOnePatient = special;
  expect(await servicesIn(connector, [special.id], patients.first)).toEqual(['besok']);
  expect(timeTypeRequests(fake)).toEqual([]);
});
