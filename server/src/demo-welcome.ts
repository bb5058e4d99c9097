import type { TimeSlot } from '@crossward/connector-kit';
import { Temporal } from 'temporal-polyfill';
import type { EhrRegistry } from './ehr/registry.ts';

const weekMilliseconds = 7 * 24 * 60 * 60 * 1000;

interface Welcome {
  /** `http://host:port` */
  readonly address: string;
  readonly ehrs: EhrRegistry;
  /** The credentials are only in this file, since printed text may end up in a log. */
  readonly clientFile: string;
  /** How to sign in to the console. */
  readonly consoleSignIn: string;
}

/** A welcome text with a request that books a free time, ready to paste. */
export async function demoWelcome({ address, ehrs, clientFile, consoleSignIn }: Welcome): Promise<string> {
  const ehr = ehrs.get('sandbox-no');
  const careUnit = ehr?.careUnits.get('oslo-sentrum');
  if (!ehr || !careUnit) return '';
  const now = Date.now();
  const [slot] = await ehr.call('listTimeSlots', {
    careUnit,
    start: new Date(now + weekMilliseconds),
    end: new Date(now + 5 * weekMilliseconds),
    resourceIds: ['r-1'],
    healthcareServiceIds: ['consultation'],
    limit: 1,
  });
  const request = slot ? `Book an appointment:\n\n${curl(address, clientFile, slot, careUnit.timeZone)}\n\n` : '';
  return `
Crossward is running with three sandbox EHRs. All people in them are synthetic.

  API reference   ${address}/docs/
  Credentials     ${clientFile}
  Console         ${address}/console (${consoleSignIn})

${request}`;
}

function curl(address: string, clientFile: string, slot: TimeSlot, timeZone: string): string {
  const body = JSON.stringify({
    patient_id: 'p-3',
    resource_id: slot.resourceId,
    healthcare_service_id: slot.healthcareServiceId,
    start_time: local(slot.start, timeZone),
    end_time: local(slot.end, timeZone),
  });
  const credential = (name: string) => `$(node -p 'require("${clientFile}").${name}')`;
  return [
    `curl ${address}/api/emrs/sandbox-no/care-units/oslo-sentrum/appointments`,
    `  -H "x-service-client-id: ${credential('client_id')}"`,
    `  -H "x-service-client-secret: ${credential('client_secret')}"`,
    `  -H 'content-type: application/json'`,
    `  -d '${body}'`,
  ].join(' \\\n');
}

function local(date: Date, timeZone: string): string {
  return Temporal.Instant.fromEpochMilliseconds(date.getTime())
    .toZonedDateTimeISO(timeZone)
    .toPlainDateTime()
    .toString({ smallestUnit: 'second' });
}
