import type { EhrRegistry } from '../../ehr/registry.ts';
import { formatInstant } from '../../time/date-times.ts';

const weekMilliseconds = 7 * 24 * 60 * 60 * 1000;

/** A request that books a free time in the demo. */
export interface DemoBooking {
  /** Begins with `/api`. */
  readonly path: string;
  readonly body: Readonly<Record<string, string>>;
}

/** A booking that succeeds now, a week ahead. `undefined`: these are not the EHRs of the demo, or every time is taken. */
export async function demoBooking(ehrs: EhrRegistry): Promise<DemoBooking | undefined> {
  const ehr = ehrs.get('sandbox-no');
  const careUnit = ehr?.careUnits.get('oslo-sentrum');
  if (!ehr || !careUnit) return undefined;
  const now = Date.now();
  const [slot] = await ehr.call('listTimeSlots', {
    careUnit,
    start: new Date(now + weekMilliseconds),
    end: new Date(now + 5 * weekMilliseconds),
    resourceIds: ['r-1'],
    healthcareServiceIds: ['consultation'],
    limit: 1,
  });
  if (!slot) return undefined;
  return {
    path: '/api/emrs/sandbox-no/care-units/oslo-sentrum/appointments',
    body: {
      patient_id: 'p-3',
      resource_id: slot.resourceId,
      healthcare_service_id: slot.healthcareServiceId,
      start_time: formatInstant(slot.start, careUnit.timeZone),
      end_time: formatInstant(slot.end, careUnit.timeZone),
    },
  };
}

/**
 * The booking as a command for a shell.
 *
 * @param address `http://host:port`
 * @param credentials values of the two headers. They may contain command substitutions
 */
export function curlOf(
  { path, body }: DemoBooking,
  address: string,
  credentials: { readonly id: string; readonly secret: string },
): string {
  return [
    `curl ${address}${path}`,
    `  -H "x-service-client-id: ${credentials.id}"`,
    `  -H "x-service-client-secret: ${credentials.secret}"`,
    "  -H 'content-type: application/json'",
    `  -d '${JSON.stringify(body, null, 2)}'`,
  ].join(' \\\n');
}
