import type { Period, Timetable } from '@crossward/connector-kit';
import { operationSystem } from '../booking/operation-ids.ts';
import type { Extension, FhirSchedule } from '../fhir.ts';
import { readInstant } from './instants.ts';

/**
 * What the connector keeps on a Schedule that it creates. FHIR has no elements for a recurrence or a slot length:
 * https://hl7.org/fhir/R4/schedule.html
 */
export interface OwnSchedule {
  readonly localStart: string;
  readonly localEnd: string;
  readonly slotMinutes: number;
  readonly recurrence: string | null;
  /** Operation id of the creation. */
  readonly createdBy: string;
  /** Whether it was found not to overlap another one. Before that, it has no Slots. */
  readonly isReady: boolean;
  /** The Slots that start before this instant exist, unless they had passed when they would have been created. */
  readonly slotsUntil: Date;
  readonly ends: readonly { readonly operationId: string; readonly at: Date }[];
  readonly exceptions: readonly (Period & { readonly operationId: string })[];
}

const scheduleUrl = 'urn:crossward:schedule';

/** `undefined`: a schedule of the EHR's own. */
export function ownScheduleOf(schedule: FhirSchedule): OwnSchedule | undefined {
  const parts = schedule.extension?.find(({ url }) => url === scheduleUrl)?.extension ?? [];
  const part = (name: string) => parts.find(({ url }) => url === name);
  const [start, end, minutes] = [
    part('start')?.valueString,
    part('end')?.valueString,
    part('slotMinutes')?.valueInteger,
  ];
  const [createdBy, until] = [part('createdBy')?.valueString, part('slotsUntil')?.valueInstant];
  const slotsUntil = readInstant(until);
  if (!start || !end || !minutes || !createdBy || !slotsUntil) return undefined;
  return {
    localStart: start,
    localEnd: end,
    slotMinutes: minutes,
    recurrence: part('recurrence')?.valueString ?? null,
    createdBy,
    isReady: part('ready')?.valueBoolean === true,
    slotsUntil,
    ends: nested(parts, 'ended').map(({ operationId, end: at }) => ({ operationId, at })),
    exceptions: nested(parts, 'exception'),
  };
}

function nested(parts: readonly Extension[], name: string) {
  return parts
    .filter(({ url }) => url === name)
    .map(({ extension = [] }) => {
      const instant = (of: string) => readInstant(extension.find(({ url }) => url === of)?.valueInstant) ?? new Date(0);
      const operationId = extension.find(({ url }) => url === 'operation')?.valueString ?? '';
      return { operationId, start: instant('start'), end: instant('end') };
    });
}

/** The schedule with what the connector keeps on it. Each write can be found by its operation id. */
export function withOwnSchedule(schedule: FhirSchedule, own: OwnSchedule): FhirSchedule {
  const parts: Extension[] = [
    { url: 'start', valueString: own.localStart },
    { url: 'end', valueString: own.localEnd },
    { url: 'slotMinutes', valueInteger: own.slotMinutes },
    ...(own.recurrence === null ? [] : [{ url: 'recurrence', valueString: own.recurrence }]),
    { url: 'createdBy', valueString: own.createdBy },
    { url: 'ready', valueBoolean: own.isReady },
    { url: 'slotsUntil', valueInstant: own.slotsUntil.toISOString() },
    ...own.ends.map(({ operationId, at }) => period('ended', operationId, { end: at })),
    ...own.exceptions.map(({ operationId, start, end }) => period('exception', operationId, { start, end })),
  ];
  const others = (schedule.extension ?? []).filter(({ url }) => url !== scheduleUrl);
  return {
    ...schedule,
    identifier: [
      ...(schedule.identifier ?? []).filter(({ system }) => system !== operationSystem),
      ...operationIdsOf(own).map((value) => ({ system: operationSystem, value })),
    ],
    extension: [...others, { url: scheduleUrl, extension: parts }],
  };
}

function period(url: string, operationId: string, times: Readonly<Record<string, Date>>): Extension {
  const instants = Object.entries(times).map(([name, at]) => ({ url: name, valueInstant: at.toISOString() }));
  return { url, extension: [{ url: 'operation', valueString: operationId }, ...instants] };
}

export function operationIdsOf({ createdBy, ends, exceptions }: OwnSchedule): string[] {
  return [createdBy, ...[...ends, ...exceptions].map(({ operationId }) => operationId)];
}

export function timetableOf(own: OwnSchedule): Timetable {
  const ends = own.ends.map(({ at }) => at.getTime());
  const exceptions = own.exceptions.map(({ start, end }) => ({ start, end }));
  return {
    localStart: own.localStart,
    localEnd: own.localEnd,
    slotMinutes: own.slotMinutes,
    recurrence: own.recurrence,
    endsAt: ends.length > 0 ? new Date(Math.min(...ends)) : null,
    exceptions: exceptions.toSorted(
      (a, b) => a.start.getTime() - b.start.getTime() || a.end.getTime() - b.end.getTime(),
    ),
  };
}
