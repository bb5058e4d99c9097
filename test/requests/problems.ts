import { expect } from 'vitest';
import type { AppointmentResponse, AppointmentsResponse } from './codes.ts';

export function expectProblem(
  { status, body }: AppointmentResponse | AppointmentsResponse,
  expected: number,
  reason: string,
): void {
  expect({ status, reason: body.reason }).toEqual({ status: expected, reason });
}

/** Each expected error has the index in `ids`, the id (`undefined` if no appointment has it) and the reason. */
export function expectFaults(
  { status, body }: AppointmentsResponse,
  expected: { status: number; reason: string; errors: readonly (readonly [number, string | undefined, string])[] },
): void {
  expect({ status, reason: body.reason }).toEqual({ status: expected.status, reason: expected.reason });
  expect(body.errors.map(({ pointer, id, reason }) => [pointer, id, reason])).toEqual(
    expected.errors.map(([index, id, reason]) => [`/ids/${index}`, id, reason]),
  );
}
