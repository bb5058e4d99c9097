import { appointmentsIn } from './booking/operation-answers.ts';
import type { FhirConnection } from './connection.ts';
import type { CareUnitDirectory } from './directory.ts';
import type { CodeableConcept, FhirAppointment, FhirSlot, Reference } from './fhir.ts';
import { appointmentTime } from './mappers/appointment.ts';
import { serviceTypeOf } from './mappers/healthcare-service.ts';
import type { SlotSearch } from './time-slots.ts';

const dayMilliseconds = 24 * 60 * 60 * 1000;
/** Medplum looks 31 days ahead at most, and answers no more proposals than it is asked for. */
const longestDays = 28;
const mostProposals = 1000;

interface Question {
  readonly schedule: string;
  /** `HealthcareService/1` */
  readonly service: string;
  readonly start: Date;
  readonly end: Date;
  /** `Appointment/1`, whose time counts as free. */
  readonly ignoring?: string | undefined;
}

/** The appointments of one schedule and service that Medplum proposes, a few perhaps twice: https://www.medplum.com/docs/scheduling/appointment-find */
export async function findProposals(
  { client }: Pick<FhirConnection, 'client'>,
  { schedule, service, start, end, ignoring }: Question,
): Promise<readonly FhirAppointment[]> {
  const found: FhirAppointment[] = [];
  let from = start.getTime();
  while (from < end.getTime()) {
    const until = Math.min(from + longestDays * dayMilliseconds, end.getTime());
    const body = await client.ask('Appointment/$find', [
      ['start', new Date(from).toISOString()],
      ['end', new Date(until).toISOString()],
      ['schedule', schedule],
      ['service-type-reference', service],
      ...(ignoring === undefined ? [] : [['ignore-appointment', ignoring] as const]),
      ['_count', String(mostProposals)],
    ]);
    const some = appointmentsIn(body);
    found.push(...some);
    const last = appointmentTime(some.at(-1) ?? { resourceType: 'Appointment' });
    // A full answer may have left out what comes after its last, also what begins before that ends.
    from = some.length >= mostProposals && last && last.start.getTime() > from ? last.start.getTime() : until;
  }
  return found;
}

/**
 * Proposals as if they were free Slots, since Medplum computes free times and keeps no Slot for them. Their ids say what
 * they were found for, and stand nowhere in the EHR.
 */
export async function findSlots(
  ehr: FhirConnection,
  directory: CareUnitDirectory,
  schedules: readonly string[],
  { start, before, services, freeing = [] }: SlotSearch,
): Promise<FhirSlot[]> {
  const wanted = directory.services.filter(({ id }) => services === undefined || services.includes(id));
  // What starts in the range may end after it.
  const end = new Date(before.getTime() + dayMilliseconds);
  const questions = schedules.flatMap((schedule) =>
    wanted.flatMap((service) => {
      const offered = directory.offerOf({ resourceType: 'Slot', schedule: { reference: schedule } })?.services ?? [];
      if (service.reference === undefined || !offered.includes(service)) return [];
      const question = { schedule, service: service.reference, start, end };
      const serviceType = serviceTypeOf(service);
      // Of two appointments only one can stand in the way of a time, so each is ignored by itself.
      return [undefined, ...freeing.map((id) => `Appointment/${id}`)].map((ignoring) => ({
        serviceType,
        question: { ...question, ignoring },
      }));
    }),
  );
  const found = await Promise.all(
    questions.map(async ({ question, serviceType }) =>
      (await findProposals(ehr, question)).flatMap((it) => slotOf(it, question.schedule, serviceType)),
    ),
  );
  const slots = new Map(found.flat().map((slot) => [slot.id, slot]));
  return [...slots.values()].filter(
    (slot) => new Date(slot.start ?? '') >= start && new Date(slot.start ?? '') < before,
  );
}

function slotOf(
  { start, end }: FhirAppointment,
  reference: string,
  serviceType: readonly CodeableConcept[],
): FhirSlot[] {
  if (start === undefined || end === undefined) return [];
  const schedule: Reference = { reference };
  const key = [reference, start, end, serviceType[0]?.text].join(' ');
  return [{ resourceType: 'Slot', id: key, schedule, status: 'free', serviceType, start, end }];
}
