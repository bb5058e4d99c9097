import { type PlannedWrite, plannedWrite, type WriteKind } from '../../writes/write-kind.ts';
import { bodiesOf } from '../representation.ts';
import type { Results } from '../write/changes.ts';
import { appointmentKind } from '../write/kind.ts';
import type { AppointmentPlan } from '../write/plan.ts';
import { type ClientIdentifier, keepIdentifiers } from './store.ts';

/** A booking that the client has given identifiers. */
export interface IdentifiedPlan extends AppointmentPlan {
  readonly identifiers: readonly ClientIdentifier[];
}

/** Keeps the identifiers in the transaction that ends the booking, whoever ends it. */
export const identifiedKind: WriteKind<IdentifiedPlan, Results> = {
  ...appointmentKind,
  hasRecords: () => true,
  async record(tx, work, plan, results) {
    const response = await appointmentKind.record(tx, work, plan, results);
    for (const { id } of bodiesOf(response)) await keepIdentifiers(tx, work, id, plan.identifiers);
    return response;
  },
};

/** A planned booking, with the identifiers that it keeps. */
export function identified({ plan, decide }: PlannedWrite, identifiers: readonly ClientIdentifier[]): PlannedWrite {
  return plannedWrite(identifiedKind, { ...(plan as AppointmentPlan), identifiers }, decide);
}
