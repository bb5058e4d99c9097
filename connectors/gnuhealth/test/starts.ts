import type { ClockChange } from '@crossward/connector-kit/conformance';
import { professionals, specialities } from '../fake/data.ts';

const minute = 60_000;
const day = 24 * 60 * minute;
const half = 30 * minute;

/** Eight half-hours from 08:00 UTC on each of these days, counted from the day after tomorrow. */
export function ordinaryStarts(days = 8): Date[] {
  const first = new Date(Date.now() + 2 * day);
  first.setUTCHours(8, 0, 0, 0);
  return Array.from({ length: days * 8 }, (_, index) => {
    return new Date(first.getTime() + Math.floor(index / 8) * day + (index % 8) * half);
  });
}

/** The nights of the next two clock changes of Europe, which are on the last Sunday of March and October at 01:00 UTC. */
export function clockChanges(): ClockChange[] {
  const year = new Date().getUTCFullYear() + 1;
  return [['spring', 3] as const, ['autumn', 10] as const].map(([name, month]) => {
    const at = new Date(Date.UTC(year, month, 0, 1));
    at.setUTCDate(at.getUTCDate() - at.getUTCDay());
    // From before midnight in Oslo.
    const slotStarts = Array.from({ length: 10 }, (_, index) => new Date(at.getTime() + (index - 7) * half));
    return {
      name,
      resourceId: String(professionals.ada),
      healthcareServiceId: String(specialities.family),
      start: new Date(at.getTime() - 7 * half),
      end: new Date(at.getTime() + 3 * half),
      at,
      slotStarts,
    };
  });
}
