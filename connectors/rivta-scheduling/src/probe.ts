import {
  type ConfiguredCareUnit,
  type ConnectorContext,
  ConnectorError,
  type ProbeFinding,
  type ProbeReport,
} from '@crossward/connector-kit';
import { bookingsOf } from './bookings.ts';
import { directoryOf } from './directory.ts';
import { type Producer, producerOf } from './producer.ts';
import type { RivtaSettings } from './settings.ts';
import { findFreeSlots } from './slots.ts';
import { resourceIdOf, serviceIdOf } from './timeslot.ts';

const week = 7 * 24 * 60 * 60 * 1000;

/** Asks the producer about each care unit, for the synthetic number only. Writes nothing. */
export async function probeProducer(context: ConnectorContext<RivtaSettings>): Promise<ProbeReport> {
  const findings: ProbeFinding[] = [];
  const [opened] = await Promise.allSettled([(async () => producerOf(context))()]);
  if (opened.status === 'rejected') {
    findings.push({ name: 'settings', status: 'problem', detail: messageOf(opened.reason) });
  } else if (opened.value.searchSubject === undefined) {
    const detail = 'No question can be asked without a number: set search_subject to a synthetic one.';
    findings.push({ name: 'questions', status: 'untried', detail });
  } else {
    for (const careUnit of context.careUnits) findings.push(...(await probeUnit(opened.value, careUnit)));
  }
  return { findings, recommendedSettings: {} };
}

async function probeUnit(producer: Producer, careUnit: ConfiguredCareUnit): Promise<ProbeFinding[]> {
  const subject = producer.searchSubject ?? '';
  const now = producer.now();
  const directory = directoryOf(producer);
  const of = (what: string) => `${what} of ${careUnit.id}`;
  const unit = { careUnit, subject, start: now, end: new Date(now.getTime() + week) };
  return [
    await finding(of('bookings'), async () => {
      await bookingsOf(producer, careUnit, subject);
      return 'GetSubjectOfCareSchedule answers.';
    }),
    await finding(of('resources and services'), async () => {
      const { resources, services } = await directory.of(careUnit);
      return `${resources.length} resources and ${services.length} services.`;
    }),
    ...(producer.has('GetAvailableTimeslots')
      ? [
          await finding(of('time slots'), async () => {
            const slots = await findFreeSlots(producer, unit);
            const { resources, services } = await directory.of(careUnit);
            const unlisted = slots.filter(
              (it) =>
                !resources.some(({ id }) => id === resourceIdOf(it)) ||
                !services.some(({ id }) => id === serviceIdOf(it)),
            );
            const listed = `${slots.length} free time slots in the next seven days`;
            return `${listed}, ${unlisted.length} of them of resources or services that are not listed.`;
          }),
        ]
      : []),
  ];
}

async function finding(name: string, ask: () => Promise<string>): Promise<ProbeFinding> {
  try {
    return { name, status: 'ok', detail: await ask() };
  } catch (error) {
    return { name, status: 'problem', detail: messageOf(error) };
  }
}

/** A connector's messages have no data of a patient. */
function messageOf(error: unknown): string {
  if (error instanceof ConnectorError) return `${error.message}.`;
  throw error;
}
