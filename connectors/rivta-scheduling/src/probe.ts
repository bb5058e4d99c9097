import type { ConfiguredCareUnit, ConnectorContext, ProbeReport } from '@crossward/connector-kit';
import { type ProbeSteps, probeSteps } from '@crossward/connector-kit/rest';
import { bookingsOf } from './bookings.ts';
import { directoryOf } from './directory.ts';
import { type Producer, producerOf } from './producer.ts';
import type { RivtaSettings } from './settings.ts';
import { findFreeSlots } from './slots.ts';
import { type FreeSlot, resourceIdOf, serviceIdOf } from './timeslot.ts';

const week = 7 * 24 * 60 * 60 * 1000;

/** Asks the producer about each care unit, for the synthetic number only. Writes nothing. */
export async function probeProducer(context: ConnectorContext<RivtaSettings>): Promise<ProbeReport> {
  const { findings, step } = probeSteps();
  await step('settings', async () => {
    const producer = producerOf(context);
    for (const careUnit of context.careUnits) await probeUnit(producer, careUnit, step);
    if (producer.searchSubject !== undefined) return;
    const detail = 'No question can be asked without a number: set search_subject to a synthetic one.';
    await step('questions', async (report) => report('untried', detail));
  });
  return { findings, recommendedSettings: {} };
}

async function probeUnit(producer: Producer, careUnit: ConfiguredCareUnit, step: ProbeSteps['step']): Promise<void> {
  const { searchSubject: subject } = producer;
  if (subject === undefined) return;
  const now = producer.now();
  const directory = directoryOf(producer);
  const finding = (what: string, ask: () => Promise<string>) =>
    step(`${what} of ${careUnit.id}`, async (report) => report('ok', await ask()));
  await finding('bookings', async () => {
    await bookingsOf(producer, careUnit, subject);
    return 'GetSubjectOfCareSchedule answers.';
  });
  await finding('resources and services', async () => {
    const { resources, services } = await directory.of(careUnit);
    return `${resources.length} resources and ${services.length} services.`;
  });
  if (!producer.has('GetAvailableTimeslots')) return;
  await finding('time slots', async () => {
    const slots = await findFreeSlots(producer, { careUnit, subject, start: now, end: new Date(now.getTime() + week) });
    const { resources, services } = await directory.of(careUnit);
    const isListed = (it: FreeSlot) =>
      resources.some(({ id }) => id === resourceIdOf(it)) && services.some(({ id }) => id === serviceIdOf(it));
    const unlisted = slots.filter((it) => !isListed(it));
    const listed = `${slots.length} free time slots in the next seven days`;
    return `${listed}, ${unlisted.length} of them of resources or services that are not listed.`;
  });
}
