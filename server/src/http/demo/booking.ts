import { randomUUID } from 'node:crypto';
import type { EhrRegistry } from '../../ehr/registry.ts';
import { formatInstant } from '../../time/date-times.ts';

const weekMilliseconds = 7 * 24 * 60 * 60 * 1000;

/** A request that books a free time in the demo. */
export interface DemoBooking {
  /** Begins with `/api`. */
  readonly path: string;
  readonly body: Readonly<Record<string, string>>;
  readonly idempotencyKey?: string;
}

interface Wanted {
  readonly emr: string;
  readonly careUnitId: string;
  readonly resourceId: string;
  readonly patientId: string;
}

const direct = { emr: 'sandbox-no', careUnitId: 'oslo-sentrum', resourceId: 'r-1', patientId: 'p-3' };
const withCode = { emr: 'sandbox-se', careUnitId: 'sodermalm', resourceId: 'r-1', patientId: 'p-3' };
const withLostAnswer = { ...direct, resourceId: 'r-2', patientId: 'p-lost' };

/** Bookings for a tour. `undefined`: these are not the EHRs of the demo, every time is taken, or the EHR does not answer. */
export interface DemoBookings {
  readonly direct: DemoBooking | undefined;
  /** The patient confirms it with a code. */
  readonly withCode: DemoBooking | undefined;
  /** Its first answer is lost. It has a key, to be sent again. */
  readonly withLostAnswer: DemoBooking | undefined;
}

export async function demoBookings(ehrs: EhrRegistry): Promise<DemoBookings> {
  const [first, second, third] = await Promise.all(
    [direct, withCode, withLostAnswer].map((wanted) => nextFree(ehrs, wanted).catch(() => undefined)),
  );
  return {
    direct: first,
    withCode: second,
    withLostAnswer: third && { ...third, idempotencyKey: randomUUID() },
  };
}

/** A booking that succeeds now, a week ahead. */
async function nextFree(ehrs: EhrRegistry, wanted: Wanted): Promise<DemoBooking | undefined> {
  const { emr, careUnitId, resourceId, patientId } = wanted;
  const ehr = ehrs.get(emr);
  const careUnit = ehr?.careUnits.get(careUnitId);
  if (!ehr || !careUnit) return undefined;
  const now = Date.now();
  const [slot] = await ehr.call('listTimeSlots', {
    careUnit,
    start: new Date(now + weekMilliseconds),
    end: new Date(now + 5 * weekMilliseconds),
    resourceIds: [resourceId],
    healthcareServiceIds: ['consultation'],
    limit: 1,
  });
  if (!slot) return undefined;
  return {
    path: `/api/emrs/${emr}/care-units/${careUnitId}/appointments`,
    body: {
      patient_id: patientId,
      resource_id: slot.resourceId,
      healthcare_service_id: slot.healthcareServiceId,
      start_time: formatInstant(slot.start, careUnit.timeZone),
      end_time: formatInstant(slot.end, careUnit.timeZone),
    },
  };
}

/** Where the demo is, and who calls it. */
export interface DemoCaller {
  /** `http://host:port` */
  readonly address: string;
  /** Values of the two headers. They may contain command substitutions. */
  readonly id: string;
  readonly secret: string;
}

/** The booking as a command for a shell. */
export function curlOf({ path, body, idempotencyKey }: DemoBooking, caller: DemoCaller): string {
  return [
    ...request(path, caller),
    ...(idempotencyKey === undefined ? [] : [`  -H 'idempotency-key: ${idempotencyKey}'`]),
    "  -H 'content-type: application/json'",
    `  -d '${JSON.stringify(body, null, 2)}'`,
  ].join(' \\\n');
}

/** A command that reads the events. */
export function curlOfEvents(caller: DemoCaller): string {
  return request('/api/events?limit=500', caller).join(' \\\n');
}

function request(path: string, { address, id, secret }: DemoCaller): string[] {
  return [
    `curl -sS -w '\\n' '${address}${path}'`,
    `  -H "x-service-client-id: ${id}"`,
    `  -H "x-service-client-secret: ${secret}"`,
  ];
}
