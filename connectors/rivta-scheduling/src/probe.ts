import type { ConnectorContext, ProbeReport } from '@crossward/connector-kit';
import { type ProbeSteps, probeSteps } from '@crossward/connector-kit/rest';
import { bookingsOf } from './bookings.ts';
import { type At, openEhr } from './ehr.ts';
import type { RivtaSettings } from './settings.ts';
import { findFreeSlots } from './slots.ts';
import { type FreeSlot, resourceIdOf, serviceIdOf } from './timeslot.ts';

const week = 7 * 24 * 60 * 60 * 1000;

/** Asks the producer about each care unit, for the synthetic number only. Writes nothing. */
export async function probeProducer(context: ConnectorContext<RivtaSettings>): Promise<ProbeReport> {
  const { findings, step } = probeSteps();
  await step('settings', async () => {
    const ehr = openEhr(context);
    for (const careUnit of context.careUnits) await probeUnit(ehr.at(careUnit), step);
    if (ehr.settings.search_subject !== undefined) return;
    const detail = 'No question can be asked without a number: set search_subject to a synthetic one.';
    await step('questions', async (report) => report('untried', detail));
  });
  return { findings, recommendedSettings: {} };
}

async function probeUnit(at: At, step: ProbeSteps['step']): Promise<void> {
  const { search_subject: subject } = at.settings;
  if (subject === undefined) return;
  const start = at.now();
  const finding = (what: string, ask: () => Promise<string>) =>
    step(`${what} of ${at.careUnit.id}`, async (report) => report('ok', await ask()));
  await finding('bookings', async () => {
    await bookingsOf(at, subject);
    return 'GetSubjectOfCareSchedule answers.';
  });
  await finding('resources and services', async () => {
    const { resources, services } = await at.lists.get();
    return `${resources.length} resources and ${services.length} services.`;
  });
  if (!at.client.has('GetAvailableTimeslots')) return;
  await finding('time slots', async () => {
    const slots = await findFreeSlots(at, { subject, start, end: new Date(start.getTime() + week) });
    const { resources, services } = await at.lists.get();
    const isListed = (it: FreeSlot) =>
      resources.some(({ id }) => id === resourceIdOf(it)) && services.some(({ id }) => id === serviceIdOf(it));
    const unlisted = slots.filter((it) => !isListed(it));
    const listed = `${slots.length} free time slots in the next seven days`;
    return `${listed}, ${unlisted.length} of them of resources or services that are not listed.`;
  });
}
