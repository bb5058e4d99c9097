import { Temporal } from 'temporal-polyfill';
import { type ClockChangeNight, clockChangeNights } from './clock-change-nights.ts';
import { identifier, profile } from './names.ts';
import { timeZone, ukText } from './uk-text.ts';

/** A practice with a main and a branch surgery. All people in it are synthetic, and nobody has their numbers. */
export interface Patient {
  readonly id: string;
  readonly nhsNumber: string;
  readonly family: string;
  readonly given: string;
  /** Sensitive, deceased or inactive: a search does not find the patient. */
  readonly isHidden?: true;
}

export const patients: readonly Patient[] = [
  { id: '1', nhsNumber: '9990000018', family: 'Meadow', given: 'Merry' },
  { id: '2', nhsNumber: '9990000026', family: 'Brook', given: 'Babbling' },
  { id: '3', nhsNumber: '9990000034', family: 'Marsh', given: 'Misty', isHidden: true },
];
/** A valid number that no patient has. */
export const unusedNhsNumber = '9990000042';

export interface Schedule {
  readonly id: string;
  readonly practitioner: string | undefined;
  readonly location: string;
  readonly category: string;
  readonly slotType: string;
  readonly channel: 'In-person' | 'Telephone' | 'Video';
}

export const schedules: readonly Schedule[] = [
  {
    id: '1',
    practitioner: '1',
    location: '1',
    category: 'General GP Appointments',
    slotType: 'General GP Appointment',
    channel: 'In-person',
  },
  {
    id: '2',
    practitioner: '2',
    location: '1',
    category: 'General GP Appointments',
    slotType: 'General GP Appointment',
    channel: 'Telephone',
  },
  {
    id: '3',
    practitioner: '3',
    location: '2',
    category: 'General GP Appointments',
    slotType: 'General GP Appointment',
    channel: 'In-person',
  },
  {
    id: '4',
    practitioner: undefined,
    location: '2',
    category: 'Nurse clinic',
    slotType: 'NHS Health Check',
    channel: 'In-person',
  },
];

/** A second one of the same practitioner at the same times, as one of the demonstrator's practitioners has. */
export const parallelSchedule: Schedule = {
  id: '5',
  practitioner: '1',
  location: '1',
  category: 'General GP Appointments',
  slotType: 'General GP Appointment',
  channel: 'In-person',
};

export interface Slot {
  readonly id: string;
  readonly schedule: Schedule;
  readonly start: number;
  readonly end: number;
  isFree: boolean;
}

/** When the slots of a day begin, in local time. */
const hours = [
  '09:00',
  '09:15',
  '09:30',
  '09:45',
  '10:00',
  '10:15',
  '10:30',
  '10:45',
  '14:00',
  '14:15',
  '14:30',
  '14:45',
];
const minutes = 15;

/** Slots from tomorrow on, of the nights of both clock changes, and one across midnight. */
export function makeSlots(
  days: number,
  offered: readonly Schedule[] = schedules,
): { readonly slots: Slot[]; readonly nights: readonly ClockChangeNight[] } {
  const slots: Slot[] = [];
  const add = (schedule: Schedule | undefined, start: number, length: number) => {
    if (schedule)
      slots.push({ id: String(slots.length + 1), schedule, start, end: start + length * 60_000, isFree: true });
  };
  const today = Temporal.Now.plainDateISO(timeZone);
  for (let day = 1; day <= days; day++) {
    for (const plainTime of hours) {
      const { epochMilliseconds } = today.add({ days: day }).toZonedDateTime({ timeZone, plainTime });
      for (const schedule of offered) add(schedule, epochMilliseconds, minutes);
    }
  }
  const nights = clockChangeNights();
  for (const { starts, minutes: length } of nights) {
    for (const start of starts) add(schedules[0], start, length);
  }
  return { slots, nights };
}

export function patientResource({ id, nhsNumber, family, given }: Patient): object {
  return {
    resourceType: 'Patient',
    id,
    meta: { versionId: '1521806400000', profile: [profile('CareConnect-GPC-Patient-1')] },
    // Some systems send it as it is printed on letters.
    identifier: [{ system: identifier('nhs-number'), value: id === '2' ? spaced(nhsNumber) : nhsNumber }],
    active: true,
    name: [{ use: 'official', text: `${given} ${family}`, family, given: [given], prefix: ['Ms'] }],
    telecom: [
      { system: 'phone', value: '01632 960001', use: 'home' },
      { system: 'phone', value: '07700 900001 (after six)', use: 'mobile' },
    ],
    gender: 'female',
    birthDate: '1984-02-17',
    address: [{ use: 'home', type: 'physical', line: ['1 Test Street'], city: 'Leeds', postalCode: 'LS1 6AE' }],
    managingOrganization: { reference: 'Organization/7' },
  };
}

function spaced(number: string): string {
  return number.replace(/^(...)(...)/, '$1 $2 ');
}

export function slotResource({ id, schedule, start, end }: Slot): object {
  return {
    resourceType: 'Slot',
    id,
    meta: { versionId: '1469444400000', profile: [profile('GPConnect-Slot-1')] },
    extension: [{ url: profile('Extension-GPConnect-DeliveryChannel-2'), valueCode: schedule.channel }],
    serviceType: [{ text: schedule.slotType }],
    schedule: { reference: `Schedule/${schedule.id}` },
    status: 'free',
    start: ukText(start),
    end: ukText(end),
  };
}

export function scheduleResource({ id, practitioner, location, category }: Schedule): object {
  const actors = [...(practitioner === undefined ? [] : [`Practitioner/${practitioner}`]), `Location/${location}`];
  return {
    resourceType: 'Schedule',
    id,
    meta: { versionId: '1469444400000', profile: [profile('GPConnect-Schedule-1')] },
    serviceCategory: { text: category },
    actor: actors.map((reference) => ({ reference })),
    planningHorizon: { start: '2016-03-22T10:00:00+00:00', end: '2040-12-22T17:59:59+00:00' },
  };
}

export function practitionerResource(id: string): object {
  return {
    resourceType: 'Practitioner',
    id,
    meta: { versionId: '1469444400000', profile: [profile('CareConnect-GPC-Practitioner-1')] },
    identifier: [{ system: identifier('sds-user-id'), value: `G1357913${id}` }],
    name: [{ use: 'usual', family: `Test${id}`, given: ['Practitioner'], prefix: ['Dr'] }],
    gender: 'female',
  };
}

export function locationResource(id: string): object {
  return {
    resourceType: 'Location',
    id,
    meta: { versionId: '1469444400000', profile: [profile('CareConnect-GPC-Location-1')] },
    name: id === '1' ? 'Main Surgery' : 'Branch Surgery',
    managingOrganization: { reference: 'Organization/7/_history/1469444400000' },
  };
}

export const organization = {
  resourceType: 'Organization',
  id: '7',
  meta: { versionId: '1469444400000', profile: [profile('CareConnect-GPC-Organization-1')] },
  identifier: [{ system: identifier('ods-organization-code'), value: 'A20047' }],
  name: 'Test Surgery',
};
