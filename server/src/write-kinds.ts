import { kindOfPlan } from './appointments/as-write.ts';
import { expiryKind } from './appointments/expiry/kind.ts';
import { appointmentKind } from './appointments/write/kind.ts';
import { documentKind } from './documents/kind.ts';
import { medicalNoteKind } from './medical-notes/kind.ts';
import { patientKind } from './patients/kind.ts';
import { scheduleCreationKind, scheduleEndKind, scheduleExceptionKind } from './schedules/kinds.ts';
import type { AnyKind } from './writes/write-kind.ts';

const kinds: readonly AnyKind[] = [
  { ...appointmentKind, ofPlan: kindOfPlan } as AnyKind,
  expiryKind,
  medicalNoteKind as AnyKind,
  documentKind as AnyKind,
  patientKind as AnyKind,
  scheduleCreationKind,
  scheduleEndKind,
  scheduleExceptionKind,
];

/** All kinds of writes, by name. */
export const writeKinds: ReadonlyMap<string, AnyKind> = new Map(kinds.map((kind) => [kind.name, kind]));
